from dataclasses import replace

import pytest

from rag_engine.errors import BackendError, InputError
from rag_engine.evaluation.answers.judging import JUDGED_METRICS, Judge
from rag_engine.evaluation.answers.questions import AnswerQuestion
from rag_engine.evaluation.answers.rows import AnswerRow
from rag_engine.evaluation.answers.run_answers import (
    Scorers,
    answer_of,
    require_documents,
    run_answers,
    summarise,
)
from rag_engine.evaluation.answers.scoring import METRICS
from rag_engine.evaluation.answers.text_metrics import TEXT_METRICS
from rag_engine.types.answer import Answer
from rag_engine.types.evidence import Evidence
from tests.rag_engine.conftest import CountingEmbedder
from tests.rag_engine.evaluation.answers.conftest import QUESTION, UNANSWERABLE, WrittenJudge, make_answer

QUESTIONS = (QUESTION, UNANSWERABLE)


class Asked:
    """Answers each question alike and keeps them; the question that `fails` names cannot be asked."""

    def __init__(self, answer: Answer, fails: str = "") -> None:
        self.answer, self.fails = answer, fails
        self.questions: list[str] = []

    def __call__(self, question: AnswerQuestion) -> Answer:
        self.questions.append(question.question)
        if question.question == self.fails:
            raise BackendError("The model is gone.")
        return self.answer


def test_every_question_has_a_row_before_the_next_is_asked() -> None:
    rows: list[AnswerRow] = []
    asked: list[int] = []

    def ask(question: AnswerQuestion) -> Answer:
        asked.append(len(rows))
        return make_answer("The mayor orders the evacuation.")

    rows.extend(run_answers(QUESTIONS, ask, Scorers()))
    assert asked == [0, 1]
    first, second = rows
    assert first.figures["answer_match"] == 1
    assert first.cited == ("1.pdf page 3",)
    assert second.figures["abstention"] == 0


def test_progress_names_the_question_and_not_its_id() -> None:
    long = replace(QUESTION, id="en-3", question="Who \n decides " + "and who helps " * 20)
    told: list[tuple[int, int, str]] = []
    list(run_answers((QUESTION, long), lambda _: make_answer(), Scorers(), progress=lambda *now: told.append(now)))
    assert told[0] == (0, 2, QUESTION.question)
    assert told[1][2].startswith("Who decides and who helps")
    assert len(told[1][2]) <= 100
    assert told[2] == (2, 2, "")


def test_a_question_that_cannot_be_asked_has_its_reason_and_what_is_kept_is_not_asked() -> None:
    asked = Asked(make_answer(), fails=QUESTION.question)
    [row] = run_answers(QUESTIONS, asked, Scorers(), {UNANSWERABLE.id})
    assert (row.id, row.failed, row.failure) == (QUESTION.id, True, "The model is gone.")
    assert asked.questions == [QUESTION.question]


def test_a_judge_and_a_comparison_of_texts_are_asked_where_they_are_given(embedder: CountingEmbedder) -> None:
    judge = Judge(WrittenJudge(claims=[["a"], ["r"]], verdicts=[[True]] * 4), embedder, seconds=90)
    scorers = Scorers(judge, lambda text, reference: dict.fromkeys(TEXT_METRICS, 0.123456789))
    assert scorers.metrics == (*METRICS, *JUDGED_METRICS, *TEXT_METRICS)
    first, second = run_answers(QUESTIONS, Asked(make_answer()), scorers)
    assert first.figures["faithfulness"] == 1
    assert first.figures["bleu"] == 0.123457
    assert first.failure == "answer_relevancy: The judge was not done in time."
    assert second.figures["bleu"] is None


def test_figures_are_summed_up_over_all_each_kind_and_each_language() -> None:
    questions = (QUESTION, replace(UNANSWERABLE, kind="geographic", language="it"))
    rows = list(run_answers(questions, Asked(make_answer()), Scorers()))
    figures = {(one.group, one.metric): (one.questions, one.mean.value) for one in summarise(rows, METRICS)}
    assert figures["all", "abstention"] == (2, 0.5)
    assert figures["all", "answer_match"] == (1, 0.5)
    assert figures["geographic", "abstention"] == (1, 0)
    assert ("it", "answer_match") not in figures


def test_a_collection_without_a_quoted_document_is_not_measured() -> None:
    require_documents(QUESTIONS, {"1.pdf"})
    with pytest.raises(InputError, match="lacks 1 of the 1 documents"):
        require_documents(QUESTIONS, {"2.pdf"})


def test_the_answer_is_the_last_thing_that_comes() -> None:
    answer = make_answer()
    parts: list[Evidence | str | Answer] = [answer.evidence, "The ", "mayor", answer]
    assert answer_of(iter(parts)) is answer
