"""Documents of the collection: their table, which opens each, and their upload."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from ingestion.extraction.file_type import UPLOAD_SUFFIXES
from ingestion.operations.documents import is_listed, queue_uploads
from pages._shared import resources
from pages._shared.errors import show_errors
from pages._shared.filter_widgets import display_text
from rag_engine.reading.address import DOCUMENT
from rag_engine.text.folding import fold
from rag_engine.types import DocumentRecord


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
    """Draw the documents; a click on one opens it on a page of its own."""
    # Streamlit keeps a selection as a row's position: a key for each set of rows keeps it from naming another document.
    shown = hash(tuple(document.key for document in documents))
    chosen = st.dataframe(
        pd.DataFrame([_row(document) for document in documents]),
        hide_index=True,
        key=f"library table {shown}",
        on_select="rerun",
        # A click on the title, or on any other cell, opens the document as well as one on the row's box.
        selection_mode=["single-row", "single-cell"],
        height=min(38 + 35 * len(documents), 400),
        column_config={
            "Title": st.column_config.TextColumn(width=320),
            "Year": st.column_config.TextColumn(width=60),
            "Pages": st.column_config.NumberColumn(width=60),
        },
        alt="The documents of the collection",
    )
    selection = chosen["selection"]
    rows = [*selection["rows"], *(row for row, _ in selection["cells"])]
    if rows:
        st.switch_page("pages/document.py", query_params={DOCUMENT: documents[rows[0]].document_id})


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
