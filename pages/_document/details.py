"""Metadata of a document with where each value comes from, and its deletion."""

from __future__ import annotations

import streamlit as st

from ingestion.operations.documents import UNDO_SECONDS, is_listed, queue_erasure
from ingestion.records.source_record import SourceRecord
from ingestion.status.document_fields import field_values
from ingestion.status.views import pluralised
from ingestion.types import FIELDS
from pages._admin.field_editor import draw_value
from pages._shared.field_inputs import HEADINGS
from pages._ask.answer import badges
from pages._shared import resources
from pages._shared.elements import draw_author, open_in_address
from pages._shared.errors import show_errors
from pages._shared.markdown import escape, escape_paragraphs
from rag_engine.reading.address import DOCUMENT
from rag_engine.types import DocumentRecord


def draw_details(document: DocumentRecord, record: SourceRecord | None) -> None:
    """Draw what is known of the document; with the source's record each value has its justification."""
    metadata = document.metadata
    st.markdown(badges(metadata))
    if metadata.description:
        st.markdown(escape_paragraphs(metadata.description))
    facts = {
        "Authority": metadata.authority,
        "Date": metadata.date,
        "Intended audience": metadata.target,
        "Key criteria": ", ".join(metadata.key_criteria),
        "Tags": ", ".join(metadata.tags),
        "Source": metadata.source_url,
        "File": document.file,
        "Length": _length(document),
        "Notes": metadata.notes,
        "Id": document.document_id,
    }
    st.markdown("  \n".join(f"**{name}** {escape(value)}" for name, value in facts.items() if value))
    if record is not None:
        _draw_justification(record)
    if st.button("Delete this document", icon=":material/delete:", key="delete document", type="tertiary"):
        _confirm(document)


def _draw_justification(record: SourceRecord) -> None:
    """Draw every value with the sentence that justifies it."""
    with st.expander("Where these values come from", icon=":material/fact_check:"):
        for field in FIELDS:
            values = field_values(record, field)
            if values:
                st.caption(HEADINGS[field])
            for value in values:
                draw_value(value)


def _length(document: DocumentRecord) -> str:
    read = f", {document.ocr_pages:,} of them read by OCR" if document.ocr_pages else ""
    passages = f"{document.children:,} passages, {document.characters:,} characters"
    return f"{pluralised(document.pages, 'page')}{read}, {passages}"


@st.dialog("Delete this document?", icon=":material/delete:")
def _confirm(document: DocumentRecord) -> None:
    st.markdown(f"**{escape(document.metadata.title)}**")
    st.markdown(
        "Its file, its text and its index entries are removed from this machine and cannot be recovered. "
        "Conversations and notebooks keep the sentences they have quoted from it."
    )
    author, note = "", ""
    if is_listed(resources.desk(), document):
        st.markdown("Its source stays on the list, but no run fetches it again unless you restore it.")
        author = draw_author()
        note = st.text_input("Why", key="delete note", max_chars=1000)
    with st.container(horizontal=True):
        if st.button("Delete", key="delete confirmed", type="primary", icon=":material/delete:"):
            with show_errors():
                # By its source: two documents of one content have the same id.
                queue_erasure(resources.desk(), document.source, author, note, undo_seconds=UNDO_SECONDS)
                open_in_address(DOCUMENT)
                st.rerun()
        if st.button("Cancel", key="delete refused"):
            st.rerun()
