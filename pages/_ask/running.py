"""Watching of a conversation: the answer that is being written, and what is asked from elsewhere."""

from __future__ import annotations

from contextlib import suppress

import streamlit as st

from pages._ask.answer import partial_answer
from pages._shared import resources
from pages._shared.accessibility import spoken_status
from pages._shared.filter_widgets import WORDING
from pages._shared.interface_language import _
from pages._shared.markdown import escape, escape_paragraphs
from pages._shared.numbers_and_dates import counted, duration
from pages._shared.page_names import title_place
from rag_engine.controller.describe import describe_step
from rag_engine.conversations.answer_jobs import AnswerProgress
from rag_engine.conversations.reply import ShownSource
from rag_engine.conversations.store import CONVERSATIONS, Conversation, read_conversation
from rag_engine.errors import SextantError

LOOK_SECONDS = 0.3
# Between looks whether another tab, or somebody else, has asked here.
IDLE_SECONDS = 3.0
_LOOKED_AT = "conversation looked at"
# Titles shown while the words are waited for; the others are counted.
_TITLES = 5


def watch(id: str) -> None:
    """Draw how far the answer of a conversation has come; without one, draw the page again."""
    jobs = resources.answer_jobs()
    progress = jobs.progress(id, resources.person())
    if progress is None:
        st.rerun()
    if progress.rewritten:
        st.caption(asked_as(progress.rewritten))
    with st.container(horizontal=True, vertical_alignment="center"):
        with spoken_status(id):
            st.markdown(f":material/progress_activity: {_stage(progress)} · {duration(progress.seconds)}")
        st.button(
            _("Stop"),
            icon=":material/stop_circle:",
            key=f"stop {id}",
            on_click=jobs.stop,
            args=(id, resources.person()),
        )
    for step in progress.steps:
        st.caption(escape_paragraphs(describe_step(step, WORDING)))
    if progress.text:
        st.markdown(partial_answer(progress.text))
    elif progress.sources:
        _draw_titles(progress.sources)


def await_change(drawn: Conversation) -> None:
    """Draw the page again if the conversation has another question or answer than was drawn.

    The conversation is read only if its file was written since the last look, as it is for a rating too.
    """
    workspace = resources.workspace()
    state = drawn.id, CONVERSATIONS.version(workspace, drawn.id)
    if st.session_state.get(_LOOKED_AT) == state:
        return
    now = None
    # Why it cannot be read any more is said where the page is drawn.
    with suppress(SextantError):
        now = read_conversation(workspace, drawn.id, resources.person())
    if now is None or _shown(now) != _shown(drawn):
        st.rerun()
    st.session_state[_LOOKED_AT] = state


def _shown(conversation: Conversation) -> tuple[tuple[str, bool], ...]:
    """Return each question by the time it was asked, and whether it is answered."""
    return tuple((turn.asked, turn.reply is not None) for turn in conversation.turns)


def asked_as(rewritten: str) -> str:
    """Return the markdown of what is asked in the place of a follow-up question.

    >>> asked_as("Who pays for the dikes")
    ':material/subdirectory_arrow_right: Asked as: Who pays for the dikes'
    """
    return _(":material/subdirectory_arrow_right: Asked as: {question}").format(question=escape(rewritten))


def may_mean(in_full: str) -> str:
    """Return the markdown of what a question asked as it is written may mean as a follow-up.

    >>> may_mean("Who pays for the dikes")
    ':material/subdirectory_arrow_right: Asked as written. It may also mean: Who pays for the dikes'
    """
    said = _(":material/subdirectory_arrow_right: Asked as written. It may also mean: {question}")
    return said.format(question=escape(in_full))


def _stage(progress: AnswerProgress) -> str:
    if progress.stopping:
        return _("Stopping …")
    match progress.stage:
        case "searching":
            return describe_step(progress.steps[-1], WORDING) if progress.steps else _("Searching your documents …")
        case "writing":
            return _("Writing the answer …")
        case "reading":
            documents = len({source.document_id for source in progress.sources})
            if not documents:
                return _("No relevant passage found.")
            return _("Reading {passages} from {documents} …").format(
                passages=counted("{n} passage", "{n} passages", len(progress.sources)),
                documents=counted("{n} document", "{n} documents", documents),
            )


def _draw_titles(sources: tuple[ShownSource, ...]) -> None:
    """Draw what is being read, before the first words come."""
    lines = [
        f":green-badge[{source.n}] {escape(title_place(source.title, source.file, source.named_pages([source.page])))}"
        for source in sources[:_TITLES]
    ]
    if (more := len(sources) - _TITLES) > 0:
        lines.append(counted("and {n} more", "and {n} more", more))
    st.caption("  \n".join(lines))
