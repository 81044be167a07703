from __future__ import annotations

from ingestion.records.source_store import Event
from ingestion.status.views import running_sources
from ingestion.types.run import Progress
from rag_engine.messages import Message


def event(code: str, when: str, name: str = "extraction", status: str = "done", reason: str = "") -> Event:
    return Event(code, when, name, status, reason, Message(), "", 0.1)


def test_sources_of_a_phase_are_now_waiting_or_ended_since_the_run_began() -> None:
    progress = Progress(2, 5, 0, 0, "", "extraction", now=("C",), waiting=("D", "E"))
    latest = [
        event("B", "2026-11-25T10:02:00", status="refused", reason="too_short"),
        event("A", "2026-11-25T10:01:00"),
        event("A", "2026-11-25T10:00:30", status="failed"),
        event("Z", "2026-11-25T10:00:20", "licence"),
        event("D", "2026-11-25T09:00:00"),
        event("Y", "2026-11-25T09:00:00"),
    ]
    found = running_sources(progress, latest, {"C": "Plan"}, "2026-11-25T10:00:00")
    assert [(one.code, one.state) for one in found] == [
        ("C", "now"),
        ("D", "waiting"),
        ("E", "waiting"),
        ("B", "refused (too short)"),
        ("A", "done"),
    ]
    assert found[0].title == "Plan"
