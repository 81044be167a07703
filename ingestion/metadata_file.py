"""The file metadata.jsonl in a folder of documents: a person's values, checked line by line."""

from __future__ import annotations

import json
from dataclasses import fields
from pathlib import Path
from typing import Any

from ingestion.types.description import LIST_FIELDS
from rag_engine.errors import InputError
from rag_engine.messages import Message, join_messages
from rag_engine.text.file_kinds import why_no_file
from rag_engine.text.languages import language_code
from rag_engine.types.document import Metadata

NAME = "metadata.jsonl"

# Of as many documents as a folder may well have, read at once and by nobody who hears a cancel.
_MOST_BYTES = 50_000_000

# What is measured is not given.
_FIELDS = {field.name for field in fields(Metadata)} - {"quality_score"}


def read_descriptions(folder: Path) -> dict[str, dict[str, Any]]:
    """Return given metadata by file name, from the folder's metadata.jsonl; empty without one.

    The folder may come from anybody: InputError if the file is no regular file, leads out of the folder, or has no end.
    """
    path = folder / NAME
    if why := why_no_file(path, folder):
        raise InputError("{why}.", help="Replace it by a file, or remove it.", why=why)
    if not path.exists():
        return {}
    if path.stat().st_size > _MOST_BYTES:
        raise InputError(
            "{file} has more than {limit:,} bytes.",
            help="Put the documents into several folders, each with its own.",
            file=path,
            limit=_MOST_BYTES,
        )
    described: dict[str, dict[str, Any]] = {}
    # Not splitlines(): JSON may hold U+2028 and its like as they are.
    for number, line in enumerate(_read(path).split("\n"), start=1):
        if line.strip():
            values = _parse(path, number, line)
            described[values.pop("file")] = values
    return described


def _read(path: Path) -> str:
    """Return the file's text; editors on Windows put a byte order mark before it."""
    try:
        return path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise InputError(
            "{file}, line {line} is not UTF-8.", help="Save the file in the encoding UTF-8.", file=path, line=line
        ) from error


def _parse(path: Path, number: int, line: str) -> dict[str, Any]:
    place = join_messages([str(path), Message("line {which}", which=str(number))], ", ")
    try:
        values = json.loads(line)
    except (ValueError, RecursionError) as error:
        cause = error.msg if isinstance(error, json.JSONDecodeError) else error
        raise InputError(
            "{place} is not JSON: {error}.", help="Write one JSON object a line.", place=place, error=cause
        ) from error
    if not isinstance(values, dict) or not isinstance(values.get("file"), str):
        raise InputError("{place} does not name its file.", help='Add "file": "NAME" to the object.', place=place)
    unknown = sorted(set(values) - _FIELDS - {"file"})
    if unknown:
        raise InputError(
            "{place} has unknown keys {unknown}.",
            help="Keys are {fields}.",
            place=place,
            unknown=", ".join(unknown),
            fields=", ".join(sorted(_FIELDS)),
        )
    for name, value in values.items():
        if not _fits(name, value):
            raise InputError(
                "{place}: {name} is {value!r}.",
                help='Lists are written ["..", ".."], years as numbers, all else as text.',
                place=place,
                name=name,
                value=value,
            )
    if values.get("language"):
        values["language"] = _language(place, values["language"])
    return values


def _fits(name: str, value: object) -> bool:
    """Return whether a field may have this value."""
    if name in (*LIST_FIELDS, "identifiers"):
        return isinstance(value, list) and all(isinstance(element, str) for element in value)
    if name == "year":
        # True and False are integers to Python.
        return value is None or (isinstance(value, int) and not isinstance(value, bool))
    return isinstance(value, str)


def _language(place: str, given: str) -> str:
    """Return the ISO 639-1 code of a language given as code, locale or name; InputError for another word."""
    if found := language_code(given):
        return found
    raise InputError(
        "{place}: language is {given!r}.",
        help="Write its two letters from ISO 639-1, such as en or pt.",
        place=place,
        given=given,
    )
