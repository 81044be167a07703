"""The page for questions, over a small real collection."""

import json
import re
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from pages._ask.conversations import period_of
from pages._ask.turn_key import turn_key
from pages._shared.markdown import escape_paragraphs
from rag_engine.answering.chances import chance_model
from rag_engine.conversations.answer_jobs import AnswerJobs
from rag_engine.conversations.store import (
    Conversation,
    QuestionSettings,
    Turn,
    TurnRating,
    begin_turn,
    delete_conversation,
    list_conversations,
    new_id,
    read_conversation,
    restore_conversation,
)
from rag_engine.errors import InputError
from tests.pages.conftest import Start, texts
from tests.pages.conversations import citing_two, converse, listing
from tests.present import present
from tests.rag_engine.backends.scripted_server import Reply
from tests.rag_engine.backends.test_openai import serving_model, words
from tests.rag_engine.conversations.test_store import REPLY
from tests.threads import join_threads


def questions(app: AppTest) -> list[str]:
    return [one.value.replace("\\", "") for one in app.header]


def ask(app: AppTest, question: str) -> AppTest:
    return answered(app.chat_input[0].set_value(question).run())


def answered(app: AppTest) -> AppTest:
    """Wait for the answers that are being written, and draw the page again, as a browser does."""
    join_threads("answer ")
    return app.run()


def opened(app: AppTest, workspace: Path) -> Conversation:
    """Return the conversation in the page's address."""
    return present(read_conversation(workspace, app.query_params["conversation"]))


def test_an_empty_collection_points_to_the_library_and_no_question_is_to_be_rephrased(
    start: Start, tmp_path: Path
) -> None:
    app = start(tmp_path / "empty")
    assert "The collection is empty" in texts(app)
    app = ask(app, "Who prepares the plan?")
    assert not app.exception
    said = texts(app).replace("\\", "")
    assert "No document is indexed yet, so there is nothing to search." in said
    assert "Try rephrasing" not in said


def test_a_question_is_answered_with_its_source_and_the_page_and_so_it_is_after_a_reload(
    start: Start, collection: Path
) -> None:
    app = ask(start(collection), "How long does a local flood plan remain valid?")
    for drawn in (app, start(collection, conversation=app.query_params["conversation"])):
        assert not drawn.exception
        assert "six years" in texts(drawn)
        assert any("Flood Act" in one.value for one in drawn.subheader)
        # Beside the answer.
        assert len(drawn.get("image")) == 1
        assert [one.value for one in drawn.radio] == [1]


