"""An entry of a notebook: its quotes or its answer, where it comes from, its note and its tags."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

import streamlit as st

from pages._ask.form import draw_records
from pages._shared import resources
from pages._shared.accessibility import draw_quotations, in_language
from pages._shared.errors import show_errors
from pages._shared.filter_widgets import WORDING
from pages._shared.interface_language import _
from pages._shared.markdown import answer_markdown, escape, escape_paragraphs, quoted
from pages._shared.numbers_and_dates import moment
from rag_engine.answering.quotations.extractive import ExtractiveAnswerer
from rag_engine.conversations.reply import Reply
from rag_engine.conversations.store import is_kept
from rag_engine.notebook.notebook import NotebookEntry, read_tags, with_note
from rag_engine.notebook.store import change_notebook
from rag_engine.passage_search.query import PassageQuery
from rag_engine.takeaway.exported_text import missing_documents, reply_notes
from rag_engine.takeaway.plain_text import plain_references
from rag_engine.types import Citation


def draw_entry(entry: NotebookEntry, present: Collection[str]) -> None:
    """Draw an entry; `present` are the ids of the documents that are still in the collection."""
    st.markdown(f"**{escape(entry.question)}**")
    if entry.answer is None:
        _draw_quotes(entry.quotes, entry.id)
    else:
        _draw_answer(entry.answer, entry.id)
    for title in missing_documents(entry.citations, present):
        st.caption(_(":material/info: No longer in the collection: {title}").format(title=escape(title)))
    if entry.note:
        st.markdown(escape_paragraphs(entry.note))
    if entry.tags:
        st.markdown(" ".join(f":gray-badge[{escape(tag)}]" for tag in entry.tags))


def _draw_quotes(quotes: tuple[Citation, ...], key: str) -> None:
    for place, quote in enumerate(quotes):
        with in_language(resources.document_language(quote.document_id), f"quote-{place}-{key}"):
            st.markdown(f"> {quoted(escape(quote.quote))}")
    st.caption(escape_paragraphs(plain_references(quotes, WORDING)))


def _draw_answer(reply: Reply, key: str) -> None:
    if reply.generator == ExtractiveAnswerer.name:
        documents = {citation.n: citation.document_id for citation in reply.citations}
        draw_quotations(reply.text, lambda n: resources.document_language(documents.get(n, "")), key, _badge)
    else:
        with in_language(resources.text_language(reply.text), f"answer-{key}"):
            st.markdown(answer_markdown(reply.text, _badge))
    if reply.records:
        draw_records(reply, _badge)
    st.caption(escape_paragraphs(plain_references(reply.citations, WORDING)))
    for note in reply_notes(reply, WORDING):
        st.caption(f":material/info: {escape(note)}")


def _badge(n: int) -> str:
    return f":green-badge[{n}]"


def draw_origin(workspace: Path, entry: NotebookEntry) -> None:
    """Draw when the question was asked, and the link to its conversation while that is kept, or to its search."""
    st.caption(moment(entry.asked), width="content")
    if not entry.conversation:
        st.page_link(
            "pages/search.py",
            label=_("Search again"),
            icon=":material/search:",
            query_params=PassageQuery(entry.question).parameters(),
        )
    elif is_kept(workspace, entry.conversation, resources.person()):
        st.page_link(
            "pages/ask.py",
            label=_("Open conversation"),
            icon=":material/forum:",
            query_params={"conversation": entry.conversation},
        )
    else:
        st.caption(_("The conversation was deleted."), width="content")


def draw_note(workspace: Path, notebook: str, entry: NotebookEntry) -> None:
    """Draw the button behind which note and tags are edited."""
    note, tags = f"noted {entry.id}", f"tagged {entry.id}"
    with st.popover(_("Note and tags"), icon=":material/edit_note:", type="tertiary", key=f"note {entry.id}"):
        st.text_area(_("Note"), entry.note, key=note, max_chars=5000, width=460)
        st.text_input(_("Tags"), ", ".join(entry.tags), key=tags, help=_("Separated by commas."), max_chars=500)
        st.button(
            _("Save"),
            icon=":material/check:",
            key=f"save {entry.id}",
            on_click=_save,
            args=(workspace, notebook, entry.id),
        )


def _save(workspace: Path, notebook: str, id: str) -> None:
    with show_errors():
        note, tags = str(st.session_state[f"noted {id}"]).strip(), read_tags(st.session_state[f"tagged {id}"])
        change_notebook(workspace, notebook, lambda one: with_note(one, id, note, tags), resources.person())
