"""The JSON schema of a structured answer: accepted schemas, and the one a model is given."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

import jsonschema

from rag_engine.config import DATA
from rag_engine.errors import InputError
from rag_engine.messages import Message
from rag_engine.text.file_kinds import check_file
from rag_engine.types.answer import NOT_STATED

AttributeKind = Literal["text", "whole number", "number", "yes/no", "list of texts"]
JsonSchema = dict[str, Any]

# The property of a record that names its source, and that of the whole that the model writes freely.
CITATION, NOTE = "citation", "note"
# The words of a model for a yes or no, besides that it is not stated.
YES, NO = "yes", "no"
# Records that fit into a reply.
_MOST_RECORDS = 12
_KINDS: Mapping[str, AttributeKind] = {
    "string": "text", "integer": "whole number", "number": "number", "boolean": "yes/no", "array": "list of texts",
}  # fmt: skip
_NAME = re.compile(r"\w[\w .-]{0,63}")
# Keywords of JSON Schema that one form cannot follow.
_UNSUPPORTED = (
    "allOf", "anyOf", "oneOf", "not", "if", "then", "else", "patternProperties", "propertyNames", "dependentSchemas",
    "dependentRequired", "unevaluatedProperties", "unevaluatedItems", "prefixItems", "contains", "$dynamicRef",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class SchemaAttribute:
    """A value that is asked for.

    `choices` is the closed list it is from, `constraints` the schema of its value.
    """

    name: str
    kind: AttributeKind
    title: str
    description: str
    choices: tuple[str, ...]
    required: bool
    constraints: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class AnswerSchema:
    """A form: its entities, and the list of records with their attributes.

    The citation is not listed among the attributes.
    """

    title: str
    description: str
    entities: tuple[SchemaAttribute, ...]
    list_name: str
    list_description: str
    most: int
    attributes: tuple[SchemaAttribute, ...]


def shipped_schemas() -> tuple[Path, ...]:
    """Return the files of the schemas that come with the program."""
    return tuple(sorted((DATA / "schemas").glob("*.json")))


def schema_titled(title: str, own: AnswerSchema | None) -> AnswerSchema:
    """Return the form of a title, from the program or a person's own.

    InputError if neither has it.
    """
    known = [read_schema(file) for file in shipped_schemas()]
    found = next((schema for schema in (*known, *([own] if own else [])) if schema.title == title), None)
    if found is None:
        raise InputError(
            "The answer format {name} is not there any more.",
            help="Choose it in the sidebar, then ask again.",
            name=title,
        )
    return found


def read_schema(file: Path) -> AnswerSchema:
    """Return the form of a file, or the program's own by its name.

    InputError names the place that cannot be used.

    >>> read_schema(Path("policy")).title
    'Policy measures'
    """
    if not file.exists():
        file = next((one for one in shipped_schemas() if one.stem == str(file)), file)
    check_file(file)
    try:
        text = file.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(
            "The schema {file} cannot be read: {error}.",
            help="Give a JSON file in UTF-8, or {schemas}, which come with the program.",
            file=file,
            error=error,
            schemas=" or ".join(one.stem for one in shipped_schemas()),
        ) from error
    return parse_schema(text, file.name)


# The page reads the forms that come with the program each time it is drawn.
@lru_cache(maxsize=32)
def parse_schema(text: str, name: str) -> AnswerSchema:
    """Return the form that a JSON schema describes; InputError names the place that cannot be used.

    The schema is an object with values and with one array of objects of values. A value is a text, a number, a yes or
    no, or a list of texts, nullable or from a closed list. The integer `citation` of an object is the number of a
    source.
    """
    try:
        schema = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(
            "The schema {name} is not JSON: {error}.", help="Check it with a JSON validator.", name=name, error=error
        ) from error
    if not isinstance(schema, dict):
        raise _unusable(
            name, "$", Message("is not an object"), Message('Begin with {"type": "object", "properties": ...}.')
        )
    _check(schema, name)
    return _SchemaReading(name, schema).form()


def asked_schema(schema: AnswerSchema, numbers: Collection[int], *, least: int = 0) -> JsonSchema:
    """Return the JSON schema that a model's reply is held to, with records that cite the given numbers.

    `least` is the number of records below which a reply is refused.

    Every property is required, so that a server that writes by a grammar leaves none out. A property that may be empty
    is nullable, and a yes or no may be neither.
    """
    record = {attribute.name: _asked(attribute) for attribute in schema.attributes}
    record[CITATION] = {"type": "integer", "enum": sorted(numbers)}
    records = {"type": "array", "items": _closed(record), "minItems": least, "maxItems": schema.most}
    before = {entity.name: _asked(entity) for entity in schema.entities if entity.name != NOTE}
    after = {entity.name: _asked(entity) for entity in schema.entities if entity.name == NOTE}
    return _closed(before | {schema.list_name: records} | after)


def _asked(attribute: SchemaAttribute) -> JsonSchema:
    nullable: list[str | None] = [] if attribute.required else [None]
    if attribute.kind == "yes/no":
        return {"type": "string", "enum": [YES, NO, NOT_STATED]}
    if attribute.kind == "list of texts":
        choices = {"enum": list(attribute.choices)} if attribute.choices else {}
        return {"type": "array", "items": {"type": "string", **choices}}
    if attribute.choices:
        return {"type": ["string", "null"] if nullable else "string", "enum": [*attribute.choices, *nullable]}
    plain = next(word for word, kind in _KINDS.items() if kind == attribute.kind)
    return {"type": [plain, "null"] if nullable else plain}


def _closed(properties: JsonSchema) -> JsonSchema:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _check(schema: JsonSchema, name: str) -> None:
    """Raise InputError where this is no JSON schema."""
    try:
        jsonschema.Draft202012Validator.check_schema(schema)
    except jsonschema.SchemaError as error:
        raise _unusable(
            name,
            error.json_path,
            Message("is no JSON schema: {error}", error=error.message[:200]),
            Message("Correct it there."),
        ) from error
    except RecursionError as error:
        raise _unusable(
            name, "$", Message("is nested too deeply"), Message("Use an object with one array of objects.")
        ) from error


@dataclass(frozen=True, slots=True)
class _SchemaReading:
    """A schema that is being read, with its file name for the errors."""

    name: str
    schema: JsonSchema

    def form(self) -> AnswerSchema:
        """Return the form."""
        whole, _ = self._resolved(self.schema, "$")
        entities: list[SchemaAttribute] = []
        lists: list[tuple[str, JsonSchema, JsonSchema, str]] = []
        for name, place, value, nullable in self._properties(whole, "$"):
            items, _ = self._resolved(value["items"], f"{place}.items") if _is_array(value) else ({}, False)
            if items.get("type") == "object":
                lists.append((name, value, items, f"{place}.items"))
            else:
                required = name in whole.get("required", ()) and not nullable
                entities.append(self._attribute(name, value, place, required=required))
        if len(lists) != 1:
            found = ", ".join(name for name, *_ in lists) or "none"
            raise self._error(
                "$.properties",
                Message("needs one array of objects for the records, and has {found}", found=found),
                Message("Keep or add one."),
            )
        list_name, listed, items, place = lists[0]
        most = min(int(listed.get("maxItems", _MOST_RECORDS)), _MOST_RECORDS)
        return AnswerSchema(
            title=str(whole.get("title", "")),
            description=str(whole.get("description", "")),
            entities=tuple(entities),
            list_name=list_name,
            list_description=str(listed.get("description", "")),
            most=max(most, 1),
            attributes=tuple(self._attributes(items, place)),
        )

    def _attributes(self, record: JsonSchema, at: str) -> list[SchemaAttribute]:
        """Return the attributes of a record, without its citation; without a required one, the first is."""
        attributes: list[SchemaAttribute] = []
        cited = False
        for name, place, value, nullable in self._properties(record, at):
            required = name in record.get("required", ()) and not nullable
            attribute = self._attribute(name, value, place, required=required)
            if name != CITATION:
                attributes.append(attribute)
            elif attribute.kind != "whole number":
                raise self._error(place, Message("is the number of a source"), Message('Make it {"type": "integer"}.'))
            cited = cited or name == CITATION
        if not cited:
            raise self._error(
                f"{at}.properties",
                Message("has no citation"),
                Message('Add "citation": {"type": "integer"}, the number of a source.'),
            )
        if not attributes:
            raise self._error(
                f"{at}.properties", Message("has nothing besides the citation"), Message("Add what is to be found.")
            )
        if not any(one.required for one in attributes):
            # The subject of a record: without it, the others say nothing.
            attributes[0] = replace(attributes[0], required=True)
        return attributes

    def _properties(self, schema: JsonSchema, at: str) -> list[tuple[str, str, JsonSchema, bool]]:
        """Return name, place, schema and whether it is nullable, of each property of an object."""
        if schema.get("type") != "object" or not isinstance(schema.get("properties"), dict):
            raise self._error(
                at, Message("is no object with properties"), Message('Give it "type": "object" and "properties".')
            )
        found = []
        for name, value in schema["properties"].items():
            place = f"{at}.properties.{name}"
            if not _NAME.fullmatch(name):
                raise self._error(
                    place, Message("has a name that is no word"), Message("Use letters, digits and _, at most 64.")
                )
            resolved, nullable = self._resolved(value, place)
            found.append((name, place, resolved, nullable))
        return found

    def _attribute(self, name: str, schema: JsonSchema, place: str, *, required: bool) -> SchemaAttribute:
        items, _ = self._resolved(schema["items"], f"{place}.items") if _is_array(schema) else (schema, False)
        choices = items.get("enum", [items["const"]] if "const" in items else [])
        choices = [choice for choice in choices if choice is not None]
        written = schema.get("type", "string" if choices else "")
        kind = _KINDS.get(written) if isinstance(written, str) else None
        if kind is None:
            raise self._error(
                place,
                Message("is of type {written!r}", written=written),
                Message("Use one of {kinds} (of texts).", kinds=", ".join(_KINDS)),
            )
        if kind == "list of texts" and items.get("type") != "string":
            raise self._error(f"{place}.items", Message("is no text"), Message('Make it {"type": "string"}.'))
        if not all(isinstance(choice, str) for choice in choices):
            raise self._error(place, Message("has a closed list of other values than texts"), Message("List texts."))
        return SchemaAttribute(
            name=name,
            kind=kind,
            title=str(schema.get("title", "")),
            description=str(schema.get("description", "")),
            choices=tuple(choices),
            required=required,
            constraints={**schema, "items": items} if kind == "list of texts" else schema,
        )

    def _resolved(self, schema: object, place: str) -> tuple[JsonSchema, bool]:
        """Return a schema with its references followed, and whether it also allows null."""
        nullable = False
        followed: set[str] = set()
        while isinstance(schema, dict):
            if "$ref" in schema:
                reference = schema["$ref"]
                if reference in followed:
                    raise self._error(
                        place,
                        Message("refers to itself ({reference})", reference=reference),
                        Message("Write it out, without recursion."),
                    )
                followed.add(reference)
                chosen: JsonSchema | None = self._target(reference, place)
            else:
                chosen = _alternative_to_null(schema)
                nullable = nullable or chosen is not None
            if chosen is None:
                break
            schema = {**chosen, **{k: v for k, v in schema.items() if k not in ("$ref", "anyOf", "oneOf")}}
        if not isinstance(schema, dict):
            raise self._error(place, Message("is true or false instead of a schema"), Message("Give it a type."))
        unsupported = [word for word in _UNSUPPORTED if word in schema]
        if unsupported:
            raise self._error(
                place, Message("uses {words}", words=", ".join(unsupported)), Message("Write one plain type.")
            )
        kinds = schema.get("type")
        if isinstance(kinds, list):
            nullable = nullable or "null" in kinds
            plain = [kind for kind in kinds if kind != "null"]
            schema = {**schema, "type": plain[0] if len(plain) == 1 else plain}
        return schema, nullable

    def _target(self, reference: str, place: str) -> JsonSchema:
        """Return the target of a reference inside the schema."""
        found: object = self.schema if reference.startswith("#") else None
        for step in reference[1:].split("/")[1:]:
            key = step.replace("~1", "/").replace("~0", "~")
            found = found.get(key) if isinstance(found, dict) else None
        if not isinstance(found, dict):
            raise self._error(
                place,
                Message("refers to {reference!r}, which is not in it", reference=reference),
                Message("Refer to #/$defs/NAME."),
            )
        return found

    def _error(self, place: str, fault: str, cure: str) -> InputError:
        return _unusable(self.name, place, fault, cure)


def _alternative_to_null(schema: JsonSchema) -> JsonSchema | None:
    """Return the one alternative to null of a schema that is written as two, else None."""
    for word in ("anyOf", "oneOf"):
        given = schema.get(word)
        if isinstance(given, list):
            others = [one for one in given if one != {"type": "null"}]
            if len(others) == 1 and len(given) == 2 and isinstance(others[0], dict):
                return others[0]
    return None


def _is_array(schema: JsonSchema) -> bool:
    return schema.get("type") == "array" and "items" in schema


def _unusable(name: str, place: str, fault: str, cure: str) -> InputError:
    return InputError(
        "The schema {name} cannot be used: {place} {fault}.",
        help=Message(cure),
        name=name,
        place=place,
        fault=fault,
    )
