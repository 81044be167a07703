"""The gate: answers of the present settings, or of a new generation of the index, held against the accepted run."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from rag_engine.atomic_write import write_atomic
from rag_engine.engine import Engine
from rag_engine.errors import InputError
from rag_engine.evaluation.answers.accepted_run import (
    KeptRun,
    MetricChange,
    accepted_path,
    changes,
    differing_settings,
    read_run,
    require_answers,
)
from rag_engine.evaluation.answers.measure import measure_answers
from rag_engine.evaluation.answers.run_answers import AnswersRequest, RunProgress


@dataclass(frozen=True, slots=True)
class GateResult:
    """Figures of one generation of the index against the accepted run's, and the settings in which the two differ."""

    when: str
    generation: int
    questions: int
    changes: tuple[MetricChange, ...]
    differing: tuple[str, ...]

    @property
    def dropped(self) -> tuple[str, ...]:
        """The figures that fell by more than chance explains."""
        return tuple(one.metric for one in self.changes if one.dropped)


_RESULT = TypeAdapter(GateResult)


def gate_path(workspace: Path) -> Path:
    """Return where a workspace keeps what its gate found last."""
    return workspace / "evaluation" / "gate.json"


def find_accepted(workspace: Path) -> KeptRun | None:
    """Return the accepted run of a workspace, None where none was accepted."""
    path = accepted_path(workspace)
    return read_run(path) if path.exists() else None


def find_result(workspace: Path) -> GateResult | None:
    """Return what the gate of a workspace found last; None before it was first asked."""
    path = gate_path(workspace)
    try:
        return _RESULT.validate_json(path.read_bytes()) if path.exists() else None
    except ValidationError as error:
        raise InputError("{path} is not a result of `sextant eval gate`.", help="Remove it.", path=path) from error


def compare_runs(accepted: KeptRun, run: KeptRun, generation: int) -> GateResult:
    """Return how a run compares with the accepted one; BackendError where a question of it could not be asked."""
    require_answers(run)
    found, differing = changes(accepted, run), differing_settings(accepted, run)
    return GateResult(datetime.now(UTC).isoformat(timespec="seconds"), generation, len(run.rows), found, differing)


def ask_gate(engine: Engine, accepted: KeptRun, progress: RunProgress = lambda *_: None) -> GateResult:
    """Ask the accepted run's questions again and return how the answers compare; the result is kept."""
    workspace = engine.config.workspace
    run, _ = measure_answers(engine, accepted.request, accepted_path(workspace).parent, anew=True, progress=progress)
    result = compare_runs(accepted, run, engine.collection.generation())
    keep_result(workspace, result)
    return result


def accept_answers(engine: Engine, request: AnswersRequest, progress: RunProgress = lambda *_: None) -> KeptRun:
    """Ask the questions and keep the run as the accepted one."""
    path = accepted_path(engine.config.workspace)
    run, rows = measure_answers(engine, request, path.parent, anew=True, progress=progress)
    require_answers(run)
    return rows.write(path, run)


def keep_result(workspace: Path, result: GateResult) -> None:
    """Keep what the gate found, for whoever looks later."""
    path = gate_path(workspace)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomic(path, json.dumps(asdict(result), ensure_ascii=False, indent=1).encode())
