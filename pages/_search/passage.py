"""A document of the results: its description, and its passages with marked words."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import streamlit as st

from pages._ask.take_away import draw_adding, draw_copy
from pages._shared.accessibility import in_language
from pages._shared.badges import badges, version_badge
from pages._shared.filter_widgets import WORDING
from pages._shared.interface_language import _, ngettext
from pages._shared.markdown import escape, faded
from pages._shared.shown_names import page_place
from rag_engine.answering.reference_list import licence_text
from rag_engine.chunking.indexed_text import cited
from rag_engine.engine import Engine
from rag_engine.notebook.notebook import NotebookEntry, passage_entry
from rag_engine.passage_search.find import DocumentMatches
from rag_engine.passage_search.passage_query import PassageQuery
from rag_engine.passage_search.passages import MarkedPassage, citation_of
from rag_engine.takeaway.exported_text import plain_quotes
from rag_engine.viewer.address import DocumentPlace

_EXCERPT = 420


def draw_document(
    engine: Engine, query: PassageQuery, group: DocumentMatches, passages: Sequence[MarkedPassage]
) -> None:
    """Draw a document with those of its passages that are shown."""
    document, metadata = group.document, group.document.metadata
    st.markdown(f"**{escape(document.shown_title)}**")
    known = (metadata.authority, document.file, licence_text(metadata.licence, WORDING))
    signs = " ".join(filter(None, (version_badge(document), badges(metadata))))
    st.caption(f"{' · '.join(escape(part) for part in known if part)}  \n{signs}")
    for passage in passages:
        _draw_passage(engine, query, passage)


def _draw_passage(engine: Engine, query: PassageQuery, passage: MarkedPassage) -> None:
    hit, document = passage.hit, passage.hit.document
    citation = citation_of(engine, passage)
    place = page_place(document.file, citation.page) if document.pages > 1 else ""
    near = query.words and not passage.match.worded
    closeness = ":gray[" + _("close in meaning") + "]" if near else ""
    section = cited(hit.section, hit.clause)
    parts = (f"**{escape(section)}**" if section else "", place, closeness)
    st.markdown(" · ".join(part for part in parts if part))
    key, language = f"found {hit.child_id}", document.metadata.language
    with in_language(language, key):
        st.markdown(faded(passage.excerpt(_EXCERPT)))
    with st.container(horizontal=True, vertical_alignment="center", key=f"{key} row"):
        st.page_link(
            "pages/document.py",
            label=_("Open document"),
            icon=":material/description:",
            query_params=DocumentPlace(document.document_id, citation.page, passage.place).parameters(),
        )
        draw_adding(partial(_entry, query, passage, engine), key)
        draw_copy(
            ngettext("Copy quote", "Copy quotes", 1),
            ":material/format_quote:",
            plain_quotes([citation], WORDING),
            f"{key} quote",
        )
        whole = st.popover(_("Full passage"), icon=":material/article:", type="tertiary", key=f"{key} whole")
        with whole, in_language(language, f"{key} passage"):
            st.markdown(faded(passage.excerpt(len(hit.text))))


def _entry(query: PassageQuery, passage: MarkedPassage, engine: Engine) -> NotebookEntry:
    return passage_entry(query.words, citation_of(engine, passage))
