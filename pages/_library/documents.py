"""Documents of the collection: their table, one with its metadata, first page and deletion, and their upload."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from ingestion.extraction.file_type import UPLOAD_SUFFIXES
from ingestion.operations.documents import is_listed, queue_erasure, queue_uploads
from ingestion.status.views import pluralised
from pages._ask.answer import badges, draw_original, draw_page
from pages._shared import resources
from pages._shared.elements import draw_author, draw_heading, follow_choice, open_in_address
from pages._shared.errors import show_errors
from pages._shared.filter_widgets import display_text
from pages._shared.markdown import escape, escape_paragraphs
from rag_engine.text.folding import fold
from rag_engine.types import DocumentRecord


def draw_document(document_id: str) -> None:
    """Draw the document with this id, or a notice that there is none."""
    document = resources.find_document(document_id)
    if document is None:
        st.info("This document is not in the collection.", icon=":material/search_off:")
        return
    with st.container(border=True, key="document"):
        draw_heading(document.metadata.title, "document")
        _draw_facts(document)
        with st.container(horizontal=True):
            draw_original(document, "document")
            if st.button("Delete", icon=":material/delete:", key="delete document", type="tertiary"):
                _confirm(document)
        if st.toggle("Show first page", value=True, key="document page"):
            draw_page(document, (0, 0), (), 0)


def _draw_facts(document: DocumentRecord) -> None:
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
        "Licence": metadata.licence,
        "Source": metadata.source_url,
        "File": document.file,
        "Length": _length(document),
        "Segmentation": _segmentation(document),
        "Notes": metadata.notes,
        "Id": document.document_id,
    }
    st.markdown("  \n".join(f"**{name}** {escape(value)}" for name, value in facts.items() if value))


def _length(document: DocumentRecord) -> str:
    read = f", {document.ocr_pages:,} of them read by OCR" if document.ocr_pages else ""
    passages = f"{document.children:,} passages, {document.characters:,} characters"
    return f"{pluralised(document.pages, 'page')}{read}, {passages}"


def _segmentation(document: DocumentRecord) -> str:
    """Return how the text was divided into passages, and why."""
    return f"{document.strategy}: {document.why}" if document.why else document.strategy


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
                queue_erasure(resources.desk(), document.source, author, note)
                open_in_address("document")
                st.rerun()
        if st.button("Cancel", key="delete refused"):
            st.rerun()


def search_titles(documents: Sequence[DocumentRecord], words: str) -> list[DocumentRecord]:
    """Return the documents whose title, authority or file name holds every word, folded; newest first."""
    wanted = fold(words).split()
    return [
        document
        for document in reversed(documents)
        if all(
            word in fold(f"{document.metadata.title} {document.metadata.authority} {document.file}") for word in wanted
        )
    ]


def draw_table(documents: Sequence[DocumentRecord]) -> None:
    """Draw the documents; choosing a row puts its document into the address."""
    # Streamlit keeps a selection as a row's position: a key for each set of rows keeps it from naming another document.
    shown = hash(tuple(document.key for document in documents))
    chosen = st.dataframe(
        pd.DataFrame([_row(document) for document in documents]),
        hide_index=True,
        key=f"library table {shown}",
        on_select="rerun",
        selection_mode="single-row",
        height=min(38 + 35 * len(documents), 400),
        column_config={
            "Title": st.column_config.TextColumn(width=320),
            "Year": st.column_config.TextColumn(width=60),
            "Pages": st.column_config.NumberColumn(width=60),
        },
        alt="The documents of the collection",
    )
    rows = chosen["selection"]["rows"]
    follow_choice("document", documents[rows[0]].document_id if rows else "")


def _row(document: DocumentRecord) -> dict[str, str | int]:
    metadata = document.metadata
    return {
        "Title": metadata.title,
        "Year": str(metadata.year or ""),
        "Language": display_text("language", metadata.language) if metadata.language else "",
        "Type": metadata.document_type,
        "Hazard": ", ".join(metadata.hazards),
        "Level": metadata.geographical_level,
        "Country": ", ".join(metadata.countries),
        "Pages": document.pages,
        "Authority": metadata.authority,
        "File": document.file,
    }


def draw_upload() -> None:
    """Draw the place where files are dropped, and queue them for addition."""
    # A key of its own for each batch empties the widget once its files are handed on.
    batch = st.session_state.setdefault("upload batch", 0)
    files = st.file_uploader(
        "Files to add",
        type=UPLOAD_SUFFIXES,
        accept_multiple_files=True,
        key=f"upload {batch}",
        label_visibility="collapsed",
    )
    replaces = _choose_replaced() if len(files) == 1 else None
    label = f"Add {len(files)} files" if len(files) > 1 else "Add to the collection"
    if st.button(label, icon=":material/library_add:", type="primary", disabled=not files):
        with show_errors():
            queue_uploads(
                resources.desk(), [(file.name, file) for file in files], replaces=replaces.source if replaces else ""
            )
            st.session_state["upload batch"] = batch + 1
            st.rerun()


def _choose_replaced() -> DocumentRecord | None:
    """Return the document that the file is a new version of, as the person says; None for a document of its own."""
    own = [one for one in resources.engine().collection.documents() if not is_listed(resources.desk(), one)]
    return st.selectbox(
        "It is a new version of",
        own,
        index=None,
        placeholder="No document: add it as a document of its own",
        format_func=lambda one: f"{one.metadata.title} ({one.file})",
        key="upload replaces",
    )
