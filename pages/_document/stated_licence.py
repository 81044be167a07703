"""Licence of a document that is not on the list of sources: what a person states of it, and where it was published."""

from __future__ import annotations

import streamlit as st

from ingestion.operations.corrections import correct, describe_record
from ingestion.status.document_fields import shown_values
from ingestion.types import STATED_FIELDS
from pages._library.correction import describe_corrected, draw_done, note_done
from pages._shared import resources
from pages._shared.elements import act_button, draw_author
from pages._shared.errors import show_errors
from pages._shared.field_inputs import draw_field, heading_of
from pages._shared.filter_widgets import WORDING
from pages._shared.interface_language import _
from pages._shared.markdown import escape
from pages._shared.numbers_and_dates import day
from rag_engine.answering.reference_list import licence_text
from rag_engine.types import DocumentRecord


def draw_stated_licence(document: DocumentRecord) -> None:
    """Draw the licence with what it forbids and who stated it, and the form to state it."""
    described = describe_record(resources.desk(), document)
    draw_done(document.source)
    licence = document.metadata.licence
    stated = next((one for one in described.corrections if one.field == "licence"), None)
    if licence:
        st.markdown(f"**{escape(licence_text(licence, WORDING))}**")
    else:
        st.caption(_("No licence statement found."))
    if stated is not None:
        by = _("Stated by {name}, {day}.").format(name=escape(stated.author), day=escape(day(stated.when)))
        st.caption(" ".join(filter(None, (by, escape(stated.note)))))
    elif licence:
        st.caption(_("As stated when the document was added; the licence was not checked."))
    if not set(STATED_FIELDS) <= set(described.fields):
        return
    before = shown_values(described)
    key = f"stated {document.key} {resources.engine().catalog.change()}"
    with st.form(f"{key} form", border=False):
        author = draw_author()
        after = {
            field: draw_field(heading_of(field), field, before[field], (), f"{key} {field}") for field in STATED_FIELDS
        }
        note = st.text_input(_("Note"), placeholder=_("Where it is stated, why it is correct"), key=f"{key} note")
        saved = act_button("correct", _("Save"), in_form=True, icon=":material/save:", key="save licence")
    if saved:
        with show_errors():
            entered = correct(resources.desk(), {document.source: after}, author, note)
            note_done([document.source], entered, describe_corrected(entered))
            st.rerun()
