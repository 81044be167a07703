"""Documents tab of the Library: search, columns, the table, and the acts on what is selected in it."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from ingestion.acts.corrections import describe_records
from ingestion.status.document_fields import unchecked_fields
from pages._library.correction import draw_done
from pages._library.documents import columns_in_use, draw_columns, draw_table, find
from pages._library.selection import draw_selection
from pages._shared import resources
from pages._shared.frame import TABLE_SECONDS, show_opened
from pages._shared.interface_language import _
from pages._shared.numbers_and_dates import counted, number
from rag_engine.types.document import DocumentRecord

_WORDS, _UNCHECKED = "library words", "library unchecked"


def draw_documents(documents: Sequence[DocumentRecord], total: int) -> None:
    """Draw a table of the documents that the filters allow, below their search and count.

    `total` counts the documents of the collection. The table comes first, since the elements above it need its
    selection.
    """
    found = find(documents, str(st.session_state.get(_WORDS, "")))
    described = dict(zip((one.key for one in documents), describe_records(resources.context(), documents), strict=True))
    only = st.session_state.get(_UNCHECKED, False)
    shown = [
        one
        for one in documents
        if (found is None or one.key in found) and (not only or unchecked_fields(described[one.key]))
    ]
    with st.container(key="library documents"):
        above = st.container(key="library above")
        chosen = draw_table(shown, described, columns_in_use(), found) if shown else []
    show_opened(TABLE_SECONDS)
    with above:
        with st.container(horizontal=True, vertical_alignment="bottom"):
            st.text_input(
                _("Search"),
                key=_WORDS,
                placeholder=_("Words in titles, authorities, descriptions and texts"),
                icon=":material/search:",
            )
            draw_columns()
            st.toggle(_("Only with unchecked values"), key=_UNCHECKED)
        st.caption(
            counted(
                "{shown} of {n} document. Click a title to open the document.",
                "{shown} of {n} documents. Click a title to open the document.",
                total,
                shown=number(len(shown)),
            )
        )
        draw_done()
        if shown:
            draw_selection(chosen, described)
