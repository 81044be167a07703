"""Files of one JSON object a line, read line by line, with errors that name file, line and cure."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from rag_engine.errors import InputError


def read_lines(path: Path) -> Iterator[tuple[int, str]]:
    """The lines with something on them and their numbers, counted from 1."""
    try:
        # Only "\n" ends a line: JSON may hold U+2028 and its like as they are.
        with path.open(encoding="utf-8-sig", newline="\n") as file:
            for number, line in enumerate(file, start=1):
                if line.strip():
                    yield number, line.rstrip("\r\n")
    except FileNotFoundError:
        raise InputError(f"{path} is missing.", help="Name a folder that has it.") from None
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}.", help="Make it readable.") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not UTF-8: {error.reason}.", help="Save it in UTF-8.") from error


def read_objects(path: Path) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """The objects with the numbers of their lines; InputError for a line that is none."""
    for number, line in read_lines(path):
        try:
            values = json.loads(line)
        except ValueError as error:
            raise InputError(
                f"{path}, line {number}: not JSON ({error}).", help="Write one JSON object a line."
            ) from error
        if not isinstance(values, dict):
            raise InputError(f"{path}, line {number}: not a JSON object.", help='Write {"_id": ...}.')
        yield number, values


def text_field(path: Path, number: int, values: Mapping[str, Any], name: str, *, missing: str | None = None) -> str:
    """The text of a field; `missing` where it is absent or null, InputError where that is not given.

    Numbers are taken as ids are often written, as their digits.
    """
    value = values.get(name)
    if value is None:
        if missing is None:
            raise InputError(f"{path}, line {number}: no {name!r}.", help="Every line needs it.")
        return missing
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if not isinstance(value, str) or (missing is None and not value.strip()):
        raise InputError(f"{path}, line {number}: {name!r} is {value!r}, not a text.", help="Write it as a text.")
    return value
