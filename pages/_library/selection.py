"""Acts on the documents that are selected: correct, confirm, ask and delete them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st

from ingestion.operations.corrections import agree
from ingestion.status.document_fields import Described, unchecked_fields
from ingestion.status.views import pluralised
from pages._library.correction import draw_correction, note_done
from pages._library.erasure import confirm_deletion
from pages._shared import resources
from pages._shared.elements import act_button, known_author
from pages._shared.errors import show_errors
from rag_engine.filters import DOCUMENT
from rag_engine.types import DocumentRecord


def draw_selection(chosen: Sequence[DocumentRecord], described: Mapping[int, Described]) -> None:
    """Draw the acts on the selected documents."""
    unchecked = sum(len(unchecked_fields(described[one.key])) for one in chosen)
    with st.container(horizontal=True, vertical_alignment="center", key="library selection"):
        hint = ":small[Select rows to correct, ask or delete them.]"
        st.markdown(f"**{len(chosen):,} selected**" if chosen else hint, width="content")
        none = not chosen
        if act_button("correct", "Correct", icon=":material/edit:", key="correct selected", disabled=none):
            draw_correction(chosen)
        label = f"Agree with {pluralised(unchecked, 'value')}" if unchecked else "Agree"
        if act_button("agree", label, icon=":material/done_all:", key="agree selected", disabled=not unchecked,
                     help="Confirm all values of these documents that were extracted automatically"):  # fmt: skip
            with show_errors():
                sources = [one.source for one in chosen]
                entered = agree(resources.desk(), sources, known_author())
                note_done(sources, entered, f"{pluralised(len(entered), 'value')} confirmed.")
                st.rerun()
        if st.button("Ask these alone", icon=":material/forum:", key="ask selected", disabled=none):
            st.switch_page("pages/ask.py", query_params={DOCUMENT: [one.document_id for one in chosen]})
        if act_button(
            "queue_erasure",
            ":red[Delete]" if chosen else "Delete",
            icon=":material/delete:",
            key="delete selected",
            disabled=none,
        ):
            confirm_deletion(chosen)
