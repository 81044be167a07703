"""Corrections: what counts, and what is undone."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as some

from ingestion.records.document_corrections import Correction, CorrectionAct, standing, undoing
from ingestion.types.description import FieldName


def entry(field: FieldName, *values: str, act: CorrectionAct = "correct", batch: str = "") -> Correction:
    return Correction("A1", field, values, "Ada", "", "2026-01-01", act, batch)


def shown(entries: list[Correction]) -> dict[str, tuple[str, ...]]:
    return {one.field: one.values for one in standing(entries)}


def test_the_latest_correction_of_a_field_counts_until_it_is_undone() -> None:
    entries = [entry("title", "First"), entry("title", "Second"), entry("date", "2020")]
    assert shown(entries) == {"title": ("Second",), "date": ("2020",)}
    entries += undoing(entries, "title")
    assert shown(entries) == {"title": ("First",), "date": ("2020",)}
    entries += undoing(entries, "title")
    assert shown(entries) == {"date": ("2020",)}
    assert undoing(entries, "title") == []


def test_what_was_done_together_is_undone_together() -> None:
    entries = [entry("title", "Old"), entry("title", "New", batch="b"), entry("date", "2020", batch="b")]
    entries += undoing(entries)
    assert shown(entries) == {"title": ("Old",)}


@given(some.lists(some.tuples(some.sampled_from(["title", "date"]), some.sampled_from(["a", "b"])), max_size=8))
def test_as_many_undos_as_acts_leave_nothing(done: list[tuple[FieldName, str]]) -> None:
    entries = [entry(field, value, batch=str(n)) for n, (field, value) in enumerate(done)]
    for _ in done:
        entries += undoing(entries)
    assert standing(entries) == []
    assert undoing(entries) == []
