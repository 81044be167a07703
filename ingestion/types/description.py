"""A description of a source: its fields, and the values found for them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from typing import Literal, get_args

from rag_engine.errors import InputError
from rag_engine.messages import Message

FieldName = Literal[
    "title", "authority", "document_type", "hazards", "target", "key_criteria", "tags", "description", "language",
    "date", "geographical_level", "countries", "notes", "licence", "source_url",
]  # fmt: skip
ALL_FIELDS: tuple[FieldName, ...] = get_args(FieldName)
# Licence and address are stated by a person, but of sources of the list: those have the list's.
FIELDS, STATED_FIELDS = ALL_FIELDS[:-2], ALL_FIELDS[-2:]
LIST_FIELDS: frozenset[FieldName] = frozenset({"hazards", "key_criteria", "tags", "countries"})


@dataclass(frozen=True, slots=True)
class FieldValue:
    """One value of a field: its origin, the sentence that justifies it, and how sure it is (0..1).

    A list field has one FieldValue for each of its elements. `page` is where the sentence is, None if nowhere.
    """

    field: FieldName
    value: str
    source: Literal["model", "rule", "person", "list"]
    sentence: str = ""
    page: int | None = None
    confidence: float = 0.0


def surest(values: Iterable[FieldValue]) -> list[FieldValue]:
    """Return the surest of the values that are alike but for case, each in the place of the first.

    >>> values = [FieldValue("tags", "Dam", "rule", confidence=0.4), FieldValue("tags", "DAM", "rule", confidence=0.9)]
    >>> [value.value for value in surest(values)]
    ['DAM']
    """
    best: dict[str, FieldValue] = {}
    for value in values:
        known = best.setdefault(value.value.casefold(), value)
        if value.confidence > known.confidence:
            best[value.value.casefold()] = value
    return list(best.values())


@dataclass(frozen=True, slots=True)
class Description:
    """A source described in the controlled taxonomy; `warnings` name the gaps of the model's answer.

    `year` is one that was given without a date.
    """

    values: tuple[FieldValue, ...]
    warnings: tuple[Message, ...] = ()
    year: int | None = None


def is_iso_date(text: str) -> bool:
    """Return whether a text is a year, a month or a day of the calendar: 2020, 2020-12 or 2020-12-31.

    >>> is_iso_date("2020-12"), is_iso_date("2020-02-30")
    (True, False)
    """
    if re.fullmatch(r"\d{4}(-\d\d){0,2}", text) is None:
        return False
    try:
        return 1500 <= date.fromisoformat(text + "-01-01"[: 10 - len(text)]).year <= 2200
    except ValueError:
        return False


def check_field(name: str) -> FieldName:
    """Return the field of this name; InputError if there is none.

    >>> check_field(" Document Type")
    'document_type'
    """
    found = next((field for field in ALL_FIELDS if field == name.strip().lower().replace(" ", "_")), None)
    if found is None:
        raise InputError(
            "There is no field {name!r}.", help="Fields are {fields}.", name=name, fields=", ".join(ALL_FIELDS)
        )
    return found
