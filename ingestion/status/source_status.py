"""How many sources came how far, and why the others did not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ingestion.records.source_record import SourceRecord
from ingestion.types import PHASES, Outcome, OutcomeReason, Phase

# Stages of the funnel that are not called as the phase that leads to them.
_STAGE_NAMES: Mapping[Phase, str] = {
    "acquisition": "acquired",
    "extraction": "extracted",
    "deduplication": "distinct",
    "metadata": "described",
    "indexing": "indexed",
}
# The stages of the funnel and the phase that leads to each; portals become sources, not documents.
STATIONS: Mapping[str, Phase] = {_STAGE_NAMES.get(phase, phase): phase for phase in PHASES if phase != "portals"}


@dataclass(frozen=True, slots=True)
class Station:
    """A station of the funnel: sources that reached it, and those that were stopped on the way to it, by reason."""

    name: str
    reached: int
    stopped: Mapping[OutcomeReason, int]
    waiting: int


def _stop(record: SourceRecord, phase: Phase) -> Outcome | None:
    """How the phase ended; for acquisition of a portal, how the portals did."""
    outcome = record.outcomes.get(phase)
    return record.outcomes.get("portals") if outcome and outcome.reason == "directory" else outcome


def funnel(source_records: Iterable[SourceRecord]) -> list[Station]:
    """The stations in order, beginning with all sources ("raw").

    A portal is no document: it is counted as long as its documents are looked for, and where it offered none.
    """
    present = [one for one in source_records if (at := one.stopped) is None or at[1].reason != "directory"]
    stations = [Station("raw", len(present), {}, 0)]
    for name, phase in STATIONS.items():
        passed = [one for one in present if (outcome := one.outcomes.get(phase)) is not None and outcome.passes]
        stopped: Counter[OutcomeReason] = Counter(
            outcome.reason for one in present if (outcome := _stop(one, phase)) and not outcome.passes
        )
        waiting = len(present) - len(passed) - stopped.total()
        stations.append(Station(name, len(passed), dict(stopped.most_common()), waiting))
        present = passed
    return stations


@dataclass(frozen=True, slots=True)
class SourceStatus:
    """How far a source has come: indexed, waiting (for `phase`), or the status with which `phase` stopped it."""

    status: str
    phase: str
    reason: str = ""
    message: str = ""


def is_document(record: SourceRecord) -> bool:
    """Whether a source became a document: text that passed quality and is no duplicate of another's."""
    stopped = record.stopped
    passed = all(phase in record.outcomes for phase in ("quality", "deduplication"))
    return record.extraction is not None and passed and (stopped is None or stopped[0] in ("metadata", "indexing"))


def source_status(record: SourceRecord) -> SourceStatus:
    """How far a source has come."""
    if record.stopped:
        phase, outcome = record.stopped
        return SourceStatus(outcome.status, phase, outcome.reason, outcome.message)
    waiting = next((phase for phase in PHASES if phase not in record.outcomes), None)
    if waiting:
        return SourceStatus("waiting", waiting)
    last = record.outcomes["indexing"]
    return SourceStatus("indexed", "indexing", last.reason, last.message)
