"""One document of the collection: what is known of it, its first page, and the way to delete it."""

from __future__ import annotations

import streamlit as st

from pages._shared import resources
from pages._shared.evidence import badges, draw_download, draw_page
from pages._shared.plain import plain, plain_paragraphs
from pages._shared.runs import queue
from rag_engine.types import DocumentRecord


def draw_document(document_id: str) -> None:
    """Nothing; draws the document with this id, or says that there is none."""
    document = resources.find_document(document_id)
    if document is None:
        st.info("This document is not in the collection.", icon=":material/search_off:")
        return
    with st.container(border=True, key="document"):
        with st.container(horizontal=True, horizontal_alignment="distribute", wrap=False):
            st.header(plain(document.metadata.title), anchor=False)
            st.button("", icon=":material/close:", help="Close", key="close", type="tertiary", on_click=_close)
        _draw_facts(document)
        with st.container(horizontal=True):
            draw_download(document, "document")
            if st.button("Delete", icon=":material/delete:", key="delete document", type="tertiary"):
                _confirm(document)
        if st.toggle("Show the first page", value=True, key="document page"):
            draw_page(document, (0, 0), (), 0)


def _draw_facts(document: DocumentRecord) -> None:
    metadata = document.metadata
    st.markdown(
        badges(
            year=metadata.year,
            hazards=metadata.hazards,
            level=metadata.geographical_level,
            countries=metadata.countries,
            language=metadata.language,
            kind=metadata.document_type,
        )
    )
    if metadata.description:
        st.markdown(plain_paragraphs(metadata.description))
    facts = {
        "Authority": metadata.authority,
        "Date": metadata.date,
        "For whom": metadata.target,
        "Key criteria": ", ".join(metadata.key_criteria),
        "Tags": ", ".join(metadata.tags),
        "Licence": metadata.licence,
        "Source": metadata.source_url,
        "File": document.file,
        "Extent": _extent(document),
        "Cut by": _cut_by(document),
        "Notes": metadata.notes,
        "Id": document.document_id,
    }
    st.markdown("  \n".join(f"**{name}** {plain(value)}" for name, value in facts.items() if value))


def _extent(document: DocumentRecord) -> str:
    pages = "1 page" if document.pages == 1 else f"{document.pages:,} pages"
    read = f", {document.ocr_pages:,} of them read by OCR" if document.ocr_pages else ""
    return f"{pages}{read}, {document.children:,} passages, {document.characters:,} characters"


def _cut_by(document: DocumentRecord) -> str:
    """How the text was cut into passages, and why so."""
    return f"{document.strategy}: {document.why}" if document.why else document.strategy


def _close() -> None:
    st.query_params.pop("document", None)


@st.dialog("Delete this document?", icon=":material/delete:")
def _confirm(document: DocumentRecord) -> None:
    st.markdown(f"**{plain(document.metadata.title)}**")
    st.markdown(
        "Its file, its text and its entries in the indexes are removed from this machine and cannot be brought back. "
        "Conversations keep the sentences they have quoted from it."
    )
    with st.container(horizontal=True):
        if st.button("Delete", key="delete confirmed", type="primary", icon=":material/delete:"):
            # By its source: two documents of one content have the same id.
            queue("erase", {"document_id": document.source})
            _close()
            st.rerun()
        if st.button("Keep it", key="delete refused"):
            st.rerun()
