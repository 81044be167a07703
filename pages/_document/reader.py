"""The document that the address names: its page, what is beside it and what is below."""

from __future__ import annotations

import html

import streamlit as st

from pages._ask.answer import draw_original
from pages._document.below import draw_below
from pages._document.beside import draw_beside
from pages._document.layout_view import shows_layout
from pages._document.opened import page_of, paged_text
from pages._document.page_view import draw_page_view
from pages._document.toolbar import draw_toolbar
from pages._shared import resources
from pages._shared.interface_language import _
from pages._shared.markdown import escape
from pages._shared.numbers_and_dates import known_date
from rag_engine.reading.address import DocumentPlace
from rag_engine.reading.same_work import newer_version
from rag_engine.types import UNDATED, DocumentRecord

# Characters of a title that a browser's tab could show.
_TAB_TITLE = 80
# As Streamlit draws its own titles, in which no language can be set.
_TITLE_STYLE = "font-size: 1.75rem; padding: 0; margin: 0; line-height: 1.25; overflow-wrap: anywhere"


def draw_document(place: DocumentPlace) -> None:
    """Draw the document at the place that the address names, or a notice that there is none.

    Without a document in the address, as after its deletion, the Library is next.
    """
    if not place.document_id:
        st.switch_page("pages/library.py")
    document = resources.find_document(place.document_id)
    with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
        st.page_link("pages/library.py", label=_("Library"), icon=":material/arrow_back:")
        if document is not None:
            draw_original(document, "document")
    if document is None:
        st.title(_("Document"))
        st.info(_("This document is not in the collection."), icon=":material/search_off:")
        return
    _draw_title(document)
    if document.metadata.superseded:
        _draw_superseded(document)
    text = paged_text(document)
    page = text.clamp_page(place.page or page_of(document, place))
    reading, beside = st.columns([2, 1])
    with reading:
        zoom = draw_toolbar(document, place, page, drawn=text.is_drawn or shows_layout(document))
        draw_page_view(document, page, place.passage, zoom)
    with beside:
        draw_beside(document, place, page)
    draw_below(document, page)


def _draw_title(document: DocumentRecord) -> None:
    """Draw the title as the heading of the page, in the document's language for those to whom it is read out."""
    title = document.shown_title
    st.set_page_config(page_title=f"{title[:_TAB_TITLE]} · Sextant")
    language = document.metadata.language
    st.html(f'<h1 lang="{html.escape(language)}" dir="auto" style="{_TITLE_STYLE}">{html.escape(title)}</h1>')


def _draw_superseded(document: DocumentRecord) -> None:
    """Say that the document is a former version, with the way to the newest one."""
    since = document.metadata.superseded
    told = (
        _("A newer version has replaced this one.")
        if since == UNDATED
        else _("A newer version has stood in the place of this one since {when}.").format(when=known_date(since))
    )
    newest = newer_version(document, resources.engine().collection.documents())
    with st.container(horizontal=True, vertical_alignment="center", key="document superseded"):
        st.markdown(f":orange-badge[:material/history: {told}]", width="content")
        if newest is not None:
            named = newest.metadata.version or known_date(newest.metadata.date)
            title = f"{newest.shown_title} ({named})" if named else newest.shown_title
            st.page_link(
                "pages/document.py",
                label=_("Newest version: {title}").format(title=escape(title)),
                icon=":material/arrow_forward:",
                query_params=DocumentPlace(newest.document_id).parameters(),
            )
