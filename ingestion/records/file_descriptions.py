"""Descriptions of the files that were added by themselves, as given and extracted, before anybody corrected them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from ingestion.records.document_corrections import Correction, corrected
from ingestion.types import ALL_FIELDS, FIELDS, LIST_FIELDS, FieldName, FieldValue
from rag_engine.storage.records import bodies, body_of, delete_record, reading, write_record, writing
from rag_engine.types import DocumentRecord, Metadata

_KIND = "description"


@dataclass(frozen=True, slots=True)
class FileDescription:
    """A file's metadata, and its values with where each comes from; "person" is the source of one that was given."""

    metadata: Metadata
    found: tuple[FieldValue, ...]


_CODEC = TypeAdapter(FileDescription)


@dataclass(frozen=True, slots=True)
class DescribedFile:
    """A document that is not of the list, with what people corrected; has what a SourceRecord has of a description.

    `fields` are those that a person may correct: of a former version of a source, those of the source.
    """

    code: str
    described: FileDescription
    corrections: tuple[Correction, ...] = ()
    fields: tuple[FieldName, ...] = ALL_FIELDS

    @property
    def values(self) -> tuple[FieldValue, ...]:
        """The values with people's corrections in place of what they correct, in the order of the fields."""
        values = corrected(self.described.found, self.corrections)
        return tuple(sorted(values, key=lambda one: ALL_FIELDS.index(one.field)))

    @property
    def metadata(self) -> Metadata:
        """The metadata with people's corrections."""
        before = self.described.metadata
        given = {one.field: one.values for one in self.corrections}
        changed: dict[str, Any] = {
            field: values if field in LIST_FIELDS else next(iter(values), "") for field, values in given.items()
        }
        if "date" in changed:
            date = changed["date"]
            changed["year"] = int(date[:4]) if date[:4].isdecimal() else None
        return replace(before, **changed)


def all_descriptions(workspace: Path) -> Mapping[str, FileDescription]:
    """Return every description by where its file came from."""
    with reading(workspace) as connection:
        return {source: _CODEC.validate_json(body) for source, body in bodies(connection, _KIND).items()}


def find_descriptions(workspace: Path, records: Sequence[DocumentRecord]) -> list[FileDescription]:
    """Return the descriptions of documents; of one without, what the catalog has of it counts as extracted."""
    with reading(workspace) as connection:
        kept = [body_of(connection, _KIND, record.source) for record in records]
    return [
        _CODEC.validate_json(body) if body else as_extracted(record.metadata)
        for record, body in zip(records, kept, strict=True)
    ]


def put_description(workspace: Path, source: str, described: FileDescription) -> None:
    """Keep the description of a file in the place of the one before."""
    with writing(workspace) as connection:
        write_record(connection, _KIND, source, _CODEC.dump_json(described).decode())


def forget_description(workspace: Path, source: str) -> None:
    """Remove the description of a file that was erased."""
    with writing(workspace) as connection:
        delete_record(connection, _KIND, source)


def as_extracted(metadata: Metadata) -> FileDescription:
    """Return metadata of which only the values are known, as extracted ones."""
    found: list[FieldValue] = []
    for field in FIELDS:
        found += [FieldValue(field, value, "rule") for value in field_texts(metadata, field)]
    return FileDescription(metadata, tuple(found))


def field_texts(metadata: Metadata, field: FieldName) -> tuple[str, ...]:
    """Return the values of a field; none where it is empty."""
    value: str | tuple[str, ...] = getattr(metadata, field)
    return value if isinstance(value, tuple) else (value,) if value else ()
