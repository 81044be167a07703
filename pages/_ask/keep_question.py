"""One click that keeps an answered question as a test question, and undoes it."""

from __future__ import annotations

import streamlit as st

from ingestion.acts.evaluation import is_kept_answer, keep_answer, remove_questions
from pages._shared import resources
from pages._shared.elements import act_button
from pages._shared.errors import show_errors
from pages._shared.interface_language import _
from rag_engine.conversations.store import Turn
from rag_engine.evaluation.answers.test_questions import answer_id


def draw_keeping(conversation: str, turn: Turn, key: str) -> None:
    """Draw the button that keeps the question, or the way back; none where the answer cites nothing."""
    refused = turn.reply is not None and turn.reply.status == "insufficient_evidence"
    if turn.reply is None or not (turn.reply.citations or refused):
        return
    with show_errors():
        if is_kept_answer(resources.context(), conversation, turn.asked):
            st.caption(_(":material/check: Kept as a test question"), width="content")
            if act_button("remove_questions", _("Undo"), icon=":material/undo:", type="tertiary", key=f"{key} unkeep"):
                remove_questions(resources.context(), [answer_id(conversation, turn.asked)])
                st.rerun()
            return
        help = (
            _("The test expects no answer in the collection.")
            if refused
            else _("Keeps the question, its filters and the cited passages for the Evaluation page.")
        )
        if act_button(
            "keep_answer",
            _("Keep as a test question"),
            icon=":material/fact_check:",
            type="tertiary",
            key=f"{key} keep",
            help=help,
        ):
            keep_answer(resources.context(), conversation, turn.asked)
            st.rerun()