def test_a_question_is_on_the_page_before_the_sidebar_has_read_the_collection(
    start: Start, collection: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = start(collection)
    with monkeypatch.context() as patch:
        patch.setattr("pages._ask.sidebar.draw_filter", lambda *_arguments: st.stop())
        app.chat_input[0].set_value("Who prepares the plan?").run()
        assert questions(app) == ["Who prepares the plan?"]
        assert "Ask your documents" not in [one.value for one in app.title]


def test_an_answer_that_comes_at_once_is_drawn_with_its_page_in_the_run_of_its_question(
    start: Start, collection: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pages._ask.chat._AT_ONCE_SECONDS", 60.0)
    app = start(collection).chat_input[0].set_value("How long does a local flood plan remain valid?").run()
    assert not app.exception
    assert "six years" in texts(app)
    assert [one.value for one in app.radio] == [1]
    assert not app.chat_input[0].disabled
    assert "Stop" not in [one.label for one in app.button]


def test_a_question_that_is_refused_stays_with_the_reason(
    start: Start, collection: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_arguments: object, **_named: object) -> None:
        raise InputError("An answer is still being written in this conversation.", help="Wait for it, or stop it.")

    app = ask(start(collection), "How long does a local flood plan remain valid?")
    with monkeypatch.context() as patch:
        patch.setattr(AnswerJobs, "start", refuse)
        app.chat_input[0].set_value("Who prepares the plan?").run()
    assert questions(app) == ["How long does a local flood plan remain valid?", "Who prepares the plan?"]
    assert "still being written" in app.error[0].value
    assert "six years" in texts(app)

    app.run()
    assert questions(app) == ["How long does a local flood plan remain valid?"]


def test_an_answer_that_the_server_left_unfinished_says_so_and_can_be_asked_again(
    start: Start, collection: Path
) -> None:
    begun = begin_turn(collection, new_id(), "How long does a local flood plan remain valid?")

    app = start(collection, conversation=begun.id)
    assert "This answer was interrupted when the server stopped." in texts(app)

    answered(app.button(key=f"{turn_key(begun, 0)} again").click().run())
    assert "six years" in texts(app)
    stored = present(read_conversation(collection, begun.id))
    assert len(stored.turns) == 1


def test_a_link_keeps_the_search_settings_and_the_answer_format(start: Start, collection: Path) -> None:
    app = start(collection)
    app.number_input(key="top_k").set_value(5).run()
    app.select_slider(key="similarity_floor").set_value(0.5).run()
    app.selectbox(key="answer format").set_value("Policy measures").run()
    link = {name: app.query_params[name] for name in ("passages", "similarity", "format")}
    assert link == {"passages": "5", "similarity": "0.5", "format": "Policy measures"}
    assert "recipe" not in app.query_params

    other = start(collection, **link)
    assert not other.exception
    assert not other.warning
    assert other.number_input(key="top_k").value == 5
    assert other.select_slider(key="similarity_floor").value == 0.5
    assert other.selectbox(key="answer format").value == "Policy measures"
    other.number_input(key="top_k").set_value(10).run()
    assert "passages" not in other.query_params

    nonsense = start(collection, passages="900", similarity="many", recipe="none", format="Sonnet")
    assert not nonsense.exception
    assert nonsense.number_input(key="top_k").value == 10
    assert nonsense.selectbox(key="answer format").value == ""


def test_nothing_found_is_a_calm_notice(start: Start, collection: Path) -> None:
    app = start(collection)
    app.select_slider(key="similarity_floor").set_value(0.8).run()

    app = ask(app, "Wie wird Käse aus Schafsmilch hergestellt?")

    assert not app.exception
    assert not app.error
    assert any("Dokumenten" in one.value for one in app.info)


def test_a_question_that_no_passage_comes_near_gets_the_nearest_as_such(start: Start, collection: Path) -> None:
    app = start(collection)
    app.select_slider(key="similarity_floor").set_value(0.0).run()

    app = ask(app, "What is the best recipe for carbonara?")

    assert "No answer found in these documents" in texts(app)
    assert "In our tests" not in texts(app)
    [advice] = [one for one in app.caption if one.value == "Try rephrasing\\."]
    rates = present(chance_model(with_reader=True).refusals)
    assert f"refused by mistake: {rates.mistaken} of {rates.answerable} questions with an answer" in advice.help
    assert any(expander.label.endswith(("nearest passage", "nearest passages")) for expander in app.expander)


def test_a_recipe_of_a_paper_and_variety_can_be_chosen(start: Start, collection: Path) -> None:
    app = start(collection)
    app.toggle(key="varied").set_value(True).run()
    assert "six years" in texts(ask(app, "How long does a local flood plan remain valid?"))

    app.selectbox(key="profile").select("statutes").run()
    assert app.toggle(key="varied").disabled
    app = ask(app, "How long does a local flood plan remain valid?")
    assert not app.exception
    assert "3 of 3 documents are not cut as the recipe" in texts(app)


def test_a_hostile_document_is_only_text(start: Start, collection: Path) -> None:
    app = ask(start(collection), "What do the harbour cranes of Rotterdam lift?")

    assert not app.exception
    shown = [line for line in texts(app).splitlines() if "Rotterdam" in line or "evil" in line]
    assert shown
    for line in shown:
        unescaped = re.sub(r"\\.|:small\[]|:[a-z-]+-badge\[|:green-background\[|:material/\w+:", "", line)
        assert not re.search(r"[<>$!]|]\(|//|www\.|:\w", unescaped.replace("](#answer-", "")), line


def test_a_deleted_conversation_leaves_the_list(start: Start, collection: Path) -> None:
    app = ask(start(collection), "How long does a local flood plan remain valid?")
    id = app.query_params["conversation"]

    listing(app, id).button(key=f"delete {id}").click().run()

    assert not app.exception
    assert "conversation" not in app.query_params
    assert read_conversation(collection, id) is None

    next(one for one in app.button if one.label == "Undo").click().run()

    assert not app.exception
    assert app.query_params["conversation"] == id
    assert "six years" in texts(app)


def test_a_conversation_is_renamed_in_the_list(start: Start, collection: Path) -> None:
    app = ask(start(collection), "How long does a local flood plan remain valid?")
    id = app.query_params["conversation"]

    # Typed and clicked before the page is drawn in between, as a fast hand does on a slow machine.
    listing(app, id).text_input(key=f"name {id}").set_value("Flood plans")
    app.button(key=f"name {id} button").click().run()

    assert not app.exception
    assert app.button(key=f"open {id}").label == "Flood plans"


def test_a_question_is_asked_again_with_the_settings_of_its_answer(start: Start, collection: Path) -> None:
    app = start(collection, hazard="Heatwaves", passages="5")
    app = ask(app, "How long is the red alert level valid?")
    key = turn_key(opened(app, collection), 0)
    app.multiselect(key="ask hazard").set_value(["Flood"]).run()
    app.number_input(key="top_k").set_value(7).run()

    answered(app.button(key=f"{key} again").click().run())
    app.text_area(key=f"{key} edited").set_value("How long is red valid?").run()
    answered(app.button(key=f"{key} ask edited").click().run())
    app.checkbox(key=f"{key} same settings").uncheck().run()
    answered(app.button(key=f"{key} ask edited").click().run())

    assert not app.exception
    settings = [turn.settings for turn in opened(app, collection).turns]
    assert [(one.wanted, one.top_k, one.matching) for one in settings if one] == [
        ({"hazard": ("Heatwaves",)}, 5, 1),
        ({"hazard": ("Heatwaves",)}, 5, 1),
        ({"hazard": ("Heatwaves",)}, 5, 1),
        ({"hazard": ("Flood",)}, 7, 1),
    ]
    # Asked as the sidebar says, there is nothing to choose.
    latest = turn_key(opened(app, collection), 3)
    assert f"{latest} same settings" not in [one.key for one in app.checkbox]


def test_a_question_whose_answer_format_is_gone_is_not_asked_again_as_text(start: Start, collection: Path) -> None:
    reply = citing_two(collection)
    settings = QuestionSettings({}, 3, 3, "default", 10, 0.35, form="Rivers")
    stored = Conversation(new_id(), (Turn("Which rivers?", "2026-11-20T10:00:00+00:00", reply, settings=settings),))
    restore_conversation(collection, stored)

    app = start(collection, conversation=stored.id)

    again = app.button(key=f"{turn_key(stored, 0)} again")
    assert again.disabled
    assert "The answer format Rivers is not there any more." in again.help.replace("\\", "")


def test_what_is_edited_chosen_and_opened_in_one_conversation_is_not_so_in_the_next(
    start: Start, collection: Path
) -> None:
    reply = citing_two(collection)
    first = converse(collection, reply, reply, question="Who prepares the plan?")
    other = converse(collection, reply, reply, question="Who pays for it?")
    app = start(collection, conversation=first.id)
    app.session_state[f"{turn_key(first, 0)} cited"] = True
    for area in app.run().text_area:
        area.set_value("Who prepares it in Ireland?")
    for toggle in app.toggle:
        toggle.set_value(toggle.label == "Show the page" or bool(toggle.value))
    app.radio[0].set_value(2).run()
    assert len(app.subheader) == 4
    assert len(app.get("image")) == 5

    listing(app).button(key=f"open {other.id}").click().run()

    assert not app.exception
    assert [one.value for one in app.text_area] == ["Who pays for it?"] * 2
    assert app.radio[0].value == 1
    assert len(app.subheader) == 2
    assert len(app.get("image")) == 1


def test_an_answer_that_is_not_good_is_rated_with_a_reason(start: Start, collection: Path) -> None:
    app = ask(start(collection), "How long does a local flood plan remain valid?")
    key = turn_key(opened(app, collection), 0)

    app.feedback[0].set_value(0).run()
    app.text_input(key=f"{key} rating reason").set_value("It names no act.").run()

    assert not app.exception
    assert opened(app, collection).turns[0].rating == TurnRating(good=False, reason="It names no act.")


def test_a_link_to_no_conversation_begins_a_new_one_and_says_if_it_is_gone(start: Start, collection: Path) -> None:
    said = "This conversation was deleted, belongs to somebody else, or the link is incomplete."
    for id in (new_id(), "../../etc/passwd"):
        app = start(collection, conversation=id)
        assert not app.exception
        assert app.title[0].value == "Ask your documents"
        assert said in texts(app)


def test_a_follow_up_is_asked_in_full_and_can_be_asked_as_it_is_written(start: Start, collection: Path) -> None:
    app = ask(start(collection), "How long does a local flood plan remain valid in Norway?")

    app = ask(app, "And in Ireland?")

    assert not app.exception
    assert "Asked as: How long does a local flood plan remain valid in Ireland" in texts(app)
    assert "Searched for: “How long does a local flood plan remain valid in Ireland" in texts(app)

    answered(app.button(key=f"{turn_key(opened(app, collection), 1)} as written").click().run())

    assert not app.exception
    assert "Searched for: “And in Ireland" in texts(app)
    latest = present(read_conversation(collection, list_conversations(collection)[0].id))
    turns = latest.turns
    assert [(turn.question, bool(turn.rewritten)) for turn in turns[1:]] == [
        ("And in Ireland?", True),
        ("And in Ireland?", False),
    ]


def test_a_question_asked_as_written_can_be_asked_as_a_follow_up(start: Start, collection: Path) -> None:
    in_full = "How long does a local flood plan remain valid? Are there exceptions?"
    begun = begin_turn(collection, new_id(), "Are there exceptions?")
    turn = replace(begun.turns[0], reply=REPLY, in_full=in_full)
    restore_conversation(collection, replace(begun, turns=(turn,)))

    app = start(collection, conversation=begun.id)

    assert "Asked as written. It may also mean: How long does a local flood plan remain valid" in texts(app)
    answered(app.button(key=f"{turn_key(opened(app, collection), 0)} in full").click().run())
    assert not app.exception
    stored = present(read_conversation(collection, begun.id))
    assert [one.question for one in stored.turns] == ["Are there exceptions?", in_full]
    delete_conversation(collection, begun.id)


def test_five_hundred_turns_are_kept_and_the_latest_are_drawn(start: Start, collection: Path) -> None:
    begun = begin_turn(collection, new_id(), "Question 0?")
    long = Conversation(
        begun.id,
        tuple(Turn(f"Question {number}?", f"2026-01-01T00:00:00.{number:06}+00:00", REPLY) for number in range(500)),
    )
    restore_conversation(collection, long)

    app = start(collection, conversation=begun.id)

    assert not app.exception
    drawn = [one.value for one in app.header if one.value.startswith("Question ")]
    assert drawn == [escape_paragraphs(f"Question {number}?") for number in range(497, 500)]

    ask(app, "How long does a local flood plan remain valid?")
    assert escape_paragraphs("Question 497?") in texts(app)
    app.button(key="earlier").click().run()
    assert not app.exception
    assert escape_paragraphs("Question 487?") in texts(app)
    assert escape_paragraphs("Question 486?") not in texts(app)

    stored = present(read_conversation(collection, begun.id))
    assert stored.turns[:500] == long.turns
    assert stored.turns[500].reply is not None
    delete_conversation(collection, begun.id)


def test_a_new_conversation_knows_nothing_of_another(start: Start, collection: Path) -> None:
    ask(start(collection), "How long does a local flood plan remain valid in Norway?")

    app = ask(start(collection), "And in Ireland?")

    assert not app.exception
    assert "Asked as" not in texts(app)
    assert "Norway" not in texts(app)


@pytest.fixture
def answered_by_model(start: Start, own: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[Reply], AppTest]:
    """Return the page after a question that a model planned, and then replied to like this."""

    def answered(reply: Reply) -> AppTest:
        plan = {"query_1": "flood plan", "query_2": "council", "query_3": "plan", "output_instructions": ""}
        with serving_model(monkeypatch, Reply(words(json.dumps(plan | {"geographic_scope": []}))), reply):
            return ask(start(own), "How long does a local flood plan remain valid?")

    return answered


def test_a_model_that_fails_leaves_its_error_and_the_quotations_below(
    answered_by_model: Callable[[Reply], AppTest],
) -> None:
    app = answered_by_model(Reply((b'{"error": {"message": "out of memory"}}',), status=500))

    assert not app.exception
    assert "out of memory" in app.error[0].value
    assert any("six years" in one.value for one in app.markdown)
    assert any("did not answer" in one.value for one in app.markdown)
    assert "Ask again" in [one.label for one in app.button]

    [edited] = app.text_area
    edited.set_value("Who prepares the plan?")
    answered(next(one for one in app.button if one.label == "Ask the question").click().run())

    assert questions(app) == ["How long does a local flood plan remain valid?", "Who prepares the plan?"]


def test_a_model_that_overlooks_an_answer_has_the_quotations_below_its_refusal(
    answered_by_model: Callable[[Reply], AppTest],
) -> None:
    app = answered_by_model(Reply(words("No answer found in these documents.")))

    assert not app.exception
    assert "No answer found" in app.info[0].value
    assert any("six years" in one.value for one in app.markdown)
    assert any("found no answer in them" in one.value for one in app.markdown)


@pytest.fixture
def in_new_zealand(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Have the clock of this machine be thirteen hours ahead."""
    monkeypatch.setenv("TZ", "Pacific/Auckland")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.usefixtures("in_new_zealand")
def test_a_conversation_is_of_the_day_that_this_clock_shows() -> None:
    noon = datetime(2026, 11, 25, 0, tzinfo=UTC)
    assert period_of("2026-11-24T11:30:00+00:00", noon) == "Today"
    assert period_of("2026-11-24T10:30:00+00:00", noon) == "Yesterday"
