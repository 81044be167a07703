"""Metadata of a file that is added: from the metadata.jsonl beside it, for the rest by rules."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import fields, replace
from datetime import date
from pathlib import Path
from typing import Any

from ingestion.metadata.quotes import document_text
from ingestion.metadata.rules import describe_by_rules, notes_on
from ingestion.types import LIST_FIELDS, FieldValue, FileProperties, SeedSource
from rag_engine.errors import InputError
from rag_engine.geography import Gazetteer, canonical_country
from rag_engine.storage.catalog import read_metadata
from rag_engine.text.languages import language_code
from rag_engine.types import ExtractedText, Metadata

NAME = "metadata.jsonl"

_FIELDS = {field.name for field in fields(Metadata)}
# Fields of which one that is given speaks for the others: a year that is given is not a found date's.
_TOGETHER = ({"geographical_level", "countries"}, {"date", "year"})


def read_descriptions(folder: Path) -> dict[str, dict[str, Any]]:
    """Return given metadata by file name, from the folder's metadata.jsonl; empty without one."""
    path = folder / NAME
    if not path.exists():
        return {}
    described: dict[str, dict[str, Any]] = {}
    # Not splitlines(): JSON may hold U+2028 and its like as they are.
    for number, line in enumerate(_read(path).split("\n"), start=1):
        if line.strip():
            values = _parse(path, number, line)
            described[values.pop("file")] = values
    return described


def describe(
    given: Mapping[str, Any],
    extracted: ExtractedText,
    language: str,
    gazetteer: Gazetteer,
    *,
    file: str = "",
    declared: FileProperties | None = None,
) -> Metadata:
    """Return the document's metadata: what was given, and the rest as rules describe a source of the list.

    `file` is its name, `declared` its properties.
    """
    given = {field: value for field, value in given.items() if value not in ("", None)}
    values = {"title": extracted.title, "language": language} | given
    found = _by_rules(values["title"], extracted, values["language"], gazetteer, file, declared or FileProperties())
    for together in _TOGETHER:
        if together & given.keys():
            found = {field: value for field, value in found.items() if field not in together}
    metadata = read_metadata(found | values)
    countries = tuple(canonical_country(name, gazetteer) or name for name in metadata.countries)
    year = metadata.year or (int(metadata.date[:4]) if metadata.date[:4].isdigit() else None)
    return replace(metadata, countries=countries, year=year)


def _by_rules(
    title: str, extracted: ExtractedText, language: str, gazetteer: Gazetteer, file: str, declared: FileProperties
) -> dict[str, Any]:
    titles = [FieldValue("title", title, "rule", "", None, 1.0)] if title else []
    text, source = document_text(extracted, language), SeedSource(code=file, path=file)
    found = describe_by_rules(source, text, declared, titles, gazetteer, today=date.today())
    values: dict[str, Any] = {"notes": " ".join(("Metadata extracted automatically.", *notes_on(found)))}
    for one in found:
        if one.field in LIST_FIELDS:
            values.setdefault(one.field, []).append(one.value)
        else:
            values.setdefault(one.field, one.value)
    return values


def _read(path: Path) -> str:
    """Return the file's text; editors on Windows put a byte order mark before it."""
    try:
        return path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise InputError(f"{path}, line {line} is not UTF-8.", help="Save the file in the encoding UTF-8.") from error


def _parse(path: Path, number: int, line: str) -> dict[str, Any]:
    place = f"{path}, line {number}"
    try:
        values = json.loads(line)
    except json.JSONDecodeError as error:
        raise InputError(f"{place} is not JSON: {error.msg}.", help="Write one JSON object a line.") from error
    if not isinstance(values, dict) or not isinstance(values.get("file"), str):
        raise InputError(f"{place} does not name its file.", help='Add "file": "NAME" to the object.')
    unknown = sorted(set(values) - _FIELDS - {"file"})
    if unknown:
        raise InputError(
            f"{place} has unknown keys {', '.join(unknown)}.", help=f"Keys are {', '.join(sorted(_FIELDS))}."
        )
    for name, value in values.items():
        if not _fits(name, value):
            raise InputError(
                f"{place}: {name} is {value!r}.",
                help='Lists are written ["..", ".."], years as numbers, all else as text.',
            )
    if values.get("language"):
        values["language"] = _language(place, values["language"])
    return values


def _fits(name: str, value: object) -> bool:
    """Return whether a field may have this value."""
    if name in LIST_FIELDS:
        return isinstance(value, list) and all(isinstance(element, str) for element in value)
    if name == "year":
        # True and False are integers to Python.
        return value is None or (isinstance(value, int) and not isinstance(value, bool))
    return isinstance(value, str)


def _language(place: str, given: str) -> str:
    """Return the ISO 639-1 code of a language given by a code, a locale or a name; InputError for another word."""
    if found := language_code(given):
        return found
    raise InputError(f"{place}: language is {given!r}.", help="Write its two letters from ISO 639-1, such as en or pt.")
