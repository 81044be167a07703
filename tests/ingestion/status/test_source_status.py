from __future__ import annotations

from ingestion.records.source_record import SourceRecord
from ingestion.status.source_status import funnel
from ingestion.types.outcome import Outcome
from ingestion.types.run import PHASES, Phase
from ingestion.types.source import Download, ListedSource
from rag_engine.messages import Message

DONE = Outcome("done", "")
DIRECTORY = Outcome(
    "skipped", "directory", Message(), Download("", ("https://a/",), "", 0, "text/html", "directory", "")
)


def _source_record(code: str, *outcomes: Outcome) -> SourceRecord:
    phases: tuple[Phase, ...] = PHASES
    return SourceRecord(ListedSource(code), dict(zip(phases, outcomes, strict=False)))


def test_every_source_is_counted_where_it_was_stopped_waits_or_came_through() -> None:
    source_records = [
        _source_record("A", *[DONE] * 8),
        _source_record("B", Outcome("refused", "licence_reserved")),
        _source_record("C", Outcome("skipped", "licence_unclear")),
        _source_record("D"),
        _source_record("E", DONE, DONE, Outcome("skipped", "not_a_portal"), DONE, Outcome("refused", "too_few_pages")),
    ]
    stages = {stage.name: stage for stage in funnel(source_records)}
    assert [stages[name].reached for name in ("raw", "licence", "quality", "indexed")] == [5, 2, 1, 1]
    assert stages["licence"].stopped == {"licence_reserved": 1, "licence_unclear": 1}
    assert stages["licence"].waiting == 1
    assert stages["quality"].stopped == {"too_few_pages": 1}


def test_a_portal_that_gave_its_documents_is_no_document() -> None:
    found = _source_record("P", DONE, DIRECTORY, DONE)
    empty = _source_record("Q", DONE, DIRECTORY, Outcome("refused", "nothing_found"))
    stages = {stage.name: stage for stage in funnel([found, empty])}
    assert stages["raw"].reached == 1
    assert stages["acquired"].stopped == {"nothing_found": 1}
