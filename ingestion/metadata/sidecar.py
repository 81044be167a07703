"""Metadata of an added file: from the metadata.jsonl of its folder, for the rest by rules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

from ingestion.extraction.date_of_effect import stated_effect
from ingestion.extraction.layout.title import stem_words
from ingestion.file_reading import FileProperties
from ingestion.metadata.quotes import document_text
from ingestion.metadata.rules import describe_by_rules, notes_on
from ingestion.metadata_file import NAME
from ingestion.records.source_record import field_texts, year_of
from ingestion.types.description import ALL_FIELDS, LIST_FIELDS, Description, FieldValue
from ingestion.types.source import ListedSource
from rag_engine.geography import canonical_country, load_gazetteer
from rag_engine.storage.catalog import read_metadata
from rag_engine.text.folding import fold
from rag_engine.types.document import ExtractedText, Metadata

# Fields of which one that is given speaks for the others: a year that is given is not a found date's.
_TOGETHER = ({"geographical_level", "countries"}, {"date", "year"})
_GIVEN = f"Given in {NAME}."
# Of a file without a title of its own.
_NAMED, _NAMED_SURE = "The name of the file.", 0.2


def describe(
    given: Mapping[str, Any],
    extracted: ExtractedText,
    language: str,
    *,
    file: str = "",
    declared: FileProperties | None = None,
) -> tuple[Metadata, Description]:
    """Return a document's metadata and description: the given values, then values found by rules.

    `file` is its name, `declared` its properties.
    """
    given = {field: value for field, value in given.items() if value not in ("", None)}
    values = {"title": extracted.title, "language": language} | given
    found = _by_rules(values["title"], extracted, values["language"], file, declared or FileProperties())
    spoken_for = {"title", "language", *given}
    for together in _TOGETHER:
        if together & given.keys():
            spoken_for |= together
    found = [one for one in found if one.field not in spoken_for]
    metadata = read_metadata(_as_fields(found) | values)
    countries = tuple(canonical_country(name, load_gazetteer()) or name for name in metadata.countries)
    effect = (
        metadata.in_force or (declared.in_force if declared else "") or stated_effect(extracted.text, metadata.date)
    )
    metadata = replace(metadata, countries=countries, in_force=effect)
    metadata = replace(metadata, year=metadata.year or year_of(metadata.date) or year_of(effect))
    said = [
        FieldValue(field, value, "person" if field in given else "rule", _GIVEN if field in given else "", None, 1.0)
        for field in ALL_FIELDS
        if field in spoken_for
        for value in field_texts(metadata, field)
    ]
    if "title" not in given and fold(metadata.title) == fold(stem_words(Path(file))):
        said = [replace(one, sentence=_NAMED, confidence=_NAMED_SURE) if one.field == "title" else one for one in said]
    described = sorted([*said, *found], key=lambda one: ALL_FIELDS.index(one.field))
    return metadata, Description(tuple(described), year=None if metadata.date else metadata.year)


def _by_rules(
    title: str, extracted: ExtractedText, language: str, file: str, declared: FileProperties
) -> list[FieldValue]:
    titles = [FieldValue("title", title, "rule", "", None, 1.0)] if title else []
    text, source = document_text(extracted, language), ListedSource(code=file, path=file)
    found = describe_by_rules(source, text, declared, titles, today=date.today())
    notes = " ".join(("Metadata extracted automatically.", *notes_on(found)))
    return [*found, FieldValue("notes", notes, "rule", "", None, 1.0)]


def _as_fields(found: Sequence[FieldValue]) -> dict[str, Any]:
    """Return values by field, of a single-valued one the first."""
    values: dict[str, Any] = {}
    for value in found:
        if value.field in LIST_FIELDS:
            values.setdefault(value.field, []).append(value.value)
        else:
            values.setdefault(value.field, value.value)
    return values
