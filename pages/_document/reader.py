"""The document that the address names: its page, what is beside it and what is below."""

from __future__ import annotations

import streamlit as st

from pages._document.opened import paged_text
from pages._document.page_view import draw_page_view
from pages._document.toolbar import draw_toolbar
from pages._shared import resources
from rag_engine.reading.address import DocumentPlace
from rag_engine.storage.indexer import page_at
from rag_engine.types import DocumentRecord


def draw_document(place: DocumentPlace) -> None:
    """Draw the document at the place that the address names, or a notice that there is none."""
    document = resources.find_document(place.document_id)
    if document is None:
        st.title("Document")
        missing = "This document is not in the collection." if place.document_id else "Choose a document in the Library."
        st.info(missing, icon=":material/search_off:")
        return
    st.title(document.metadata.title)
    text = paged_text(document)
    page = text.clamp_page(place.page or _page_of(document, place))
    reading, beside = st.columns([3, 2], gap="medium")
    with reading:
        zoom = draw_toolbar(document, place, page, drawn=text.is_drawn)
        draw_page_view(document, page, place.passage, zoom)


def _page_of(document: DocumentRecord, place: DocumentPlace) -> int:
    """Return the page of the passage, the first where none is named."""
    return page_at(paged_text(document).lines, place.passage[0]) if place.passage else 1
