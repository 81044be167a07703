"""Metadata of a file that is added: from the metadata.jsonl beside it, for the rest by rules."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import date
from typing import Any

from ingestion.metadata.quotes import document_text
from ingestion.metadata.rules import describe_by_rules, notes_on
from ingestion.types import LIST_FIELDS, FieldValue, FileProperties, SeedSource
from rag_engine.geography import Gazetteer, canonical_country
from rag_engine.storage.catalog import read_metadata
from rag_engine.types import ExtractedText, Metadata

# Fields of which one that is given speaks for the others: a year that is given is not a found date's.
_TOGETHER = ({"geographical_level", "countries"}, {"date", "year"})


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
    year = metadata.year or (int(metadata.date[:4]) if metadata.date[:4].isdecimal() else None)
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
