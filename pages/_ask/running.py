"""An answer that is being written, as the page watches it."""

from __future__ import annotations

import streamlit as st

from ingestion.status.views import pluralised
from pages._ask.answer import partial_answer
from pages._shared import resources
from pages._shared.accessibility import spoken_status
from pages._shared.markdown import escape, escape_paragraphs
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
            st.markdown(f":material/progress_activity: {_stage(progress)} · {progress.seconds:.0f} s")
        st.button("Stop", icon=":material/stop_circle:", key=f"stop {id}", on_click=_stop, args=(id,))
    for step in progress.steps:
        st.caption(escape_paragraphs(describe_step(step)))
    if progress.text:
        st.markdown(partial_answer(progress.text))
    elif progress.sources:
        _draw_titles(progress.sources)


def _stop(id: str) -> None:
    resources.answer_jobs().stop(id, resources.person())


def asked_as(rewritten: str) -> str:
    """Return the markdown of what is asked in the place of a follow-up question."""
    return f":material/subdirectory_arrow_right: Asked as: {escape(rewritten)}"


def _stage(progress: AnswerProgress) -> str:
    if progress.stopping:
        return "Stopping …"
    match progress.stage:
        case "searching":
            return describe_step(progress.steps[-1]) if progress.steps else "Searching your documents …"
        case "writing":
            return "Writing the answer …"
        case "reading":
            documents = len({source.document_id for source in progress.sources})
            if not documents:
                return "No relevant passage found."
            passages = pluralised(len(progress.sources), "passage")
            return f"Reading {passages} from {pluralised(documents, 'document')} …"


def _draw_titles(sources: tuple[ShownSource, ...]) -> None:
    """Draw what is being read, before the first words come."""
    lines = [f":green-badge[{one.n}] {escape(one.title)}, page {one.page}" for one in sources[:_TITLES]]
    if len(sources) > _TITLES:
        lines.append(f"and {len(sources) - _TITLES} more")
    st.caption("  \n".join(lines))
