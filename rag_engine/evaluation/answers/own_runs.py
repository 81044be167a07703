"""Runs of the workspace's own test questions: asked, kept one file each, and read again."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path

from rag_engine.engine import Engine
from rag_engine.errors import InputError
from rag_engine.evaluation.answers.accepted_run import KeptRun, read_run, runs_folder
from rag_engine.evaluation.answers.measure import measure_questions
from rag_engine.evaluation.answers.own_questions import own_questions_path, read_own_questions
from rag_engine.evaluation.answers.questions import AnswerQuestion
from rag_engine.evaluation.answers.run_answers import AnswersRequest, RunProgress

_MOMENT = "%Y%m%dT%H%M%S%fZ"


@dataclass(frozen=True, slots=True)
class OwnRun:
    """A run of the workspace's own test questions; the id is when it ended."""

    id: str
    run: KeptRun


@dataclass(frozen=True, slots=True)
class OwnRunSummary:
    """A run in a list: when it ended, over how many questions, by which model, on which generation of the index."""

    id: str
    questions: int
    model: str
    generation: int

    @property
    def when(self) -> datetime:
        """When the run ended."""
        return datetime.strptime(self.id, _MOMENT).replace(tzinfo=UTC)


def measure_own(
    engine: Engine, request: AnswersRequest, progress: RunProgress = lambda *_: None
) -> tuple[OwnRun, tuple[AnswerQuestion, ...]]:
    """Ask the workspace's test questions and keep the run; return it with the questions that were left out.

    Left out is a question none of whose expected documents is in the collection any more. What a run that was stopped
    has asked under the same settings is not asked again. InputError where there is nothing to ask.
    """
    workspace = engine.config.workspace
    questions = read_own_questions(workspace)
    asked = testable(questions, {document.file for document in engine.collection.documents()})
    if not asked:
        raise InputError(
            "None of the test questions is about a document of the collection."
            if questions
            else "There are no test questions yet.",
            help="Keep a good answer as a test question, or write one on the Evaluation page.",
        )
    run, rows = measure_questions(engine, asked, request, own_questions_path(workspace), progress=progress)
    id = datetime.now(UTC).strftime(_MOMENT)
    kept = OwnRun(id, rows.write(runs_folder(workspace) / f"{id}.json", run))
    # Only now: what is asked next is another run.
    rows.path.unlink()
    return kept, tuple(one for one in questions if one not in asked)


def testable(questions: Sequence[AnswerQuestion], files: Collection[str]) -> tuple[AnswerQuestion, ...]:
    """Return the questions that expect no answer, or a passage of a document that is there."""
    return tuple(
        one for one in questions if not one.answerable or any(quote.document in files for quote in one.passages)
    )


def list_own_runs(workspace: Path) -> list[OwnRunSummary]:
    """Return the runs that were kept, the latest first."""
    paths = sorted(runs_folder(workspace).glob("*Z.json"), reverse=True)
    return [_summary(path, path.stat().st_mtime_ns) for path in paths]


def read_own_run(workspace: Path, id: str) -> OwnRun:
    """Return a run that was kept; InputError where there is none of this id."""
    path = runs_folder(workspace) / f"{id}.json"
    if id not in [one.id for one in list_own_runs(workspace)]:
        raise InputError("There is no run {id!r}.", help="`sextant eval own runs` lists them.", id=id)
    return OwnRun(id, _read(path, path.stat().st_mtime_ns))


# A run is never changed, but for its answers it may be large; the list of all of them is small.
@lru_cache(maxsize=8)
def _read(path: Path, _: int) -> KeptRun:
    return read_run(path)


@lru_cache(maxsize=1024)
def _summary(path: Path, _: int) -> OwnRunSummary:
    run = read_run(path)
    return OwnRunSummary(path.stem, len(run.rows), str(run.settings["model"]), int(run.settings["generation"]))
