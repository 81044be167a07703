"""Texts of the real documents that questions quote, read once for all tests of questions."""

from __future__ import annotations

from pathlib import Path

import pytest

from ingestion.extraction.extract import extract
from ingestion.types import ExtractionLimits
from rag_engine.config import DATA
from rag_engine.evaluation.gold import read_gold
from rag_engine.types import ExtractedText


@pytest.fixture(scope="session")
def texts(shared: Path) -> dict[str, ExtractedText]:
    """Return what the product reads in every document that is quoted."""
    questions = read_gold(DATA / "eval" / "passages.jsonl", "all")
    names = {quote.document for question in questions for quote in question.quotes}
    return {name: extract(shared / "data" / "corpus" / name, ExtractionLimits(), None) for name in sorted(names)}
