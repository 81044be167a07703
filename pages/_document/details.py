"""Metadata of a document with where each value comes from, its confirmation and correction, and the deletion."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from ingestion.operations.corrections import agree, correction_history, describe_record
from ingestion.records.document_corrections import Correction
from ingestion.status.document_fields import Described, field_values, shown_values, unchecked_fields
from ingestion.status.views import pluralised
from ingestion.types import FIELDS, FieldName
from pages._admin.field_editor import draw_value
from pages._library.correction import draw_correction, draw_done, note_done
from pages._library.erasure import confirm_deletion
from pages._shared import resources
from pages._shared.elements import act_button, known_author
from pages._shared.errors import show_errors
from pages._shared.field_inputs import heading_of
from pages._shared.filter_widgets import display_text
from pages._shared.markdown import escape, escape_paragraphs
from rag_engine.types import DocumentRecord

EXTRACTED = ":orange-badge[:material/help: extracted, not checked]"
# The title is the heading of the page.
_SHOWN: tuple[FieldName, ...] = (
    "title", "description", "authority", "document_type", "date", "language", "geographical_level", "countries",
    "hazards", "target", "key_criteria", "tags", "notes",
)  # fmt: skip


def draw_details(document: DocumentRecord) -> None:
    """Draw what is known of the document, with a mark on what was extracted and that nobody has confirmed."""
    described = describe_record(resources.desk(), document)
    unchecked = unchecked_fields(described)
    draw_done(document.source)
    with st.container(horizontal=True, key="document acts"):
        if act_button("correct", "Correct", icon=":material/edit:", key="correct document"):
            draw_correction([document])
        if unchecked and act_button(
            "agree",
            f"Agree with all {len(unchecked)}" if len(unchecked) > 1 else "Agree with the value",
            icon=":material/done_all:",
            key="agree all",
            help="Confirm all values that were extracted automatically",
        ):
            _agree(document, unchecked)
        if act_button(
            "queue_erasure",
            ":red[Delete this document]",
            icon=":material/delete:",
            key="delete document",
            type="tertiary",
        ):
            confirm_deletion([document])
    _draw_values(document, described, unchecked)
    facts = {
        "Source": document.metadata.source_url,
        "File": document.file,
        "Length": _length(document),
        "Id": document.document_id,
    }
    st.markdown("  \n".join(f"**{name}** {escape(value)}" for name, value in facts.items() if value))
    _draw_justification(described)
    _draw_history(document)


def _draw_values(document: DocumentRecord, described: Described, unchecked: Sequence[FieldName]) -> None:
    shown = shown_values(described)
    for field in _SHOWN:
        if not shown[field]:
            continue
        with st.container(horizontal=True, vertical_alignment="center", gap="small", wrap=False, key=f"value {field}"):
            text = ", ".join(display_text("language", one) if field == "language" else one for one in shown[field])
            mark = f"  {EXTRACTED}" if field in unchecked else ""
            st.markdown(f"**{heading_of(field)}**{mark}  \n{escape_paragraphs(text)}", width="stretch")
            if field in unchecked and act_button(
                "agree",
                "Agree",
                icon=":material/check:",
                key=f"agree {field}",
                type="tertiary",
                help="This value is correct",
            ):
                _agree(document, [field])


def _agree(document: DocumentRecord, fields: Sequence[FieldName]) -> None:
    with show_errors():
        entered = agree(resources.desk(), [document.source], known_author(), fields)
        note_done([document.source], entered, f"{pluralised(len(entered), 'value')} confirmed.")
        st.rerun()


def _draw_justification(described: Described) -> None:
    """Draw every value with the sentence that justifies it."""
    with st.expander("Where these values come from", icon=":material/fact_check:"):
        for field in FIELDS:
            values = field_values(described, field)
            if values:
                st.caption(heading_of(field))
            for value in values:
                draw_value(value)


def _draw_history(document: DocumentRecord) -> None:
    entries = correction_history(resources.desk(), document.source)
    if not entries:
        return
    with st.expander("Corrections", icon=":material/history:"):
        st.markdown("  \n".join(_entry(one) for one in reversed(entries)))


def _entry(one: Correction) -> str:
    done = {"correct": "; ".join(one.values) or "(emptied)", "agree": "confirmed", "undo": "undone"}[one.act]
    when = f"{one.when[:16].replace('T', ' ')} · {escape(one.author)}"
    note = f" · {escape(one.note)}" if one.note else ""
    return f"{when} · **{heading_of(one.field)}**: {escape(done)}{note}"


def _length(document: DocumentRecord) -> str:
    read = f", {document.ocr_pages:,} of them read by OCR" if document.ocr_pages else ""
    passages = f"{document.children:,} passages, {document.characters:,} characters"
    return f"{pluralised(document.pages, 'page')}{read}, {passages}"
