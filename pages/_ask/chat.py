"""A conversation: its turns, and the next question."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import streamlit as st

from ingestion.status.views import pluralised
from pages._ask.answer import draw_reply, partial_answer
from pages._ask.form import fill_in
from pages._ask.welcome import draw_welcome
from pages._shared import resources
from pages._shared.errors import show_errors
from pages._shared.markdown import escape, escape_paragraphs
from rag_engine.answering.structured.answer_schema import AnswerSchema
from rag_engine.config import RetrievalConfig
from rag_engine.controller.describe import describe_step
from rag_engine.conversations import Conversation, begin_turn, exchanges, new_id, read_conversation, record_reply
from rag_engine.engine import Engine
from rag_engine.filters import Filter
from rag_engine.planning.rewriting import FollowUp
from rag_engine.types import Answer, ControllerStep, Evidence, StructuredAnswer
from rag_engine.waiting import while_waiting

_SCROLL = """<script>
for (const question of document.querySelectorAll(".st-key-question-%d")) {
  question.style.scrollMarginTop = "4rem";
  question.scrollIntoView({block: "start"});
}
</script>"""


def draw_question(question: str, turn: int, *, rewritten: str = "", latest: bool = False) -> bool:
    """Draw a question and what was asked in its place; return whether the latest is to be asked as it is written."""
    with st.container(key=f"question-{turn}"), st.chat_message("user", avatar=":material/person:"):
        st.markdown(escape_paragraphs(question))
        if rewritten:
            with st.container(horizontal=True, vertical_alignment="center"):
                st.caption(_asked_as(rewritten), width="content")
                return latest and st.button("Ask as written", icon=":material/undo:", type="tertiary", key=f"as {turn}")
    return False


def _asked_as(rewritten: str) -> str:
    return f":material/subdirectory_arrow_right: Asked as: {escape(rewritten)}"


def scroll_to_question(turn: int) -> None:
    """Scroll a question to the top of the window, once; Streamlit has no way to do so but a script."""
    st.html(_SCROLL % int(turn), unsafe_allow_javascript=True)


def ask(
    engine: Engine,
    before: Conversation,
    question: str,
    wanted: Filter,
    retrieval: RetrievalConfig,
    schema: AnswerSchema | None,
    *,
    as_written: bool = False,
) -> None:
    """Draw the answer while it is written, and add question and answer to the conversation.

    A question that leans on those before it is rewritten, unless it fills in a form or is to be asked as written.
    """
    workspace = engine.config.workspace
    begun = begin_turn(workspace, before.id, question)
    # Below those drawn already, of which one that was interrupted now makes way.
    turn = len(before.turns)
    draw_question(question, turn)
    scroll_to_question(turn)
    # Streamlit ends the script of an answer that is cancelled: nothing else would then draw what became of it.
    st.fragment(_await_reply, run_every=_LOOK_SECONDS)(begun)
    rewritten, text = st.empty(), ""
    leant_on = () if as_written else exchanges(before)
    asked: Iterator[FollowUp | ControllerStep | Evidence | str | Answer | StructuredAnswer]
    if schema:
        asked = fill_in(engine, question, schema, wanted, retrieval)
    else:
        asked = engine.ask_next(question, leant_on, wanted, retrieval)
    # Closed also when the person cancels: Streamlit then ends this script at the next thing it draws.
    recorded = closing(record_reply(workspace, begun, asked))
    with st.chat_message("assistant", avatar=":material/explore:"), recorded as parts:
        label = "Searching your documents …"
        status = st.status(label, type="compact")
        words = st.empty()
        # Drawing is also how a person's wish to cancel gets here while a model is slow.
        with while_waiting(lambda seconds: status.update(label=f"{label} {seconds:.0f} s")):
            for part in parts:
                match part:
                    case ControllerStep():
                        line = describe_step(part)
                        label = f"{line} …"
                        status.caption(escape_paragraphs(line))
                    case FollowUp():
                        rewritten.caption(_asked_as(part.question))
                    case Evidence():
                        label = _found(part)
                    case str():
                        label = "Writing the answer …"
                        text += part
                        words.markdown(partial_answer(text))
                status.update(label=label)


def _found(evidence: Evidence) -> str:
    documents = {hit.document.key for hit in evidence.hits}
    if not documents:
        return "No relevant passage found."
    return f"Reading {pluralised(len(evidence.hits), 'passage')} from {pluralised(len(documents), 'document')} …"


_LOOK_SECONDS = 2.0
# Turns drawn at once: each has all its sources, and a long conversation would take minutes.
_LATEST_TURNS = 10


def current_conversation(workspace: Path) -> Conversation:
    """Return the conversation that the address names, else a new one."""
    with show_errors():
        found = read_conversation(workspace, st.query_params.get("conversation", ""))
        if found is not None:
            return found
    return Conversation(new_id(), ())


def draw_chat(
    engine: Engine,
    conversation: Conversation,
    wanted: Filter,
    retrieval: RetrievalConfig,
    schema: AnswerSchema | None = None,
) -> None:
    """Draw the conversation, take the next question and answer it."""
    # Placed by hand: where Streamlit places it, the page also jumps to its end, past the answer to the last source.
    with st.bottom:
        typed = st.chat_input(
            "Ask a question about your documents", max_chars=engine.config.question_characters, submit_mode="stop"
        )
    chosen, as_written = "" if conversation.turns or typed else draw_welcome(engine), False
    last = len(conversation.turns) - 1
    for number in range(_draw_earlier(conversation), len(conversation.turns)):
        again, written = _draw_turn(conversation, number, latest=number == last and not typed)
        chosen, as_written = again or chosen, as_written or written
    if conversation.turns and not typed:
        scroll_to_question(last)
    question = (typed or chosen or "").strip()
    if question:
        # The address first: a browser that reloads now finds the question, and soon its answer.
        st.query_params["conversation"] = conversation.id
        with show_errors():
            ask(engine, conversation, question, wanted, retrieval, schema, as_written=as_written)
            st.rerun()


def _draw_earlier(conversation: Conversation) -> int:
    """Draw the button for the turns before the latest ones, if there are more; return the number of the first shown."""
    key = f"shown {conversation.id}"
    shown: int = st.session_state.setdefault(key, _LATEST_TURNS)
    hidden = max(len(conversation.turns) - shown, 0)
    if hidden:
        label = f"Show earlier questions ({hidden})"
        st.button(
            label, icon=":material/expand_less:", type="tertiary", key="earlier", on_click=_show_more, args=(key,)
        )
    return hidden


def _show_more(key: str) -> None:
    st.session_state[key] += _LATEST_TURNS


def _draw_turn(conversation: Conversation, number: int, *, latest: bool) -> tuple[str, bool]:
    """Draw a question and its reply; return the question if it is to be asked again, and whether as it is written."""
    turn = conversation.turns[number]
    as_written = draw_question(turn.question, number, rewritten=turn.rewritten, latest=latest)
    with st.chat_message("assistant", avatar=":material/explore:"):
        if turn.reply is None:
            st.info("Still working on this answer …", icon=":material/hourglass_empty:")
            st.fragment(_await_reply, run_every=_LOOK_SECONDS)(conversation)
        else:
            draw_reply(turn.reply, number, latest=latest)
        unanswered = turn.reply is None or turn.reply.status == "error"
        again = unanswered and latest and st.button("Ask again", icon=":material/refresh:", key=f"again {number}")
        return turn.question if again or as_written else "", as_written


def _await_reply(conversation: Conversation) -> None:
    found = read_conversation(resources.workspace(), conversation.id)
    if found is not None and found.turns[-1:] != conversation.turns[-1:]:
        st.rerun()
