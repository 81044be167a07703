from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from ingestion.records.document_corrections import Correction
from ingestion.records.source_record import SourceRecord
from ingestion.records.source_store import Event
from ingestion.status.document_fields import changed_fields, missing_fields, unsure_fields
from ingestion.status.source_status import state_of
from ingestion.status.views import (
    find_rows,
    in_quarantine,
    next_due,
    rate_per_minute,
    review_groups,
    seconds_left,
    source_rows,
    title_beside_code,
)
from ingestion.types.licence import LicenceMark, LicenceVerdict
from ingestion.types.outcome import Outcome
from ingestion.types.run import Phase
from ingestion.types.source import ListedSource, Relation
from rag_engine.errors import InputError
from rag_engine.messages import Message
from tests.ingestion.source_records import source_record, stopped

NOW = datetime(2026, 3, 1, 12, 0, 0, tzinfo=UTC)


def event(seconds_ago: float, phase: str = "licence") -> Event:
    return Event("A", (NOW - timedelta(seconds=seconds_ago)).isoformat(), phase, "done", "", Message(), "", 0.1)


def waiting(code: str, url: str, quote: str) -> SourceRecord:
    mark = LicenceMark("pattern", "YELLOW", "", 12, quote, "footer")
    verdict = LicenceVerdict("YELLOW", "", (mark,))
    return SourceRecord(ListedSource(code, url), {"licence": Outcome("refused", "licence_unclear", Message(), verdict)})


def test_every_source_has_a_state() -> None:
    done = source_record()
    assert state_of(done) == "indexed"
    assert state_of(SourceRecord(ListedSource("A"), {})) == "new"
    assert state_of(replace(done, outcomes={"licence": done.outcomes["licence"]})) == "waiting"
    assert state_of(source_record("A", relation=Relation("A", superseded="2020"))) == "superseded"
    assert state_of(source_record("A", relation=Relation("B", translation_of="B"))) == "translation"
    assert state_of(stopped(done, "acquisition", Outcome("failed", "timed_out"))) == "failed"
    assert state_of(stopped(done, "quality", Outcome("refused", "too_few_pages"))) == "refused"
    listing = stopped(done, "acquisition", Outcome("skipped", "directory"))
    assert state_of(listing) == "waiting"
    assert state_of(replace(listing, outcomes={**listing.outcomes, "portals": Outcome("done", "")})) == "portal"
    assert state_of(stopped(done, "indexing", Outcome("refused", "decided"))) == "excluded"
    assert state_of(waiting("A", "", "")) == "review"


def test_a_source_is_found_by_words_and_state() -> None:
    rows = source_rows([source_record("ADM001"), waiting("REV001", "https://town.example/x", "")])

    assert [row.code for row in find_rows(rows, "TOWN rev", [])] == ["REV001"]
    assert [row.code for row in find_rows(rows, "", ["indexed"])] == ["ADM001"]


def test_sources_of_one_host_with_the_same_evidence_are_decided_together() -> None:
    groups = review_groups(
        [
            waiting("A", "https://town.example/1", "on request"),
            waiting("B", "https://other.example/1", "on request"),
            waiting("C", "https://town.example/2", "on request"),
            waiting("D", "https://town.example/3", "something else"),
        ]
    )

    assert [[one.source.code for one in group.members] for group in groups] == [["A", "C"], ["B"], ["D"]]


def test_only_what_is_rejected_for_more_than_its_licence_is_in_quarantine() -> None:
    short = stopped(source_record("B"), "quality", Outcome("refused", "too_few_pages"))

    assert in_quarantine([source_record("A"), short, waiting("C", "", "")]) == [short]


def test_the_next_run_takes_what_waits() -> None:
    assert next_due([source_record("A"), SourceRecord(ListedSource("B"), {}), waiting("C", "", "")]) == 1


def test_the_rate_is_that_of_the_last_minute() -> None:
    assert rate_per_minute([event(s) for s in (0, 10, 20, 30)], "licence", NOW) == pytest.approx(8)
    assert rate_per_minute([event(s) for s in (0, 30, 3000)], "licence", NOW) == pytest.approx(4)
    assert rate_per_minute([event(0), event(1, "quality")], "licence", NOW) is None


def test_the_time_left_follows_from_the_rate() -> None:
    assert seconds_left(10, 40, 60.0) == 30
    assert seconds_left(10, 40, None) is None


def test_only_cells_that_differ_become_corrections() -> None:
    changed = changed_fields(
        source_record(), {"title": ["Piano caldo "], "hazards": ["Drought", "Heatwaves"], "date": []}, "Ada", {}
    )

    assert changed == [Correction("ADM001", "date", (), "Ada")]


@pytest.mark.parametrize(
    ("field", "value"),
    [("date", "31.12.2020"), ("date", "2020-13"), ("language", "English"), ("hazards", "Hail")],
)
def test_a_value_that_a_field_cannot_have_is_refused(field: str, value: str) -> None:
    with pytest.raises(InputError):
        changed_fields(source_record(), {field: [value]}, "Ada", {"hazards": ("Heatwaves", "Drought")})  # type: ignore[dict-item]


def test_empty_and_unsure_fields_are_found() -> None:
    one = source_record(values={"title": ("Plan",), "date": ()})

    assert "title" not in missing_fields(one)
    assert "date" in missing_fields(one)
    assert unsure_fields(one, 0.5) == []
    assert unsure_fields(one, 0.95) == ["title"]
    assert "date" not in missing_fields(replace(one, corrections=(Correction("ADM001", "date", ()),)))


@pytest.mark.parametrize("phase", ["extraction", "quality", "deduplication", "metadata", "indexing"])
def test_what_is_rejected_after_its_file_came_may_be_restored(phase: Phase) -> None:
    one = stopped(source_record("B"), phase, Outcome("refused", "decided"))

    assert in_quarantine([one]) == [one]


def test_what_has_no_file_is_not_in_quarantine() -> None:
    gone = stopped(source_record("A"), "acquisition", Outcome("refused", "not_found"))
    former = source_record("B").download
    known = stopped(source_record("B"), "acquisition", Outcome("refused", "not_found", Message(), former))
    barren = stopped(source_record("C"), "portals", Outcome("refused", "nothing_found"))
    empty = stopped(source_record("D"), "quality", Outcome("refused", "too_few_pages"))
    empty = replace(empty, outcomes={**empty.outcomes, "acquisition": Outcome("done", "")})

    assert in_quarantine([gone, known, barren, empty]) == []


def test_a_title_is_not_told_twice() -> None:
    assert title_beside_code(source_record("ADM001")) == "Piano caldo"
    assert title_beside_code(SourceRecord(ListedSource("ADM001"), {})) == ""
