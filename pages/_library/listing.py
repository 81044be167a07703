"""Documents tab of the Library: search, columns, the table, and the acts on what is selected in it."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from ingestion.operations.corrections import describe_records
from ingestion.status.document_fields import unchecked_fields
from pages._library.correction import draw_done
from pages._library.documents import draw_columns, draw_table, find
from pages._library.selection import draw_selection
from pages._shared import resources
from pages._shared.interface_language import _
from pages._shared.numbers_and_dates import counted, number
from rag_engine.types import DocumentRecord


def draw_documents(documents: Sequence[DocumentRecord], total: int) -> None:
    """Draw the documents that the filters allow, of so many in all."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        words = st.text_input(
            _("Search"),
            key="library words",
            placeholder=_("Words in titles, authorities, descriptions and texts"),
            icon=":material/search:",
        )
        columns = draw_columns()
        only = st.toggle(_("Only with unchecked values"), key="library unchecked")
    found = find(documents, words)
    described = dict(zip((one.key for one in documents), describe_records(resources.desk(), documents), strict=True))
    shown = [
        one
        for one in documents
        if (found is None or one.key in found) and (not only or unchecked_fields(described[one.key]))
    ]
    st.caption(
        counted(
            "{shown} of {n} document. Click a title to open the document.",
            "{shown} of {n} documents. Click a title to open the document.",
            total,
            shown=number(len(shown)),
        )
    )
    draw_done()
    actions = st.container()
    if shown:
        chosen = draw_table(shown, described, columns, found)
        with actions:
            draw_selection(chosen, described)
