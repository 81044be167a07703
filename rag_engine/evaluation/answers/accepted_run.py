"""The run that others are held against: kept in the workspace, and the figures that fell below it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import TypeAdapter, ValidationError

from rag_engine.atomic_write import write_atomic
from rag_engine.errors import BackendError, InputError
from rag_engine.evaluation.answers.rows import AnswerRow
from rag_engine.evaluation.answers.run_answers import AnswersRequest, MetricSummary
from rag_engine.evaluation.significance import Difference, paired_difference

# A difference that chance brings about in fewer cases than this is significant.
_SIGNIFICANT = 0.05


@dataclass(frozen=True, slots=True)
class KeptRun:
    """A run of questions: what it was made with, its rows, its figures over groups of them, and what asks it again."""

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


_RUN = TypeAdapter(KeptRun)


def accepted_path(workspace: Path) -> Path:
    """Return where a workspace keeps the run that was accepted last."""
    return workspace / "evaluation" / "accepted.json"


def runs_folder(workspace: Path) -> Path:
    """Return where a workspace keeps the runs of its own test questions."""
    return workspace / "evaluation" / "runs"


def write_run(path: Path, run: KeptRun) -> None:
    """Write a run as JSON."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomic(path, json.dumps(asdict(run), ensure_ascii=False, indent=1).encode())


def read_run(path: Path) -> KeptRun:
    """Return a run that was written; InputError where there is none or the file is another."""
    try:
        return _RUN.validate_json(path.read_bytes())
    except FileNotFoundError:
        raise InputError(f"No run was accepted: {path} is missing.", help="Accept one with --accept.") from None
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
    """Raise BackendError where a question could not be asked: what is missing would count as no difference."""
    failed = [row for row in run.rows if row.failed]
    if failed:
        raise BackendError(
            f"{len(failed)} of {len(run.rows)} questions could not be answered. {failed[0].id}: {failed[0].failure}",
            help="Run it again; the other questions are kept.",
            retryable=True,
        )


def changes(accepted: KeptRun, current: KeptRun) -> tuple[MetricChange, ...]:
    """Return how each figure changed on the questions that both runs have it of; InputError where they share none.

    A question is the same where its id and its words are.
    """
    asked = {(row.id, row.question): row for row in accepted.rows}
    pairs = [(asked[row.id, row.question], row) for row in current.rows if (row.id, row.question) in asked]
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


def differing_settings(accepted: KeptRun, current: KeptRun) -> tuple[str, ...]:
    """Return the names of the settings in which two runs differ."""
    names = sorted(accepted.settings.keys() | current.settings.keys())
    return tuple(name for name in names if accepted.settings.get(name) != current.settings.get(name))
