"""A conversation: what was said, and the next question."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from pages._shared import resources
from pages._shared.asking import ask, draw_question, scroll_to_question
from pages._shared.conversations import new_id, read_conversation
from pages._shared.evidence import draw_reply
from pages._shared.records import Conversation
from pages._shared.trouble import told
from pages._shared.welcome import draw_welcome
from rag_engine.config import RetrievalConfig
from rag_engine.engine import Engine
from rag_engine.filters import Filter

_LOOK_SECONDS = 2.0


def current_conversation(workspace: Path) -> Conversation:
    """The conversation that the address names, else a new one."""
    with told():
        found = read_conversation(workspace, st.query_params.get("conversation", ""))
        if found is not None:
            return found
    return Conversation(new_id(), ())


def draw_chat(engine: Engine, conversation: Conversation, wanted: Filter, retrieval: RetrievalConfig) -> None:
    """Nothing; draws the conversation, takes the next question and answers it."""
    # Placed by hand: where Streamlit places it, the page also jumps to its end, past the answer to the last source.
    with st.bottom:
        typed = st.chat_input(
            "Ask a question about your documents", max_chars=engine.config.question_characters, submit_mode="stop"
        )
    chosen = "" if conversation.turns or typed else draw_welcome(engine)
    last = len(conversation.turns) - 1
    for number in range(len(conversation.turns)):
        again = _draw_turn(conversation, number, latest=number == last and not typed)
        chosen = again or chosen
    if conversation.turns and not typed:
        scroll_to_question(last)
    question = (typed or chosen or "").strip()
    if question:
        # The address first: a browser that reloads now finds the question, and soon its answer.
        st.query_params["conversation"] = conversation.id
        with told():
            ask(engine, conversation, question, wanted, retrieval)
            st.rerun()


def _draw_turn(conversation: Conversation, number: int, *, latest: bool) -> str:
    """The question if it is to be asked again, else nothing; draws question and reply."""
    turn = conversation.turns[number]
    draw_question(turn.question, number)
    with st.chat_message("assistant", avatar=":material/explore:"):
        if turn.reply is not None:
            draw_reply(turn.reply, number, latest=latest)
            return ""
        st.info("This answer is still being written, or was broken off.", icon=":material/hourglass_empty:")
        st.fragment(_await_reply, run_every=_LOOK_SECONDS)(conversation)
        return (
            turn.question if latest and st.button("Ask again", icon=":material/refresh:", key=f"again {number}") else ""
        )


def _await_reply(conversation: Conversation) -> None:
    found = read_conversation(resources.workspace(), conversation.id)
    if found is not None and found.turns[-1:] != conversation.turns[-1:]:
        st.rerun()
