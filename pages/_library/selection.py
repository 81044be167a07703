"""Acts on the documents that are selected: correct, confirm, ask and delete them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st

from ingestion.acts.corrections import agree
from ingestion.records.source_record import SourceRecord
from ingestion.status.document_fields import unchecked_fields
from pages._library.correction import draw_correction, note_done
from pages._library.erasure import confirm_deletion
from pages._shared import resources
from pages._shared.elements import act_button, known_author
from pages._shared.errors import show_errors
from pages._shared.interface_language import _
from pages._shared.numbers_and_dates import counted
from rag_engine.filters import DOCUMENT
from rag_engine.types.document import DocumentRecord


def draw_selection(chosen: Sequence[DocumentRecord], described: Mapping[int, SourceRecord]) -> None:
    """Draw the acts on the selected documents."""
    unchecked = sum(len(unchecked_fields(described[one.key])) for one in chosen)
    with st.container(horizontal=True, vertical_alignment="center", key="library selection"):
        hint = _(":small[Select rows to correct, ask or delete them.]")
        selected = counted("**{n} selected**", "**{n} selected**", len(chosen))
        st.markdown(selected if chosen else hint, width="content")
        none = not chosen
        if act_button("correct", _("Correct"), icon=":material/edit:", key="correct selected", disabled=none):
            draw_correction(chosen)
        label = counted("Agree with {n} value", "Agree with {n} values", unchecked) if unchecked else _("Agree")
        if act_button("agree", label, icon=":material/done_all:", key="agree selected", disabled=not unchecked,
                     help=_("Confirm all values of these documents that were extracted automatically")):  # fmt: skip
            with show_errors():
                sources = [one.source for one in chosen]
                entered = agree(resources.context(), sources, known_author())
                note_done(sources, entered, counted("{n} value confirmed.", "{n} values confirmed.", len(entered)))
                st.rerun()
        if st.button(_("Ask only these"), icon=":material/forum:", key="ask selected", disabled=none):
            st.switch_page("pages/ask.py", query_params={DOCUMENT: [one.document_id for one in chosen]})
        if act_button(
            "queue_erasure",
            _(":red[Delete]") if chosen else _("Delete"),
            icon=":material/delete:",
            key="delete selected",
            disabled=none,
        ):
            confirm_deletion(chosen)
