"""An answer that is being written, as the page watches it."""

from __future__ import annotations

import streamlit as st

from pages._ask.answer import partial_answer
from pages._shared import resources
from pages._shared.accessibility import spoken_status
from pages._shared.filter_widgets import WORDING
from pages._shared.interface_language import _
from pages._shared.markdown import escape, escape_paragraphs
from pages._shared.numbers_and_dates import counted, duration
from pages._shared.shown_names import page_place
from rag_engine.controller.describe import describe_step
from rag_engine.conversations.answer_jobs import AnswerProgress
from rag_engine.conversations.reply import ShownSource

LOOK_SECONDS = 0.3
# Titles shown while the words are waited for; the others are counted.
_TITLES = 5


def watch(id: str) -> None:
    """Draw how far the answer of a conversation has come; draw the page anew once there is none any more."""
    jobs = resources.answer_jobs()
    progress = jobs.progress(id, resources.person())
    if progress is None:
        st.rerun()
    if progress.rewritten:
        st.caption(asked_as(progress.rewritten))
    with st.container(horizontal=True, vertical_alignment="center"):
        with spoken_status(id):
            st.markdown(f":material/progress_activity: {_stage(progress)} · {duration(progress.seconds)}")
        st.button(_("Stop"), icon=":material/stop_circle:", key=f"stop {id}", on_click=_stop, args=(id,))
    for step in progress.steps:
        st.caption(escape_paragraphs(describe_step(step, WORDING)))
    if progress.text:
        st.markdown(partial_answer(progress.text))
    elif progress.sources:
        _draw_titles(progress.sources)


def _stop(id: str) -> None:
    resources.answer_jobs().stop(id, resources.person())


def asked_as(rewritten: str) -> str:
    """Return the markdown of what is asked in the place of a follow-up question."""
    return _(":material/subdirectory_arrow_right: Asked as: {question}").format(question=escape(rewritten))


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
        f":green-badge[{one.n}] {escape(one.title)}, {page_place(one.file, one.page)}" for one in sources[:_TITLES]
    ]
    if (more := len(sources) - _TITLES) > 0:
        lines.append(counted("and {n} more", "and {n} more", more))
    st.caption("  \n".join(lines))
