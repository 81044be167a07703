"""Answers of a workspace, measured with its settings: questions asked, rows kept, run summarised."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path

from rag_engine.answering.circumstances import digest_of
from rag_engine.config import judge_settings
from rag_engine.engine import Engine
from rag_engine.evaluation.answers.accepted_run import RUNS, KeptRun, RecordedRun, record_run
from rag_engine.evaluation.answers.judging import Judge
from rag_engine.evaluation.answers.questions import SAMPLE, AnswerQuestion, read_answer_questions
from rag_engine.evaluation.answers.run_answers import (
    AnswersRequest,
    RunProgress,
    Scorers,
    answer_of,
    require_documents,
    run_answers,
    summarise,
)
from rag_engine.evaluation.answers.text_metrics import open_text_metrics
from rag_engine.models import open_judge, open_token_score, token_score_model
from rag_engine.types.answer import Answer


def measure_answers(
    engine: Engine,
    request: AnswersRequest,
    *,
    anew: bool = False,
    progress: RunProgress = lambda *_: None,
    warn: Callable[[Sequence[str]], None] = lambda _: None,
) -> RecordedRun:
    """Return the run of the questions as it is recorded; earlier rows with the same settings are kept.

    With `anew` only the rows of a stopped run are kept. InputError if the questions quote a document that the
    collection lacks.
    """
    questions = read_answer_questions(Path(request.gold) if request.gold else SAMPLE)
    require_documents(questions, {document.file for document in engine.collection.documents()})
    name = "gate" if anew else "answers"
    return measure_questions(engine, questions, request, name, anew=anew, progress=progress, warn=warn)


def measure_questions(
    engine: Engine,
    questions: Sequence[AnswerQuestion],
    request: AnswersRequest,
    name: str,
    *,
    anew: bool = False,
    progress: RunProgress = lambda *_: None,
    warn: Callable[[Sequence[str]], None] = lambda _: None,
) -> RecordedRun:
    """Return the run of the given questions, as `measure_answers` does.

    Its id is the name and the settings.
    """
    begun = datetime.now(UTC).isoformat(timespec="microseconds")
    compare, warnings = open_text_metrics(open_token_score) if request.text_metrics else (None, ())
    warn(warnings)
    judge = None
    if request.judge:
        model = open_judge(engine.config, judge_settings(engine.config.generation, request.judge, request.judge_url))
        seconds = engine.config.generation.answer_seconds
        judge = Judge(model, engine.embedder(), repeat=request.repeat, seconds=seconds)
    retrieval = engine.retrieval() if request.top_k is None else engine.retrieval(top_k=request.top_k)
    settings = {
        "questions": digest_of([asdict(question) for question in questions]),
        "top_k": retrieval.top_k,
        **asdict(engine.circumstances()),
        "judge": judge.model.name if judge else "",
        "repeat": request.repeat,
        "text_metrics": request.text_metrics,
        "bert_score": token_score_model() if request.text_metrics else "",
    }
    scorers = Scorers(judge, compare)
    workspace, id = engine.config.workspace, f"{name}.{digest_of(settings)[:12]}"
    before = RUNS.read_any(workspace, id)
    rows = {row.id: row for row in before.run.rows if not row.failed} if before else {}
    if anew and all(question.id in rows for question in questions):
        rows = {}

    def ask(question: AnswerQuestion) -> Answer:
        return answer_of(engine.ask(question.question, question.filters, retrieval))

    for row in run_answers(questions, ask, scorers, rows.keys(), progress):
        rows[row.id] = row
        record_run(workspace, id, KeptRun(settings, tuple(rows.values()), (), request), begun)
    answered = tuple(rows[question.id] for question in questions)
    return record_run(workspace, id, KeptRun(settings, answered, summarise(answered, scorers.metrics), request), begun)
