"""The page of the workspace's own test questions, from a kept answer to two runs compared."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import Button

from ingestion.acts.context import ActContext, local_person, open_context
from ingestion.acts.evaluation import exported_feedback, list_feedback, queue_test
from ingestion.worker import work
from rag_engine.config import read_config
from rag_engine.conversations.feedback import rated_answers
from rag_engine.conversations.store import (
    Conversation,
    Turn,
    TurnRating,
    list_conversations,
    rate_turn,
    read_conversation,
    restore_conversation,
)
from rag_engine.engine import open_engine
from rag_engine.evaluation.answers.questions import AnswerQuestion
from rag_engine.evaluation.answers.test_questions import change_test_questions, read_test_questions
from rag_engine.evaluation.gold import Quote
from tests.pages.conftest import Start, texts
from tests.pages.test_admin import admin
from tests.pages.test_ask import ask
from tests.rag_engine.conversations.test_store import REPLY

LASTS = "How long does a local flood plan remain valid?"
LONG = AnswerQuestion(
    "long", "en", "", LASTS, "", (Quote("flood-act.txt", 1, "A local flood plan remains valid for six years."),), ()
)
CUP = AnswerQuestion("cup", "en", "", "Who won the football world cup in 2014?", "", (), ())


def write(workspace: Path, *questions: AnswerQuestion) -> None:
    change_test_questions(workspace, lambda _: questions)


@contextmanager
def context_at(workspace: Path) -> Iterator[ActContext]:
    engine = open_engine(read_config(workspace))
    yield replace(open_context(engine, local_person("Ada")), start_worker=lambda _: None)
    engine.close()


def test_without_questions_the_page_says_where_they_come_from(start: Start, own: Path) -> None:
    page = start(own).switch_page("pages/evaluation.py").run()
    assert not page.exception
    assert "Keep as a test question" in texts(page)
    assert page.button(key="test now").disabled


def choosing(app: AppTest) -> AppTest:
    """Draw the page with the choice of quotations open: outside a browser each run has to open it again."""
    [keep] = [one for one in app.button if str(one.key).endswith(" keep")]
    app = keep.click().run()
    assert not app.exception
    return app


def saving(app: AppTest) -> Button:
    """Return the button of the open dialog that keeps the question."""
    return next(one for one in app.button if str(one.key).endswith(" chosen"))


def test_an_answer_is_kept_with_the_quotation_that_answers_and_undone(start: Start, own: Path) -> None:
    app = choosing(ask(start(own), LASTS))
    assert read_test_questions(own) == ()
    said = app.checkbox[0]
    assert "six years" in said.label
    assert said.value
    saving(app).click()
    app = choosing(app)
    [kept] = read_test_questions(own)
    assert kept.question == LASTS
    assert kept.language == "en"
    assert kept.passages[0].document == "flood-act.txt"
    assert "six years" in kept.passages[0].quote
    [undo] = [one for one in app.button if one.label == "Undo"]
    undo.click().run()
    assert not app.exception
    assert read_test_questions(own) == ()


def test_nothing_is_ticked_where_no_quotation_answers_and_nothing_kept_before_a_choice(start: Start, own: Path) -> None:
    start(own)
    doubtful = replace(REPLY, ground="doubtful")
    turn = Turn("How long?", "2026-11-25T10:00:00", doubtful)
    restore_conversation(own, Conversation("0" * 31 + "1", (turn,)))
    app = choosing(start(own, conversation="0" * 31 + "1"))
    quotation, _absent = app.checkbox
    assert not quotation.value
    assert saving(app).disabled
    quotation.check()
    assert not saving(choosing(app)).disabled
    app.checkbox[0].uncheck()
    app.checkbox[1].check()
    app = choosing(app)
    assert app.checkbox[0].disabled
    saving(app).click()
    choosing(app)
    [kept] = read_test_questions(own)
    assert not kept.answerable


def test_answers_rated_good_are_taken_over_in_bulk(start: Start, own: Path) -> None:
    ask(start(own), LASTS)
    [summary] = list_conversations(own)
    conversation = read_conversation(own, summary.id)
    assert conversation is not None
    rate_turn(own, summary.id, conversation.turns[0].asked, TurnRating(good=True))
    [rated] = rated_answers(own)
    assert (rated.question, rated.rating.good, rated.cites, rated.refused) == (LASTS, True, True, False)
    page = start(own).switch_page("pages/evaluation.py").run()
    page.button(key="keep good").click().run()
    assert [one.question for one in read_test_questions(own)] == [LASTS]
    assert "keep good" not in [one.key for one in page.button]
    page.button(key="test questions undo").click().run()
    assert read_test_questions(own) == ()


def test_a_question_is_removed_and_comes_back_at_its_place(start: Start, own: Path) -> None:
    write(own, LONG, CUP)
    page = start(own).switch_page("pages/evaluation.py").run()
    assert "1 with an answer in the collection, 1 without" in texts(page)
    page.button(key="remove long").click().run()
    assert [one.id for one in read_test_questions(own)] == ["cup"]
    page.button(key="test questions undo").click().run()
    assert [one.id for one in read_test_questions(own)] == ["long", "cup"]


def test_a_run_is_shown_with_intervals_and_two_are_compared(start: Start, own: Path) -> None:
    write(own, LONG, CUP)
    for _ in range(2):
        with context_at(own) as context:
            queue_test(context)
            work(context.engine)
    page = start(own).switch_page("pages/evaluation.py").run()
    assert not page.exception
    table = page.dataframe[0].value
    assert list(table["Measure"]) == [
        "Evidence found",
        "Evidence cited",
        "First quotation right",
        "Rightly refused",
    ]
    assert list(table["Right"]) == ["1 of 1"] * 4
    assert table["95% interval"][0] == "21% to 100%"
    assert "2 questions: any difference between two runs may be chance" in texts(page)
    page.selectbox(key="evaluation other run").select_index(0).run()
    assert not page.exception
    assert "**0 better**, **0 worse** and 2 just as well" in texts(page)
    assert "made with the same settings" in texts(page)
    assert page.dataframe[0].value["Difference"].tolist() == ["none"] * 4


def test_feedback_is_listed_filtered_kept_and_leads_to_the_answer(start: Start, own: Path) -> None:
    turns = tuple(
        Turn(f"How long is plan {number} valid?", f"2026-11-25T10:0{number}:00", REPLY, rating=rating)
        for number, rating in enumerate([TurnRating(good=True), TurnRating(good=False, reason="Wrong act."), None])
    )
    restore_conversation(own, Conversation("0" * 31 + "1", turns))
    app = admin(start(own), "feedback")
    assert not app.exception
    assert "“Wrong act\\.”" in texts(app)
    assert "plan 2" not in texts(app)
    app.button_group(key="feedback kind").set_value("good").run()
    assert "Wrong act" not in texts(app)
    app = choosing(app)
    app.checkbox[0].check()
    app = choosing(app)
    saving(app).click()
    app = choosing(app)
    assert [one.question for one in read_test_questions(own)] == ["How long is plan 0 valid?"]
    assert "Kept as a test question" in texts(app)
    with context_at(own) as context:
        lines = exported_feedback(list_feedback(context)).decode("utf-8-sig").splitlines()
    assert [line.split(",")[1] for line in lines] == ["Rating", "bad", "good"]


def test_a_link_to_an_answer_draws_it_however_far_back_it_is(start: Start, own: Path) -> None:
    turns = tuple(Turn(f"Is plan {n} valid?", f"2026-11-25T10:00:{n:02}", REPLY) for n in range(12))
    id = "0" * 31 + "1"
    restore_conversation(own, Conversation(id, turns))
    assert "Is plan 0 valid" not in texts(start(own, conversation=id))
    app = start(own, conversation=id, asked=turns[0].asked)
    assert not app.exception
    assert "Is plan 0 valid" in texts(app)
