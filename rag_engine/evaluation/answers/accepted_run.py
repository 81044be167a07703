"""Runs of questions among the records, the accepted one, and the figures that fell below it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import TypeAdapter, ValidationError

from rag_engine.conversations.erased_documents import erased_since
from rag_engine.conversations.person import SharedRecord
from rag_engine.conversations.record_kinds import RecordKind
from rag_engine.errors import BackendError, InputError
from rag_engine.evaluation.answers.rows import AnswerRow
from rag_engine.evaluation.answers.run_answers import AnswersRequest, MetricSummary
from rag_engine.evaluation.significance import Difference, paired_difference
from rag_engine.messages import Message

# A difference that chance brings about in fewer cases than this is significant.
_SIGNIFICANT = 0.05
_ACCEPTED = "accepted"


@dataclass(frozen=True, slots=True)
class KeptRun:
    """A run of questions: its settings, rows and figures, and the request that asks it again."""

    settings: Mapping[str, Any]
    rows: tuple[AnswerRow, ...]
    figures: tuple[MetricSummary, ...]
    request: AnswersRequest


@dataclass(frozen=True, slots=True)
class MetricChange:
    """A figure on the questions that both runs have it of: both means, and their paired difference."""

    metric: str
    questions: int
    accepted: float
    current: float
    difference: Difference

    @property
    def dropped(self) -> bool:
        """Whether the figure fell by more than chance explains."""
        return self.difference.high < 0 and self.difference.p < _SIGNIFICANT


@dataclass(frozen=True, slots=True)
class RecordedRun(SharedRecord):
    """A run among the records; the id of a test of the workspace's questions is when it ended."""

    id: str
    run: KeptRun


_RUN = TypeAdapter(KeptRun)
RUNS = RecordKind("run", Message("run of questions"), TypeAdapter(RecordedRun))


def record_run(workspace: Path, id: str, run: KeptRun, begun: str) -> RecordedRun:
    """Record a run as far as it is, without answers that cite erased documents.

    Documents count that any process has erased since the moment `begun`.
    """
    with RUNS.changing(workspace):
        erased = {document.file for document in erased_since(workspace, begun) if document.redact}
        return RUNS.write(workspace, RecordedRun(id, without_answers(run, erased)))


def without_answers(run: KeptRun, files: Collection[str]) -> KeptRun:
    """Return a run without the answers that cite one of the files; its figures stay."""
    return replace(run, rows=tuple(row.without(files) for row in run.rows))


def find_accepted(workspace: Path) -> KeptRun | None:
    """Return the accepted run of a workspace, None without one."""
    found = RUNS.read_any(workspace, _ACCEPTED)
    return found.run if found else None


def require_accepted(workspace: Path) -> KeptRun:
    """Return the accepted run of a workspace; InputError without one."""
    found = find_accepted(workspace)
    if found is None:
        raise InputError("No run was accepted.", help="Accept one first: `sextant eval gate GOLD --accept`.")
    return found


def keep_run(workspace: Path, id: str, under: str = _ACCEPTED) -> RecordedRun:
    """Keep a recorded run under another id as well, by default as the accepted one."""
    with RUNS.changing(workspace):
        found = RUNS.read_any(workspace, id)
        assert found is not None, "a run is recorded before it is kept"
        return RUNS.write(workspace, replace(found, id=under))


def read_run(path: Path) -> KeptRun:
    """Return the run in a file of `sextant eval answers`; InputError for a missing or other file."""
    try:
        return _RUN.validate_json(path.read_bytes())
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}.", help="Make it readable.") from error
    except ValidationError as error:
        raise InputError(
            "{path} is not a run of `sextant eval answers`: {error}.",
            help="Name the JSON file that it wrote.",
            path=path,
            error=error.errors()[0]["msg"],
        ) from error


def require_answers(run: KeptRun) -> None:
    """Raise BackendError if a question could not be asked.

    A missing answer would count as no difference.
    """
    failed = [row for row in run.rows if row.failed]
    if failed:
        raise BackendError(
            f"{len(failed)} of {len(run.rows)} questions could not be answered. {failed[0].id}: {failed[0].failure}",
            help="Run it again; the other questions are kept.",
            retryable=True,
        )


def paired_rows(before: KeptRun, after: KeptRun) -> list[tuple[AnswerRow, AnswerRow]]:
    """Return the rows of the questions that two runs share: those with the same id and words."""
    asked = {(row.id, row.question): row for row in before.rows}
    return [(asked[row.id, row.question], row) for row in after.rows if (row.id, row.question) in asked]


def changes(accepted: KeptRun, current: KeptRun) -> tuple[MetricChange, ...]:
    """Return how each figure changed on the questions of both runs; InputError if they share none."""
    pairs = paired_rows(accepted, current)
    if not pairs:
        raise InputError("The accepted run has none of these questions.", help="Accept a run of them with --accept.")
    found = []
    for metric in dict.fromkeys(metric for _, row in pairs for metric in row.figures):
        both = [(old.figures.get(metric), new.figures.get(metric)) for old, new in pairs]
        measured = np.array([pair for pair in both if None not in pair], np.float64)
        if len(measured):
            difference = paired_difference(measured[:, 1], measured[:, 0])
            before, now = (float(one) for one in measured.mean(axis=0))
            found.append(MetricChange(metric, len(measured), before, now, difference))
    return tuple(found)
