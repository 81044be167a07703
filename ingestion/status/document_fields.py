"""Fields of a described document: what is shown, what is missing or unsure, and what a person changed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import date

from ingestion.records.source_record import Correction, SourceRecord
from ingestion.status.source_status import is_document
from ingestion.types import FIELDS, LIST_FIELDS, FieldName, FieldValue
from rag_engine.errors import InputError


def documents(source_records: Iterable[SourceRecord]) -> list[SourceRecord]:
    """Return the sources that became documents and are described."""
    return [one for one in source_records if is_document(one) and (one.description is not None or one.corrections)]


def shown_values(record: SourceRecord) -> dict[FieldName, tuple[str, ...]]:
    """Return what a document has in each field, as the index takes it."""
    shown = {field: getattr(record.metadata, field) for field in FIELDS}
    return {field: value if isinstance(value, tuple) else (value,) if value else () for field, value in shown.items()}


def field_values(record: SourceRecord, field: FieldName) -> list[FieldValue]:
    """Return the values of a field with where each comes from, the surest first."""
    return sorted((one for one in record.values if one.field == field), key=lambda one: -one.confidence)


def missing_fields(record: SourceRecord) -> list[FieldName]:
    """Return the fields that are empty; remarks need none."""
    filled = {value.field for value in record.values if value.value}
    corrected = {one.field for one in record.corrections}
    return [field for field in FIELDS if field not in filled | corrected | {"notes"}]


def unsure_fields(record: SourceRecord, below: float) -> list[FieldName]:
    """Return the fields with a value below this confidence; a person's value never is."""
    return [
        field
        for field in FIELDS
        if any(one.confidence < below and one.source != "person" for one in field_values(record, field))
    ]


def changed_fields(
    record: SourceRecord,
    after: Mapping[FieldName, Sequence[str]],
    author: str,
    vocabulary: Mapping[FieldName, Sequence[str]],
    note: str = "",
) -> list[Correction]:
    """Return what a person changed of a document's fields; InputError for a value that the field cannot have."""
    before = shown_values(record)
    changed: list[Correction] = []
    for field, values in after.items():
        said_now = tuple(dict.fromkeys(value.strip() for value in values if value.strip()))
        if set(said_now) != set(before[field]):
            _check(record.source.code, field, said_now, vocabulary.get(field, ()))
            changed.append(Correction(record.source.code, field, said_now, author, note))
    return changed


def _check(code: str, field: FieldName, values: Sequence[str], allowed: Sequence[str]) -> None:
    foreign = [value for value in values if allowed and value not in allowed]
    if foreign:
        raise InputError(
            f"{code}: {field} cannot be {', '.join(foreign)!r}.", help=f"Choose from {'; '.join(allowed[:40])}."
        )
    if len(values) > 1 and field not in LIST_FIELDS:
        raise InputError(f"{code}: {field} has one value only.", help="Keep one of them.")
    for value in values:
        if field == "date" and not _is_date(value):
            raise InputError(f"{code}: {value!r} is no date.", help="Write 2020-12-31, 2020-12 or 2020.")
        if field == "language" and not (len(value) == 2 and value.isascii() and value.islower()):
            raise InputError(f"{code}: {value!r} is no language.", help="Write its two letters, such as en or pt.")


def _is_date(text: str) -> bool:
    if re.fullmatch(r"\d{4}(-\d\d){0,2}", text) is None:
        return False
    try:
        return 1500 <= date.fromisoformat(text + "-01-01"[: 10 - len(text)]).year <= 2200
    except ValueError:
        return False
