"""Runs of the test questions of a workspace: asked, recorded, and listed."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path

from rag_engine.engine import Engine
from rag_engine.errors import InputError
from rag_engine.evaluation.answers.accepted_run import RUNS, RecordedRun, keep_run
from rag_engine.evaluation.answers.measure import measure_questions
from rag_engine.evaluation.answers.questions import AnswerQuestion
from rag_engine.evaluation.answers.run_answers import AnswersRequest, RunProgress
from rag_engine.evaluation.answers.test_questions import read_test_questions

_MOMENT = "%Y%m%dT%H%M%S%fZ"


@dataclass(frozen=True, slots=True)
class RunSummary:
    """A run in a list: its end, number of questions, model, and generation of the index."""

    id: str
    questions: int
    model: str
    generation: int

    @property
    def when(self) -> datetime:
        """When the run ended."""
        return datetime.strptime(self.id, _MOMENT).replace(tzinfo=UTC)


def measure_test(
    engine: Engine, request: AnswersRequest, progress: RunProgress = lambda *_: None
) -> tuple[RecordedRun, tuple[AnswerQuestion, ...]]:
    """Ask the workspace's test questions and record the run; return it and the questions left out.

    A question is left out if none of its expected documents is in the collection any more. Answers of a stopped run
    under the same settings are kept. InputError without a question to ask.
    """
    workspace = engine.config.workspace
    questions = read_test_questions(workspace)
    asked = testable(questions, {document.file for document in engine.collection.documents()})
    if not asked:
        raise InputError(
            "None of the test questions is about a document of the collection."
            if questions
            else "There are no test questions yet.",
            help="Keep a good answer as a test question, or write one on the Evaluation page.",
        )
    run = measure_questions(engine, asked, request, "test", progress=progress)
    with RUNS.changing(workspace):
        kept = keep_run(workspace, run.id, datetime.now(UTC).strftime(_MOMENT))
        # Only now: the next questions are another run.
        RUNS.delete(workspace, run.id)
    return kept, tuple(question for question in questions if question not in asked)


def testable(questions: Sequence[AnswerQuestion], files: Collection[str]) -> tuple[AnswerQuestion, ...]:
    """Return the questions that expect no answer, or a passage of a document in the collection."""
    return tuple(
        question
        for question in questions
        if not question.answerable or any(quote.document in files for quote in question.passages)
    )


def list_test_runs(workspace: Path) -> list[RunSummary]:
    """Return the runs that ended, the latest first."""
    ended = [(id, version) for id, version in RUNS.versions(workspace) if id.endswith("Z")]
    return [_summary(workspace, id, version) for id, version in sorted(ended, reverse=True)]


def read_test_run(workspace: Path, id: str) -> RecordedRun:
    """Return a run that ended; InputError without one of this id."""
    found = RUNS.read_any(workspace, id) if id.endswith("Z") else None
    if found is None:
        raise InputError("There is no run {id!r}.", help="`sextant eval own runs` lists them.", id=id)
    return found


# With its answers a run may be large; the list of all of them is small.
@lru_cache(maxsize=1024)
def _summary(workspace: Path, id: str, _version: int) -> RunSummary:
    run = read_test_run(workspace, id).run
    return RunSummary(id, len(run.rows), str(run.settings["model"]), int(run.settings["generation"]))
