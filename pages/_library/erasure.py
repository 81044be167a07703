"""Deletion of documents, which is confirmed and can be undone until the work has begun."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from ingestion.operations.documents import UNDO_SECONDS, is_listed, queue_erasure
from ingestion.status.views import pluralised
from pages._shared import resources
from pages._shared.elements import act_button, draw_author, open_in_address
from pages._shared.errors import show_errors
from pages._shared.markdown import escape
from rag_engine.reading.address import DOCUMENT
from rag_engine.types import DocumentRecord

_NAMED = 10


@st.dialog("Delete?", icon=":material/delete:")
def confirm_deletion(documents: Sequence[DocumentRecord]) -> None:
    """Draw the documents that would be deleted, what that means, and the two answers."""
    st.markdown("  \n".join(f"**{escape(one.metadata.title or one.file)}**" for one in documents[:_NAMED]))
    if len(documents) > _NAMED:
        st.markdown(f"and {len(documents) - _NAMED:,} more")
    st.markdown(
        "Files, texts and index entries are removed from this machine and cannot be recovered. "
        "Test questions keep the sentences they have quoted. "
        f"You can undo this for {UNDO_SECONDS:.0f} seconds, in the Library."
    )
    redact = st.checkbox(
        "Also remove what conversations and notebooks quote",
        key="delete redact",
        help="Without it they keep the sentences that they have quoted, and no other passage.",
    )
    author, note = "", ""
    listed = [one for one in documents if is_listed(resources.desk(), one)]
    if listed:
        st.markdown(
            f"{pluralised(len(listed), 'document')} came from the list of sources. The source stays on the list, but "
            "no run fetches it again unless you restore it."
        )
        author = draw_author()
        note = st.text_input("Why", key="delete note", max_chars=1000)
    with st.container(horizontal=True):
        label = "Delete" if len(documents) == 1 else f"Delete {pluralised(len(documents), 'document')}"
        if act_button("queue_erasure", label, key="delete confirmed", type="primary", icon=":material/delete:"):
            with show_errors():
                for one in documents:
                    # By its source: two documents of one content have the same id.
                    queue_erasure(resources.desk(), one.source, author, note, redact=redact, undo_seconds=UNDO_SECONDS)
                open_in_address(DOCUMENT)
                st.rerun()
        if st.button("Cancel", key="delete refused"):
            st.rerun()
