"""The document that the address names: its page, what is beside it and what is below."""

from __future__ import annotations

import streamlit as st

from pages._ask.answer import draw_original
from pages._document.below import draw_below
from pages._document.beside import draw_beside
from pages._document.opened import page_of, paged_text
from pages._document.page_view import draw_page_view
from pages._document.toolbar import draw_toolbar
from pages._shared import resources
from pages._shared.markdown import escape
from rag_engine.reading.address import DocumentPlace


def draw_document(place: DocumentPlace) -> None:
    """Draw the document at the place that the address names, or a notice that there is none."""
    document = resources.find_document(place.document_id)
    with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
        st.page_link("pages/library.py", label="Library", icon=":material/arrow_back:")
        if document is not None:
            draw_original(document, "document")
    if document is None:
        st.title("Document")
        missing = (
            "This document is not in the collection." if place.document_id else "Choose a document in the Library."
        )
        st.info(missing, icon=":material/search_off:")
        return
    st.title(escape(document.metadata.title), anchor=False)
    text = paged_text(document)
    page = text.clamp_page(place.page or page_of(document, place))
    reading, beside = st.columns([2, 1])
    with reading:
        zoom = draw_toolbar(document, place, page, drawn=text.is_drawn)
        draw_page_view(document, page, place.passage, zoom)
    with beside:
        draw_beside(document, place, page)
    draw_below(document, page)
