"""Status of a source: how far it has come, what stopped it, and how many came how far."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from ingestion.records.source_record import SourceRecord
from ingestion.types.outcome import Outcome, OutcomeReason
from ingestion.types.run import PHASES, Phase
from rag_engine.messages import NO_MESSAGE, Message

State = Literal[
    "new", "waiting", "review", "indexed", "translation", "superseded", "portal", "refused", "failed", "excluded"
]
# In the order in which a person works through them.
STATES: Mapping[State, str] = {
    "review": "Licence to decide",
    "failed": "Failed",
    "refused": "Refused",
    "new": "New",
    "waiting": "Waiting",
    "indexed": "Indexed",
    "translation": "Indexed, translation",
    "superseded": "Indexed, superseded",
    "portal": "Portal",
    "excluded": "Erased",
}
# Stages of the funnel that are not called as the phase that leads to them.
_STAGE_NAMES: Mapping[Phase, str] = {
    "acquisition": "acquired",
    "extraction": "extracted",
    "deduplication": "distinct",
    "metadata": "described",
    "indexing": "indexed",
}
# The stages of the funnel and the phase that leads to each; portals become sources, not documents.
_STAGES: Mapping[str, Phase] = {_STAGE_NAMES.get(phase, phase): phase for phase in PHASES if phase != "portals"}


@dataclass(frozen=True, slots=True)
class SourceStatus:
    """How far a source has come.

    Indexed, waiting (for `phase`), or the status with which `phase` stopped it.
    """

    status: str
    phase: str
    reason: OutcomeReason = ""
    message: Message = NO_MESSAGE


@dataclass(frozen=True, slots=True)
class FunnelStage:
    """A stage of the funnel.

    Sources that reached a stage, and the sources stopped on the way to it, by reason.
    """

    name: str
    reached: int
    stopped: Mapping[OutcomeReason, int]
    waiting: int


def source_status(record: SourceRecord) -> SourceStatus:
    """Return how far a source has come."""
    if record.stopped:
        phase, outcome = record.stopped
        return SourceStatus(outcome.status, phase, outcome.reason, outcome.message)
    waiting = next((phase for phase in PHASES if phase not in record.outcomes), None)
    if waiting:
        return SourceStatus("waiting", waiting)
    last = record.outcomes["indexing"]
    return SourceStatus("indexed", "indexing", last.reason, last.message)


def state_of(record: SourceRecord) -> State:
    """Return the status of a source in one word, for a list that people work through.

    >>> from ingestion.types.source import ListedSource
    >>> source = ListedSource("EEA001", "https://example.org/plan")
    >>> state_of(SourceRecord(source, {"licence": Outcome("failed", "timed_out")}))
    'failed'
    """
    relation = record.relation
    if record.stopped is None:
        if source_status(record).status == "waiting":
            return "waiting" if record.outcomes else "new"
        if relation is not None and relation.superseded:
            return "superseded"
        return "translation" if relation is not None and relation.translation_of else "indexed"
    phase, outcome = record.stopped
    if outcome.reason == "directory":
        return "portal"
    if record.awaits_decision:
        return "review"
    if outcome.status == "skipped":
        # What is decided waits for the next run, and for nobody.
        return "waiting"
    if phase == "indexing" and outcome.reason == "decided":
        return "excluded"
    return "failed" if outcome.status == "failed" else "refused"


def is_document(record: SourceRecord) -> bool:
    """Return whether a source became a document.

    Text that passed quality and is no duplicate of another's.
    """
    stopped = record.stopped
    passed = all(phase in record.outcomes for phase in ("quality", "deduplication"))
    return record.extraction is not None and passed and (stopped is None or stopped[0] in ("metadata", "indexing"))


def funnel(source_records: Iterable[SourceRecord]) -> list[FunnelStage]:
    """Return the stages in order, beginning with all sources ("raw").

    A portal is no document: it is counted as long as its documents are looked for, and where it offered none.

    >>> from ingestion.types.source import ListedSource
    >>> records = [SourceRecord(ListedSource("EEA001"), {"licence": Outcome("done", "")})]
    >>> [(stage.name, stage.reached, stage.waiting) for stage in funnel(records)][:3]
    [('raw', 1, 0), ('licence', 1, 0), ('acquired', 0, 1)]
    """
    present = [record for record in source_records if (at := record.stopped) is None or at[1].reason != "directory"]
    stages = [FunnelStage("raw", len(present), {}, 0)]
    for name, phase in _STAGES.items():
        passed = [
            record for record in present if (outcome := record.outcomes.get(phase)) is not None and outcome.passes
        ]
        stopped: Counter[OutcomeReason] = Counter(
            outcome.reason for record in present if (outcome := _stop(record, phase)) and not outcome.passes
        )
        waiting = len(present) - len(passed) - stopped.total()
        stages.append(FunnelStage(name, len(passed), dict(stopped.most_common()), waiting))
        present = passed
    return stages


def _stop(record: SourceRecord, phase: Phase) -> Outcome | None:
    """Return how the phase ended; for acquisition of a portal, how the portals did."""
    outcome = record.outcomes.get(phase)
    return record.outcomes.get("portals") if outcome and outcome.reason == "directory" else outcome
