"""Rating of an answer: good or not, and why; and keeping its question for tests."""

from __future__ import annotations

import streamlit as st

from pages._ask.keeping import draw_keeping
from pages._ask.turn_key import turn_key
from pages._shared import resources
from pages._shared.interface_language import _
from rag_engine.conversations.store import Conversation, TurnRating, rate_turn


@st.fragment
def draw_rating(conversation: Conversation, number: int) -> None:
    """Draw the thumbs below an answer, and for one that is not good the input for the reason, and the test question."""
    id, turn = conversation.id, conversation.turns[number]
    key = f"{turn_key(conversation, number)} rating"
    if turn.rating is not None:
        st.session_state.setdefault(key, int(turn.rating.good))
    with st.container(horizontal=True, vertical_alignment="center"):
        st.feedback("thumbs", key=key, on_change=_rate, args=(id, turn.asked, key))
        if st.session_state.get(key) == 0:
            st.text_input(
                _("What is wrong with it?"),
                turn.rating.reason if turn.rating else "",
                key=f"{key} reason",
                max_chars=500,
                placeholder=_("What is wrong with it?"),
                label_visibility="collapsed",
                on_change=_rate,
                args=(id, turn.asked, key),
            )
        draw_keeping(id, turn, key)


def _rate(id: str, asked: str, key: str) -> None:
    thumb = st.session_state.get(key)
    rating = None
    if thumb is not None:
        reason = "" if thumb else str(st.session_state.get(f"{key} reason", "")).strip()
        rating = TurnRating(bool(thumb), reason)
    rate_turn(resources.workspace(), id, asked, rating, resources.person())
