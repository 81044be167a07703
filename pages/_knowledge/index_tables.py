"""Index tables: a table of terms previewed, applied to the documents that it names, and removed again."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from ingestion.operations.documents import (
    applied_index_tables,
    apply_index_table,
    preview_index_table,
    remove_index_table,
)
from ingestion.status.views import pluralised
from pages._admin.uploaded_file import draw_uploader, leave, stored_preview
from pages._shared import resources
from pages._shared.elements import draw_table
from pages._shared.errors import show_errors
from pages._shared.markdown import escape
from rag_engine.book_index.anchors import IndexTable

_PLACE = "index table"
_TYPES = ("csv", "tsv", "xlsx", "json", "pdf", "docx")
# Terms that the preview shows.
_SHOWN = 200
_MESSAGE = "index table applied"


# As a resource: copies of a cached value would be pickled.
@st.cache_resource(max_entries=2, show_spinner="Reading the index …")
def _read(path: str) -> IndexTable:
    return preview_index_table(resources.desk(), Path(path))


def draw_index_tables() -> None:
    """Draw the tables that are applied, each with the way to remove it, and the preview of another one."""
    if _MESSAGE in st.session_state:
        for line in st.session_state.pop(_MESSAGE):
            st.caption(line)
    for name, documents in applied_index_tables(resources.desk()).items():
        with st.container(horizontal=True, vertical_alignment="center", key=f"index table {name}"):
            st.markdown(f"**{escape(name)}** · {pluralised(documents, 'document')}", width="content")
            with st.popover("Remove", icon=":material/delete:", type="tertiary", key=f"remove table {name}"):
                st.markdown("Questions are no longer led by it. The documents stay as they are.")
                if st.button("Remove this table", key=f"remove table {name} now", icon=":material/delete:"):
                    with show_errors():
                        remove_index_table(resources.desk(), name)
                        st.rerun()
    with st.expander("Apply an index table", icon=":material/upload:"):
        st.caption(
            "A table of terms with the file and pages that each is on, or a glossary. Questions are then led to the "
            "passages that it lists."
        )
        file = draw_uploader(_PLACE, "Index table", _TYPES)
        if file is not None:
            with show_errors():
                _draw_preview(stored_preview(_PLACE, file))


def _draw_preview(path: Path) -> None:
    table = _read(str(path))
    for warning in table.warnings:
        st.caption(f":material/info: {escape(warning)}")
    rows = [
        {
            "Term": one.term,
            "Sub-entry": one.subterm,
            "Pages": ", ".join(map(str, one.pages)),
            "See": "; ".join(one.see),
            "File or meaning": one.file or one.definition,
        }
        for one in table.records[:_SHOWN]
    ]
    draw_table(rows, "index table preview", "Terms that would be applied")
    st.caption(f"{pluralised(len(table.records), 'term')} read. Nothing has been applied.")
    titles = {one.document_id: one.metadata.title or one.file for one in resources.engine().collection.documents()}
    document = st.selectbox(
        "Document",
        list(titles),
        index=None,
        key="index table document",
        format_func=lambda id_: titles[id_],
        placeholder="As the table names them",
        help="Whose pages these are, where the table names no files.",
    )
    if st.button("Apply", key="apply table", icon=":material/check:", type="primary"):
        with show_errors():
            applied = apply_index_table(resources.desk(), path, document or "")
            found = [
                f":material/check: {escape(one.file)}: "
                f"{pluralised(one.entries, 'term')} at {pluralised(one.places, 'place')}"
                for one in applied.documents
            ]
            missing = [f":material/info: No document: {escape(name)}" for name in applied.unmatched]
            st.session_state[_MESSAGE] = [*found, *missing]
            leave(_PLACE)
