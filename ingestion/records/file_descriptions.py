"""Descriptions of the files that were added by themselves, as given and extracted, before anybody corrected them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import sqlalchemy as sql
from pydantic import TypeAdapter
from sqlalchemy.engine import Connection

from ingestion.records.document_corrections import Correction, corrected
from ingestion.types import ALL_FIELDS, FIELDS, LIST_FIELDS, FieldName, FieldValue
from rag_engine.storage.catalog import Catalog, metadata_json, read_metadata
from rag_engine.types import DocumentRecord, Metadata

TABLES = sql.MetaData()
descriptions = sql.Table(
    "file_descriptions",
    TABLES,
    sql.Column("source", sql.String, primary_key=True),
    sql.Column("metadata", sql.String, nullable=False),
    sql.Column("values", sql.String, nullable=False),
)
_VALUES = TypeAdapter(tuple[FieldValue, ...])


@dataclass(frozen=True, slots=True)
class FileDescription:
    """A file's metadata, and its values with where each comes from; "person" is the source of one that was given."""

    metadata: Metadata
    found: tuple[FieldValue, ...]


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


class FileDescriptions:
    """The descriptions of a workspace, by where each file came from."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        with catalog.begin() as connection:
            TABLES.create_all(connection)

    def all(self) -> Mapping[str, FileDescription]:
        """Return every description."""
        return {row[0]: _description(row[1], row[2]) for row in self._catalog.read(sql.select(descriptions))}

    def find(self, records: Sequence[DocumentRecord]) -> list[FileDescription]:
        """Return the descriptions of documents; of one without, what the catalog has of it counts as extracted."""
        wanted = [record.source for record in records]
        rows = self._catalog.read_in(sql.select(descriptions), descriptions.c.source, wanted)
        known = {row[0]: _description(row[1], row[2]) for row in rows}
        return [known.get(record.source) or as_extracted(record.metadata) for record in records]

    def put(self, source: str, described: FileDescription, connection: Connection | None = None) -> None:
        """Keep the description of a file in the place of the one before."""
        if connection is None:
            with self._catalog.begin() as own:
                self.put(source, described, own)
            return
        connection.execute(sql.delete(descriptions).where(descriptions.c.source == source))
        values = _VALUES.dump_json(described.found).decode()
        row = {"source": source, "metadata": metadata_json(described.metadata), "values": values}
        connection.execute(sql.insert(descriptions).values(row))

    def forget(self, source: str) -> None:
        """Remove the description of a file that was erased."""
        with self._catalog.begin() as connection:
            connection.execute(sql.delete(descriptions).where(descriptions.c.source == source))


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


def _description(metadata: str, values: str) -> FileDescription:
    return FileDescription(read_metadata(json.loads(metadata)), _VALUES.validate_json(values))
