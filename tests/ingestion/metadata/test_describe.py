"""The metadata phase: always done, with any model or none."""

from __future__ import annotations

from datetime import date

import pytest

from ingestion.config import IngestionConfig
from ingestion.file_reading import FileProperties
from ingestion.phases.metadata import describe_source
from ingestion.protocols import LanguageModel
from ingestion.types.description import Description, FieldName
from ingestion.types.outcome import Outcome
from ingestion.types.source import Extraction, ListedSource
from rag_engine.errors import BackendError
from tests.ingestion.metadata.test_model import FakeJudge, answer
from tests.ingestion.metadata.test_rules import FLOOD
from tests.ingestion.texts import extracted_from


def _describe(language_model: LanguageModel | None, *, source: ListedSource | None = None) -> Outcome:
    extracted = extracted_from(FLOOD, title="Flood plan of Milltown")
    extraction = Extraction("h", "text/plain", 1, 0, 0, len(FLOOD), len(FLOOD), extracted.title, "en", len(FLOOD))
    return describe_source(
        source or ListedSource("A1"), extracted, extraction, FileProperties(), language_model,
        config=IngestionConfig(), today=lambda: date(2026, 3, 2),
    )  # fmt: skip


def _values(outcome: Outcome, field: FieldName) -> list[str]:
    assert isinstance(outcome.evidence, Description)
    return [value.value for value in outcome.evidence.values if value.field == field]


def test_without_a_model_every_field_comes_from_rules() -> None:
    outcome = _describe(None)
    assert (outcome.status, outcome.reason) == ("done", "")
    assert _values(outcome, "title") == ["Flood plan of Milltown"]
    assert _values(outcome, "hazards") == ["Flood"]
    assert _values(outcome, "language") == ["en"]
    assert "without a model" in _values(outcome, "notes")[0]


@pytest.mark.parametrize("bad", [BackendError("away"), {"a": 1}, {}])
def test_a_model_that_fails_costs_nothing_and_is_named(bad: object) -> None:
    outcome, rules = _describe(FakeJudge(bad, bad)), _describe(None)
    assert outcome.status == "done"
    assert outcome.passes
    assert outcome.reason == "model_failed"
    assert "fake" in outcome.message
    assert isinstance(outcome.evidence, Description)
    assert len(outcome.evidence.warnings) == 2
    for field in ("title", "hazards", "authority", "tags", "description"):
        assert _values(outcome, field) == _values(rules, field)


def test_a_model_adds_what_it_can_quote_and_nothing_else() -> None:
    quoted = {"value": "Community-based approach", "quote": "which carries it out with volunteers"}
    outcome = _describe(FakeJudge(answer(tags=[quoted, {"value": "Gender", "quote": "women and men"}])))
    assert "Community-based approach" in _values(outcome, "tags")
    assert "Gender" not in _values(outcome, "tags")
    assert isinstance(outcome.evidence, Description)
    assert any("Gender" in warning for warning in outcome.evidence.warnings)
