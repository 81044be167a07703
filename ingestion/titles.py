"""Placeholder."""

from __future__ import annotations

from ingestion.declared import Declared
from ingestion.outcomes import FieldValue, Source
from rag_engine.types import ExtractedText


def find_titles(extracted: ExtractedText, source: Source, declared: Declared, language: str = "") -> list[FieldValue]:
    """Placeholder."""
    return [FieldValue("title", extracted.title, "rule", "", 1, 0.5)]
