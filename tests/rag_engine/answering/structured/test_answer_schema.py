"""Which JSON schemas an answer can follow, and what a model is asked for."""

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from rag_engine.answering.structured.answer_schema import (
    AnswerSchema,
    asked_schema,
    parse_schema,
    read_schema,
    shipped_schemas,
)
from rag_engine.errors import InputError

CITATION = {"citation": {"type": "integer"}}


def form(record: dict[str, Any], *, beside: dict[str, Any] | None = None, **more: Any) -> AnswerSchema:
    """Return the form of one list of records."""
    items = {"type": "object", "properties": {**record, **CITATION}}
    whole = {"type": "object", "properties": {**(beside or {}), "records": {"type": "array", "items": items}}, **more}
    return parse_schema(json.dumps(whole), "mine.json")


@pytest.mark.parametrize("file", shipped_schemas(), ids=lambda file: file.stem)
def test_the_shipped_schemas_can_be_used(file: Path) -> None:
    assert read_schema(file).attributes


def test_both_instances_are_shipped_with_their_attributes() -> None:
    policy, statutory = (read_schema(file) for file in shipped_schemas())
    assert [one.name for one in policy.attributes] == ["measure", "actor", "instrument", "target_year", "status"]
    assert [one.name for one in statutory.attributes] == ["law", "description", "bailable", "cognizable"]
    assert [one.name for one in statutory.entities] == ["victim", "culprit", "note"]


def test_a_model_is_asked_for_every_property_and_may_leave_the_optional_ones_empty() -> None:
    schema = form({"law": {"type": "string"}, "fine": {"type": "number"}, "bailable": {"type": "boolean"}})
    asked = asked_schema(schema, (2, 1))
    record = asked["properties"]["records"]["items"]
    assert record["required"] == ["law", "fine", "bailable", "citation"]
    reply = {"law": "Act", "fine": None, "bailable": "not stated", "citation": 2}
    jsonschema.validate({"records": [reply]}, asked)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"records": [reply | {"citation": 3}]}, asked)


def test_the_note_is_written_last_whatever_its_place() -> None:
    schema = form({"law": {"type": "string"}}, beside={"note": {"type": "string"}, "victim": {"type": "string"}})
    assert list(asked_schema(schema, [1])["properties"]) == ["victim", "records", "note"]


def test_a_required_text_may_not_be_null() -> None:
    items = {"type": "object", "properties": {"law": {"type": "string"}, **CITATION}, "required": ["law"]}
    whole = {"type": "object", "properties": {"records": {"type": "array", "items": items}}}
    asked = asked_schema(parse_schema(json.dumps(whole), "mine.json"), [1])
    assert asked["properties"]["records"]["items"]["properties"]["law"] == {"type": "string"}


def test_references_and_pydantics_way_of_null_are_followed() -> None:
    schema = form(
        {"law": {"type": "string"}, "level": {"anyOf": [{"$ref": "#/$defs/Level"}, {"type": "null"}]}},
        **{"$defs": {"Level": {"type": "string", "enum": ["national", "regional"]}}},
    )
    law, level = schema.attributes
    assert law.required
    assert (level.kind, level.choices, level.required) == ("text", ("national", "regional"), False)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "is not JSON"),
        ("[]", r"\$ is not an object"),
        ('{"type": "objekt"}', r"\$\.type is no JSON schema"),
        (
            '{"type": "object", "properties": {"a": {"type": "string", "minLength": -1}}}',
            r"\$\.properties\.a\.minLength",
        ),
        ('{"type": "object", "properties": {"a": {"type": "string", "pattern": "("}}}', r"\$\.properties\.a\.pattern"),
        ('{"type": "object"}', r"\$ is no object with properties"),
        ('{"type": "object", "properties": {"a": {"type": "string"}}}', "needs one array of objects .*, and has none"),
        (
            '{"type": "object", "properties": {"a": {"$ref": "other.json"}}}',
            r"\$\.properties\.a refers to 'other.json'",
        ),
        ('{"type": "object", "properties": {"a": {"type": "object"}}}', r"\$\.properties\.a is of type 'object'"),
        ('{"type": "object", "properties": {"a": true}}', r"\$\.properties\.a is true or false"),
        ('{"type": "object", "properties": {"a": {"allOf": []}}}', r"\$\.properties\.a\.allOf is no JSON schema"),
        ('{"type": "object", "properties": {"a": {"not": {}}}}', r"\$\.properties\.a uses not"),
        ('{"type": "object", "properties": {"": {"type": "string"}}}', "has a name that is no word"),
    ],
)
def test_what_cannot_be_used_is_refused_with_its_place(text: str, said: str) -> None:
    with pytest.raises(InputError, match=f"mine.json.*{said}"):
        parse_schema(text, "mine.json")


def test_records_without_a_citation_are_refused_with_the_line_to_add() -> None:
    items = {"type": "object", "properties": {"law": {"type": "string"}}}
    whole = {"type": "object", "properties": {"charges": {"type": "array", "items": items}}}
    with pytest.raises(
        InputError, match=r'\$\.properties\.charges\.items\.properties has no citation\. Add "citation"'
    ):
        parse_schema(json.dumps(whole), "mine.json")


@pytest.mark.parametrize(
    ("node", "said"),
    [
        ({"type": "array", "items": {"$ref": "#/$defs/node"}}, r"child\.items is no text"),
        ({"$ref": "#"}, r"child is of type 'object'"),
        ({"$ref": "#/$defs/loop"}, r"child refers to itself"),
    ],
)
def test_a_recursive_schema_is_refused_with_the_place_where_it_begins_again(node: dict[str, Any], said: str) -> None:
    defs = {
        "node": {"type": "object", "properties": {"child": node, **CITATION}},
        "loop": {"$ref": "#/$defs/loop"},
    }
    whole = {
        "type": "object",
        "$defs": defs,
        "properties": {"records": {"type": "array", "items": {"$ref": "#/$defs/node"}}},
    }
    with pytest.raises(InputError, match=rf"items\.properties\.{said}"):
        parse_schema(json.dumps(whole), "mine.json")


def test_a_schema_of_thousands_of_levels_is_refused() -> None:
    text = '{"properties": {"a": ' * 200 + "{}" + "}}" * 200
    with pytest.raises(InputError, match="nested too deeply"):
        parse_schema(text, "mine.json")


def test_references_that_multiply_at_every_step_take_no_time() -> None:
    defs: dict[str, Any] = {f"n{i}": {"allOf": [{"$ref": f"#/$defs/n{i + 1}"}] * 8} for i in range(14)}
    defs["n14"] = {"type": "string"}
    with pytest.raises(InputError, match="uses allOf"):
        form({"law": {"$ref": "#/$defs/n0"}}, **{"$defs": defs})


def test_a_file_that_is_not_there_is_named_with_those_that_are(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"form\.json cannot be read.*policy or statutory, which come with"):
        read_schema(tmp_path / "form.json")
