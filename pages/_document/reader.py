"""The document that the address names: its page, what is beside it and what is below."""

from __future__ import annotations

import html
from dataclasses import replace

import streamlit as st

from pages._document.document_panel import draw_beside
from pages._document.document_tabs import draw_below
from pages._document.layout_view import shows_layout
from pages._document.open_document import go_to, page_of, paged_text
from pages._document.page_view import FIT, ZOOMS, draw_page_view
from pages._shared import resources
from pages._shared.elements import draw_original, when_changed
from pages._shared.interface_language import _
from pages._shared.markdown import escape
from pages._shared.numbers_and_dates import counted, known_date, percent
from pages._shared.page_names import page_place
from pages._shared.shown_names import page_noun
from rag_engine.text.file_kinds import page_kind
from rag_engine.types.document import UNDATED, DocumentRecord
from rag_engine.viewer.address import DocumentPlace
from rag_engine.viewer.versions import newer_version

_NUMBER = "document page number"
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
    if text.struck:
        words = sum(len(one.text.split()) for one in text.struck)
        told = counted(
            "{n} word is struck out in this document: it is not in force, and no answer quotes it.",
            "{n} words are struck out in this document: they are not in force, and no answer quotes them.",
            words,
        )
        st.caption(f":material/format_strikethrough: {told}")
    page = text.clamp_page(place.page or page_of(document, place))
    reading, beside = st.columns([2, 1])
    with reading:
        zoom = _draw_toolbar(document, place, page, drawn=text.is_drawn or shows_layout(document))
        draw_page_view(document, page, place.passage, zoom)
    with beside:
        draw_beside(document, place, page)
    draw_below(document, page)


def _draw_title(document: DocumentRecord) -> None:
    """Draw the title as the heading of the page, marked with the document's language."""
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


def _draw_toolbar(document: DocumentRecord, place: DocumentPlace, page: int, *, drawn: bool) -> str | float:
    """Draw the buttons to turn pages and the zoom of a page that is drawn; return the zoom chosen."""
    zoom: str | float = FIT
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small", key="document toolbar"):
        if document.pages > 1:
            _draw_turning(document, place, page)
        if drawn:
            zoom = st.selectbox(
                _("Zoom"),
                list(ZOOMS),
                format_func=lambda one: _("Fit") if one == FIT else percent(float(one)),
                key="document zoom",
                width=110,
                persist_state="session",
            )
    return zoom


def _draw_turning(document: DocumentRecord, place: DocumentPlace, page: int) -> None:
    _draw_turn(_("Previous"), "document previous", ":material/chevron_left:", place, page - 1, disabled=page <= 1)
    st.session_state[_NUMBER] = page
    # Where pages have printed numbers, those of the file are its sheets.
    noun = _("Sheet") if document.page_labels and page_kind(document.file) else page_noun(document.file)
    st.number_input(
        _("{place} of {total}").format(place=noun, total=document.pages),
        1,
        document.pages,
        key=_NUMBER,
        on_change=when_changed(_NUMBER, page, lambda: go_to(replace(place, page=int(st.session_state[_NUMBER])))),
        width=120,
    )
    if document.page_label(page):
        st.caption(page_place(document.file, document.named_page(page)), width="content")
    _draw_turn(_("Next"), "document next", ":material/chevron_right:", place, page + 1, disabled=page >= document.pages)


def _draw_turn(label: str, key: str, icon: str, place: DocumentPlace, page: int, *, disabled: bool) -> None:
    st.button(label, icon=icon, key=key, disabled=disabled, on_click=go_to, args=(replace(place, page=page),))
