"""Sources of a phase that is running: done, being worked on, waiting."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from ingestion.records.source_store import Event
from ingestion.status.views import display_reason
from ingestion.types import Progress


@dataclass(frozen=True, slots=True)
class RunningSource:
    """A source of the phase that a run is at; `state` is "now", "waiting", or how the phase ended for it."""

    code: str
    title: str
    state: str


def running_sources(
    progress: Progress, latest: Sequence[Event], titles: Mapping[str, str], started: str
) -> list[RunningSource]:
    """Return the sources that the phase is at, those that come next, and those it has ended since the run started.

    `latest` are events, the newest first; so far back as they reach.
    """
    shown: dict[str, str] = dict.fromkeys(progress.now, "now")
    for code in progress.waiting:
        shown.setdefault(code, "waiting")
    # The journal may lag by one source behind the progress, which is noted each half second.
    for code, state in _ended(progress.phase, latest, started, shown).items():
        shown.setdefault(code, state)
    return [RunningSource(code, titles.get(code, ""), state) for code, state in shown.items()]


def _ended(phase: str, latest: Sequence[Event], started: str, shown: Collection[str]) -> dict[str, str]:
    ended: dict[str, str] = {}
    for event in latest:
        if event.event == phase and event.when >= started and event.code not in shown:
            reason = f" ({display_reason(event.reason)})" if event.reason else ""
            ended.setdefault(event.code, f"{event.status}{reason}")
    return ended
