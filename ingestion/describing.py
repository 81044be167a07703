"""What is known of a file before it is read: the metadata.jsonl beside it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from rag_engine.catalog import read_metadata
from rag_engine.errors import InputError
from rag_engine.geography import Gazetteer, canonical_country
from rag_engine.types import ExtractedText, Metadata

NAME = "metadata.jsonl"

_FIELDS = {field.name for field in fields(Metadata)}
_LISTS = {"hazards", "countries", "key_criteria", "tags"}


def read_descriptions(folder: Path) -> dict[str, dict[str, Any]]:
    """Given metadata by file name, from the folder's metadata.jsonl; empty without one."""
    path = folder / NAME
    if not path.exists():
        return {}
    described: dict[str, dict[str, Any]] = {}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        if line.strip():
            values = _parse(path, number, line)
            described[values.pop("file")] = values
    return described


def describe(given: Mapping[str, Any], extracted: ExtractedText, language: str, gazetteer: Gazetteer) -> Metadata:
    """The document's metadata: what was given, with title and language from the text where they were not."""
    values = {"title": extracted.title, "language": language} | {k: v for k, v in given.items() if v not in ("", None)}
    metadata = read_metadata(values)
    countries = tuple(canonical_country(name, gazetteer) or name for name in metadata.countries)
    year = metadata.year or (int(metadata.date[:4]) if metadata.date[:4].isdigit() else None)
    return replace(metadata, countries=countries, year=year)


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
        wanted: type | tuple[type, ...] = list if name in _LISTS else (int, type(None)) if name == "year" else str
        if not isinstance(value, wanted):
            raise InputError(
                f"{place}: {name} is {value!r}.", help="Lists are written [..], years as numbers, all else as text."
            )
    return values
