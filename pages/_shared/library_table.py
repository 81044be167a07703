"""The collection as a table."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from pages._shared.filters import spoken
from rag_engine.types import DocumentRecord


def search_titles(documents: Sequence[DocumentRecord], words: str) -> list[DocumentRecord]:
    """The documents whose title, authority or file name holds every word, whatever its case; newest first."""
    wanted = words.casefold().split()
    return [
        document
        for document in reversed(documents)
        if all(
            word in f"{document.metadata.title} {document.metadata.authority} {document.file}".casefold()
            for word in wanted
        )
    ]


def draw_table(documents: Sequence[DocumentRecord]) -> None:
    """Nothing; draws the documents, and choosing a row puts its document into the address."""
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
    _remember(documents[rows[0]].document_id if rows else "")


def _remember(document_id: str) -> None:
    # Only a new choice changes the address: the row stays selected when the document is closed.
    if st.session_state.get("library choice", "") != document_id:
        st.session_state["library choice"] = document_id
        if document_id:
            st.query_params["document"] = document_id


def _row(document: DocumentRecord) -> dict[str, str | int]:
    metadata = document.metadata
    return {
        "Title": metadata.title,
        "Year": str(metadata.year or ""),
        "Language": spoken("language", metadata.language) if metadata.language else "",
        "Type": metadata.document_type,
        "Hazard": ", ".join(metadata.hazards),
        "Level": metadata.geographical_level,
        "Country": ", ".join(metadata.countries),
        "Pages": document.pages,
        "Authority": metadata.authority,
        "File": document.file,
    }
