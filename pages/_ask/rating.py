"""Rating of an answer: good or not, and why; and keeping its question for tests."""

from __future__ import annotations

import streamlit as st

from ingestion.acts.evaluation import is_shared_rating, share_rating
from pages._ask.keeping import draw_keeping, draw_kept
from pages._ask.turn_key import turn_key
from pages._shared import resources
from pages._shared.elements import when_changed
from pages._shared.errors import show_errors, showing_errors
from pages._shared.interface_language import _
from rag_engine.conversations.store import Conversation, TurnRating, rate_turn


@st.fragment
def draw_rating(conversation: Conversation, number: int) -> None:
    """Draw the thumbs below an answer, with sharing, reason and test question."""
    id, turn = conversation.id, conversation.turns[number]
    key = f"{turn_key(conversation, number)} rating"
    if turn.rating is not None:
        st.session_state.setdefault(key, int(turn.rating.good))
    thumb = st.session_state.get(key)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.feedback("thumbs", key=key, on_change=when_changed(key, thumb, _rate, id, turn.asked, key))
        if resources.person().key and st.session_state.get(key) is not None:
            _draw_sharing(id, turn.asked, f"{key} shared")
        if st.session_state.get(key) == 0:
            reason = f"{key} reason"
            kept = turn.rating.reason if turn.rating else ""
            st.text_input(
                _("What is wrong with it?"),
                kept,
                key=reason,
                max_chars=500,
                placeholder=_("What is wrong with it?"),
                label_visibility="collapsed",
                on_change=when_changed(reason, st.session_state.get(reason, kept), _rate, id, turn.asked, key),
            )
        if turn.reply is not None and turn.reply.status != "error":
            with show_errors():
                if not draw_kept(id, turn.asked, key):
                    draw_keeping(id, turn.asked, key, turn.rewritten or turn.question, turn.reply)


def _draw_sharing(id: str, asked: str, key: str) -> None:
    # As it is kept now: the turn that this part of the page was drawn with may be older than the rating.
    st.session_state[key] = is_shared_rating(resources.context(), id, asked)
    st.toggle(
        _("Let admins see it"),
        key=key,
        help=_(
            "They see this rating with its question and answer, and can keep these as a test question. "
            "The rest of the conversation stays yours."
        ),
        on_change=when_changed(
            key,
            st.session_state[key],
            showing_errors(lambda: share_rating(resources.context(), id, asked, shared=st.session_state[key])),
        ),
    )


def _rate(id: str, asked: str, key: str) -> None:
    thumb = st.session_state.get(key)
    rating = None
    if thumb is not None:
        reason = "" if thumb else str(st.session_state.get(f"{key} reason", "")).strip()
        rating = TurnRating(bool(thumb), reason)
    rate_turn(resources.workspace(), id, asked, rating, resources.person())
