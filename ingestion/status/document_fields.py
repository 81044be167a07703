"""Fields of a described document: shown, missing, unsure, and changed by a person."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from ingestion.licence.names import stated_licence
from ingestion.records.document_corrections import Correction
from ingestion.records.source_record import SourceRecord, field_texts
from ingestion.source_lists.urls import addresses_in
from ingestion.status.source_status import is_document
from ingestion.types.description import FIELDS, LIST_FIELDS, STATED_FIELDS, FieldName, FieldValue, is_iso_date
from rag_engine.errors import InputError


def documents(source_records: Iterable[SourceRecord]) -> list[SourceRecord]:
    """Return the sources that became documents and are described."""
    return [
        record
        for record in source_records
        if is_document(record) and (record.description is not None or record.corrections)
    ]


def shown_values(record: SourceRecord) -> dict[FieldName, tuple[str, ...]]:
    """Return the values of a document's fields, as the index takes them."""
    metadata = record.metadata
    return {field: field_texts(metadata, field) for field in record.fields}


def unchecked_fields(record: SourceRecord) -> list[FieldName]:
    """Return the fields with an extracted value and no confirmation; remarks need none."""
    said = {value.field for value in record.values if value.source in ("person", "list")}
    known = {"notes", *STATED_FIELDS, *said}
    return [field for field, values in shown_values(record).items() if values and field not in known]


def field_values(record: SourceRecord, field: FieldName) -> list[FieldValue]:
    """Return the values of a field with where each comes from, the surest first."""
    return sorted((value for value in record.values if value.field == field), key=lambda value: -value.confidence)


def missing_fields(record: SourceRecord) -> list[FieldName]:
    """Return the fields that are empty; remarks need none."""
    filled = {value.field for value in record.values if value.value}
    corrected = {correction.field for correction in record.corrections}
    return [field for field in FIELDS if field not in filled | corrected | {"notes"}]


def unsure_fields(record: SourceRecord, below: float) -> list[FieldName]:
    """Return the fields with a value below this confidence; a person's value never is."""
    return [
        field
        for field in FIELDS
        if any(value.confidence < below and value.source != "person" for value in field_values(record, field))
    ]


def changed_fields(
    record: SourceRecord,
    after: Mapping[FieldName, Sequence[str]],
    author: str,
    vocabulary: Mapping[FieldName, Sequence[str]],
    note: str = "",
) -> list[Correction]:
    """Return the fields of a document that a person changed; InputError for an impossible value."""
    before = shown_values(record)
    changed: list[Correction] = []
    for field, values in after.items():
        if field not in record.fields:
            raise InputError(
                "{code} is on the list of sources, which has its {field}.",
                help="Decide the licence on the Review tab of the Admin page or with `sextant review`, and correct the "
                "address on the Sources tab.",
                code=record.code,
                field=field,
            )
        said_now = tuple(dict.fromkeys(value.strip() for value in values if value.strip()))
        if field == "licence":
            said_now = tuple(map(stated_licence, said_now))
        if set(said_now) != set(before[field]):
            _check(_shown_name(record), field, said_now, vocabulary.get(field, ()))
            changed.append(Correction(record.code, field, said_now, author, note))
    return changed


def _shown_name(record: SourceRecord) -> str:
    """Return the code of a source, or the title of a file, whose code is where it came from."""
    path = Path(record.code)
    return record.code if path.name == record.code else record.metadata.title or path.name


def _check(code: str, field: FieldName, values: Sequence[str], allowed: Sequence[str]) -> None:
    foreign = [value for value in values if allowed and value not in allowed]
    if foreign:
        raise InputError(
            "{code}: {field} cannot be {values!r}.",
            help="Choose from {allowed}.",
            code=code,
            field=field,
            values=", ".join(foreign),
            allowed="; ".join(allowed[:40]),
        )
    if len(values) > 1 and field not in LIST_FIELDS:
        raise InputError("{code}: {field} has one value only.", help="Keep one of them.", code=code, field=field)
    for value in values:
        if field == "source_url" and not _is_address(value):
            raise InputError(
                "{code}: {field} is not one web address: {value!r}.",
                help="Give one address that begins with http:// or https://.",
                code=code,
                field=field,
                value=value,
            )
        if field == "date" and not is_iso_date(value):
            raise InputError(
                "{code}: {value!r} is not a date.", help="Write 2020-12-31, 2020-12 or 2020.", code=code, value=value
            )
        if field == "language" and not (len(value) == 2 and value.isascii() and value.islower()):
            raise InputError(
                "{code}: {value!r} is not a language code.",
                help="Write its two letters, such as en or pt.",
                code=code,
                value=value,
            )


def _is_address(text: str) -> bool:
    words = text.split()
    return len(words) == 1 and text.startswith(("http://", "https://")) and len(addresses_in(text).found) == 1
