"""Questions with reference answers asked one by one, each scored before the next."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from rag_engine.config import DATA
from rag_engine.errors import InputError, SextantError
from rag_engine.evaluation.answers.judging import JUDGED_METRICS, Judge
from rag_engine.evaluation.answers.questions import AnswerQuestion
from rag_engine.evaluation.answers.rows import AnswerRow
from rag_engine.evaluation.answers.scoring import METRICS, score
from rag_engine.evaluation.answers.text_metrics import TEXT_METRICS, CompareTexts
from rag_engine.evaluation.significance import Interval, mean_interval
from rag_engine.text.excerpt import shortened
from rag_engine.text.file_kinds import pages_text
from rag_engine.types.answer import Answer, Citation

AskQuestion = Callable[[AnswerQuestion], Answer]
RunProgress = Callable[[int, int, str], None]

# Digits of kept figures, so that a run read from its file equals the run itself.
_DIGITS = 6
# Characters of the question that progress names.
_NAMED = 100


@dataclass(frozen=True, slots=True)
class AnswersRequest:
    """The questions to ask, and how to judge their answers.

    Without a file of questions they are those on the sample. `top_k` None is the configured number of passages; without
    a `judge` no model judges.
    """

    gold: str = ""
    top_k: int | None = None
    judge: str = ""
    judge_url: str = ""
    repeat: int = 1
    text_metrics: bool = False


@dataclass(frozen=True, slots=True)
class Scorers:
    """Measures of an answer besides the figures that need no model; None is not asked."""

    judge: Judge | None = None
    compare: CompareTexts | None = None

    @property
    def metrics(self) -> tuple[str, ...]:
        """The names of all figures, in the order in which they are shown."""
        judged = JUDGED_METRICS if self.judge else ()
        return (*METRICS, *judged, *(TEXT_METRICS if self.compare else ()))


@dataclass(frozen=True, slots=True)
class MetricSummary:
    """A figure over a group of questions: its mean and 95% interval, and the spread of judging.

    The spread is the mean over repeated judging.
    """

    group: str
    metric: str
    questions: int
    mean: Interval
    spread: float | None


def run_answers(
    questions: Sequence[AnswerQuestion],
    ask: AskQuestion,
    scorers: Scorers,
    kept: Collection[str] = (),
    progress: RunProgress = lambda *_: None,
) -> Iterator[AnswerRow]:
    """Yield a row for each question as it is answered, in their order, without those whose ids are kept.

    A question that cannot be answered has the status "error", no figures, and its reason in `failure`.
    """
    for done, question in enumerate(questions):
        progress(done, len(questions), shortened(" ".join(question.question.split()), _NAMED))
        if question.id not in kept:
            yield _answered(question, ask, scorers)
    progress(len(questions), len(questions), "")


def answer_of(parts: Iterable[object]) -> Answer:
    """Return the answer, the last of the parts that the engine yields."""
    *_, last = parts
    assert isinstance(last, Answer), "an answer always ends with itself"
    return last


def require_documents(questions: Sequence[AnswerQuestion], files: Collection[str]) -> None:
    """Raise InputError where the collection lacks a document that answers: the figures would say nothing."""
    quoted = dict.fromkeys(quote.document for question in questions for quote in question.passages)
    missing = [document for document in quoted if document not in files]
    if missing:
        named = ", ".join(missing[:3]) + (" ..." if len(missing) > 3 else "")
        raise InputError(
            f"The collection lacks {len(missing)} of the {len(quoted)} documents that the questions quote: {named}.",
            help=f"Add them first, for example: sextant add {DATA / 'sample' / 'documents'}",
        )


def summarise(rows: Sequence[AnswerRow], metrics: Sequence[str]) -> tuple[MetricSummary, ...]:
    """Return each figure over all questions, each kind, each language and each split, in order."""
    groups: dict[str, list[AnswerRow]] = {"all": list(rows)}
    for field in ("kind", "language", "split"):
        for row in rows:
            if name := str(getattr(row, field)):
                groups.setdefault(name, []).append(row)
    found: list[MetricSummary] = []
    for group, members in groups.items():
        for metric in metrics:
            values = [value for row in members if (value := row.figures.get(metric)) is not None]
            spreads = [value for row in members if (value := row.spreads.get(metric)) is not None]
            if values:
                spread = float(np.mean(spreads)) if spreads else None
                found.append(MetricSummary(group, metric, len(values), mean_interval(np.array(values)), spread))
    return tuple(found)


def _answered(question: AnswerQuestion, ask: AskQuestion, scorers: Scorers) -> AnswerRow:
    started = time.perf_counter()
    try:
        answer = ask(question)
    except SextantError as error:
        return _row(question, None, time.perf_counter() - started, scorers.metrics, {}, {}, str(error))
    seconds = time.perf_counter() - started
    figures: dict[str, float | None] = dict(score(question, answer))
    spreads: dict[str, float | None] = {}
    failures = [answer.text] if answer.status == "error" else []
    if scorers.compare:
        compared = bool(question.answer) and answer.status == "answered"
        figures |= scorers.compare(answer.text, question.answer) if compared else dict.fromkeys(TEXT_METRICS)
    if scorers.judge:
        judged = scorers.judge.judge(question, answer)
        figures |= judged.figures
        spreads |= judged.spreads
        failures += judged.failures
    return _row(question, answer, seconds, scorers.metrics, figures, spreads, " ".join(failures))


def _row(
    question: AnswerQuestion,
    answer: Answer | None,
    seconds: float,
    metrics: Sequence[str],
    figures: Mapping[str, float | None],
    spreads: Mapping[str, float | None],
    failure: str,
) -> AnswerRow:
    citations = answer.citations if answer else ()
    return AnswerRow(
        id=question.id,
        language=question.language,
        kind=question.kind,
        split=question.split,
        answerable=question.answerable,
        status=answer.status if answer else "error",
        seconds=round(seconds, 3),
        question=question.question,
        answer=answer.text if answer else "",
        cited=tuple(dict.fromkeys(map(_cited_place, citations))),
        generator=answer.generator if answer else "",
        figures={metric: _rounded(figures.get(metric)) for metric in metrics},
        spreads={metric: _rounded(spreads.get(metric)) for metric in metrics},
        failure=" ".join(failure.split()),
    )


def _cited_place(citation: Citation) -> str:
    page = pages_text(citation.file, citation.named_page)
    return " ".join(filter(None, (citation.file, page)))


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(float(value), _DIGITS)
