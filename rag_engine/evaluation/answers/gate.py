"""The gate: compares answers of present settings or a new generation with the accepted run."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from pydantic import TypeAdapter

from rag_engine.conversations.person import SharedRecord
from rag_engine.conversations.record_kinds import RecordKind
from rag_engine.engine import Engine
from rag_engine.evaluation.answers.accepted_run import KeptRun, MetricChange, changes, keep_run, require_answers
from rag_engine.evaluation.answers.measure import measure_answers
from rag_engine.evaluation.answers.run_answers import AnswersRequest, RunProgress
from rag_engine.evaluation.answers.test_results import differing_settings
from rag_engine.messages import Message

_LAST = "last"


@dataclass(frozen=True, slots=True)
class GateResult(SharedRecord):
    """Figures of a generation of the index against the accepted run's.

    `differing` are the settings in which the two differ.
    """

    when: str
    generation: int
    questions: int
    changes: tuple[MetricChange, ...]
    differing: tuple[str, ...]

    @property
    def dropped(self) -> tuple[str, ...]:
        """The figures that fell by more than chance explains."""
        return tuple(change.metric for change in self.changes if change.dropped)

    @property
    def id(self) -> str:
        """The id of the only result that is kept."""
        return _LAST


_KIND = RecordKind("gate", Message("result of the gate"), TypeAdapter(GateResult))


def find_result(workspace: Path) -> GateResult | None:
    """Return the latest result of a workspace's gate; None before the first."""
    return _KIND.read_any(workspace, _LAST)


def compare_runs(accepted: KeptRun, run: KeptRun, generation: int) -> GateResult:
    """Return how a run compares with the accepted one; BackendError if a question was not asked."""
    require_answers(run)
    found, differing = changes(accepted, run), tuple(differing_settings(accepted, run))
    return GateResult(datetime.now(UTC).isoformat(timespec="seconds"), generation, len(run.rows), found, differing)


def ask_gate(engine: Engine, accepted: KeptRun, progress: RunProgress = lambda *_: None) -> GateResult:
    """Ask the accepted run's questions again and return how the answers compare; the result is kept."""
    workspace = engine.config.workspace
    recorded = measure_answers(engine, accepted.request, anew=True, progress=progress)
    result = compare_runs(accepted, recorded.run, engine.collection.generation())
    keep_result(workspace, result)
    return result


def accept_answers(engine: Engine, request: AnswersRequest, progress: RunProgress = lambda *_: None) -> KeptRun:
    """Ask the questions and keep the run as the accepted one."""
    recorded = measure_answers(engine, request, anew=True, progress=progress)
    require_answers(recorded.run)
    return keep_run(engine.config.workspace, recorded.id).run


def keep_result(workspace: Path, result: GateResult) -> None:
    """Keep the result of the gate, in place of the last one."""
    _KIND.write(workspace, result)
