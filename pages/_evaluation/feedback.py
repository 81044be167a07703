"""Feedback tab: ratings of answers, with the way to each, and good ones kept as test questions."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from ingestion.acts.evaluation import (
    exported_feedback,
    list_feedback,
)
from pages._ask.keeping import draw_keeping, draw_kept
from pages._evaluation.editor import edit_question
from pages._shared import resources
from pages._shared.elements import act_button, draw_download, draw_more
from pages._shared.errors import show_errors
from pages._shared.filter_widgets import WORDING
from pages._shared.interface_language import _, to_translate
from pages._shared.markdown import answer_markdown, escape, quoted
from pages._shared.numbers_and_dates import moment, number
from rag_engine.answering.reference_list import references_of
from rag_engine.conversations.feedback import RatedAnswer
from rag_engine.conversations.reply import Reply

# Ratings drawn at once.
_SHOWN = 30
_MOST = "feedback shown"
_KINDS = {
    "all": to_translate("All ({n})"),
    "good": to_translate(":material/thumb_up: Good ({n})"),
    "bad": to_translate(":material/thumb_down: Bad ({n})"),
}


def draw_feedback() -> None:
    """Draw the ratings, the latest first, as they are filtered."""
    with show_errors():
        found = list_feedback(resources.context())
        if not found:
            st.info(
                _("No feedback yet. The thumbs below an answer on the Ask page rate it."), icon=":material/thumb_up:"
            )
            return
        shown = _draw_filter(found)
        most: int = st.session_state.setdefault(_MOST, _SHOWN)
        for answer in shown[:most]:
            with st.container(border=True, key=f"rating {answer.conversation} {answer.asked}"):
                _draw_rating(answer)
        if len(shown) > most:
            label = _("Show more ratings ({n})").format(n=number(len(shown) - most))
            draw_more(_MOST, label, most + _SHOWN)


def _draw_filter(found: Sequence[RatedAnswer]) -> list[RatedAnswer]:
    good = sum(answer.rating.good for answer in found)
    counts = {"all": len(found), "good": good, "bad": len(found) - good}
    with st.container(horizontal=True, vertical_alignment="center"):
        chosen = st.segmented_control(
            _("Rated"),
            list(_KINDS),
            default="all",
            key="feedback kind",
            format_func=lambda kind: _(_KINDS[kind]).format(n=number(counts[kind])),
            required=True,
            label_visibility="collapsed",
        )
        shown = [answer for answer in found if chosen == "all" or answer.rating.good == (chosen == "good")]
        draw_download(_("Export CSV"), lambda: exported_feedback(shown), "feedback.csv", "export feedback")
    return shown


def _draw_rating(answer: RatedAnswer) -> None:
    key = f"{answer.conversation} {answer.asked}"
    sign = ":green[:material/thumb_up:]" if answer.rating.good else ":red[:material/thumb_down:]"
    st.markdown(f"{sign} **{escape(answer.question)}**")
    if answer.rating.reason:
        st.markdown(quoted(escape(answer.rating.reason)))
    if answer.reply is not None and not answer.is_open:
        _draw_reply(answer.reply)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(moment(answer.asked), width="content")
        if answer.by:
            st.caption(_(":material/person: Rated by {name}").format(name=escape(answer.by)), width="content")
        if answer.is_open:
            st.page_link(
                "pages/ask.py",
                label=_("Open the answer"),
                icon=":material/forum:",
                query_params={"conversation": answer.conversation, "asked": answer.asked},
            )
        if draw_kept(answer.conversation, answer.asked, key):
            return
        if answer.rating.good and answer.reply is not None and (answer.cites or answer.refused):
            draw_keeping(answer.conversation, answer.asked, key, answer.question, answer.reply)
        elif act_button(
            "put_question",
            _("Write a test question"),
            key=f"write {key}",
            icon=":material/fact_check:",
            type="tertiary",
            help=_("With the passage that should have been cited; the passages of this answer are not copied."),
        ):
            edit_question(None, answer.question)


def _draw_reply(reply: Reply) -> None:
    """Draw an answer of another person's conversation: its words and citations, without passages."""
    with st.expander(_("Answer"), icon=":material/forum:"):
        st.markdown(answer_markdown(reply.text, lambda n: escape(f"[{n}]")))
        for cited in references_of(reply.citations):
            marks = "".join(f"[{n}]" for n in cited.numbers)
            st.caption(escape(f"{marks} {cited.describe(WORDING)}"))
