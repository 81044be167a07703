"""Keeping the question of an answer as a test question, with the quotations that answer it."""

from __future__ import annotations

import streamlit as st

from ingestion.acts.evaluation import is_kept_answer, keep_answer, remove_questions
from pages._shared import resources
from pages._shared.accessibility import in_language
from pages._shared.elements import act_button, translated_dialog
from pages._shared.errors import show_errors
from pages._shared.filter_widgets import WORDING
from pages._shared.interface_language import _, to_translate
from pages._shared.markdown import escape
from rag_engine.answering.reference_list import references_of
from rag_engine.conversations.quotation_answers import answering_quotations
from rag_engine.conversations.reply import Reply
from rag_engine.evaluation.answers.test_questions import answer_id
from rag_engine.text.excerpt import beginning
from rag_engine.text.neutralise import one_line
from rag_engine.types.answer import Citation

# Characters of a quotation to choose by.
_EXCERPT = 400


def draw_kept(conversation: str, asked: str, key: str) -> bool:
    """Draw that the question of an answer is kept, with the way back; return whether it is."""
    if not is_kept_answer(resources.context(), conversation, asked):
        return False
    st.caption(_(":material/check: Kept as a test question"), width="content")
    if act_button("remove_questions", _("Undo"), icon=":material/undo:", type="tertiary", key=f"{key} unkeep"):
        remove_questions(resources.context(), [answer_id(conversation, asked)])
        st.rerun()
    return True


def draw_keeping(conversation: str, asked: str, key: str, question: str, reply: Reply) -> None:
    """Draw the button that keeps the question of an answer, once a person has said what answers it."""
    if act_button(
        "keep_answer",
        _("Keep as a test question"),
        icon=":material/fact_check:",
        type="tertiary",
        key=f"{key} keep",
        help=_("Keeps the question with its filters for the Evaluation page. You say which quotations answer it."),
    ):
        _choose_quotations(conversation, asked, key, question, reply)


@translated_dialog(to_translate("Keep as a test question"), width="large", icon=":material/fact_check:")
def _choose_quotations(conversation: str, asked: str, key: str, question: str, reply: Reply) -> None:
    st.markdown(f"**{escape(question)}**")
    st.markdown(_("Which of these quotations answer the question? A test expects them and no others."))
    likely, none = answering_quotations(reply), f"{key} absent"
    absent = bool(st.session_state.get(none))
    ticked = [
        number
        for number, citation in enumerate(reply.citations)
        if _draw_quotation(citation, f"{key} {number}", ticked=number in likely, disabled=absent)
    ]
    st.checkbox(_("None of them: the answer is not in the collection"), key=none)
    st.caption(_("If another passage answers, write the question on the Evaluation page."))
    label = _("Keep as a test question")
    if act_button("keep_answer", label, key=f"{key} chosen", type="primary", disabled=not (absent or ticked)):
        with show_errors():
            keep_answer(resources.context(), conversation, asked, () if absent else ticked)
            st.rerun()


def _draw_quotation(citation: Citation, key: str, *, ticked: bool, disabled: bool) -> bool:
    """Draw a quotation with its place, and return whether a person says that it answers."""
    [reference] = references_of([citation])
    with st.container(border=True):
        with in_language(resources.document_language(citation.document_id), f"{key} words"):
            # A box of its own, so that a quotation that does not count has no tick.
            said: bool = st.checkbox(
                escape(beginning(one_line(citation.quote, limit=None), _EXCERPT)),
                ticked and not disabled,
                key=f"{key} off" if disabled else key,
                disabled=disabled,
            )
        with st.container(horizontal=True, vertical_alignment="center"):
            if ticked and not disabled:
                st.badge(_("Answers the question"), icon=":material/check:", color="green")
            st.caption(escape(reference.describe(WORDING)), width="stretch")
    return said
