"""Metadata of a document: origin, confirmation and correction of each value, and the deletion."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st

from ingestion.acts.corrections import correction_history, describe_records, undo
from ingestion.records.document_corrections import Correction, standing
from ingestion.records.source_record import SourceRecord
from ingestion.status.document_fields import field_values, shown_values, unchecked_fields
from ingestion.types.description import FieldName
from pages._admin.evidence import draw_quality
from pages._admin.field_editor import draw_value
from pages._library.correction import agree_with, draw_correction, draw_done, forget_done
from pages._library.erasure import confirm_deletion
from pages._shared import resources
from pages._shared.elements import act_button, known_author
from pages._shared.errors import show, show_errors
from pages._shared.field_inputs import heading_of
from pages._shared.filter_widgets import display_text
from pages._shared.interface_language import _
from pages._shared.markdown import escape, escape_paragraphs
from pages._shared.numbers_and_dates import counted, moment
from pages._shared.shown_names import count_pages
from rag_engine.types.document import DocumentRecord

# The title is the heading of the page.
_SHOWN: tuple[FieldName, ...] = (
    "title", "description", "authority", "document_type", "date", "language", "geographical_level", "countries",
    "hazards", "target", "key_criteria", "tags", "notes",
)  # fmt: skip
# Facets of the filters for these fields.
_FACETS: Mapping[FieldName, str] = {"hazards": "hazard", "countries": "country"}


def draw_details(document: DocumentRecord) -> None:
    """Draw what is known of the document, with a mark on what was extracted and that nobody has confirmed."""
    [described] = describe_records(resources.context(), [document])
    unchecked = unchecked_fields(described)
    draw_done(document.source)
    with st.container(horizontal=True, key="document acts"):
        if act_button("correct", _("Correct"), icon=":material/edit:", key="correct document"):
            draw_correction([document])
        if unchecked and act_button(
            "agree",
            counted("Agree with the value", "Agree with all {n}", len(unchecked)),
            icon=":material/done_all:",
            key="agree all",
            help=_("Confirm all values that were extracted automatically"),
        ):
            agree_with([document.source], unchecked)
        if act_button(
            "queue_erasure",
            _(":red[Delete this document]"),
            icon=":material/delete:",
            key="delete document",
            type="tertiary",
        ):
            confirm_deletion([document])
    _draw_values(document, described, unchecked)
    if described.quality is not None:
        draw_quality(described.quality)
    for outcome in map(described.outcomes.get, ("quality", "deduplication")):
        if outcome is not None and outcome.message:
            st.caption(f":material/info: {escape(show(outcome.message))}")
    facts = {
        _("Source"): document.metadata.source_url,
        _("File"): document.file,
        _("Identifiers"): ", ".join(document.metadata.identifiers),
        _("Length"): _length(document),
        _("ID"): document.document_id,
    }
    st.markdown("  \n".join(f"**{name}** {escape(value)}" for name, value in facts.items() if value))
    _draw_justification(document, described)
    _draw_history(document)


def _draw_values(document: DocumentRecord, described: SourceRecord, unchecked: Sequence[FieldName]) -> None:
    shown = shown_values(described)
    for field in _SHOWN:
        if not shown[field]:
            continue
        with st.container(horizontal=True, vertical_alignment="center", gap="small", wrap=False, key=f"value {field}"):
            text = ", ".join(display_text(_FACETS.get(field, field), one) for one in shown[field])
            extracted = _("extracted, not checked")
            mark = f"  :orange-badge[:material/help: {extracted}]" if field in unchecked else ""
            st.markdown(f"**{heading_of(field)}**{mark}  \n{escape_paragraphs(text)}", width="stretch")
            if field in unchecked and act_button(
                "agree",
                _("Agree"),
                icon=":material/check:",
                key=f"agree {field}",
                type="tertiary",
                help=_("This value is correct"),
            ):
                agree_with([document.source], [field])


def _draw_justification(document: DocumentRecord, described: SourceRecord) -> None:
    """Draw every value with the sentence that justifies it, and the way to its page."""
    with st.expander(_("Where these values come from"), icon=":material/fact_check:"):
        for field in described.fields:
            values = field_values(described, field)
            if values:
                st.caption(heading_of(field))
            for value in values:
                draw_value(value, document.document_id)


def _draw_history(document: DocumentRecord) -> None:
    entries = correction_history(resources.context(), document.source)
    if not entries:
        return
    counting = standing(entries)
    with st.expander(_("Corrections"), icon=":material/history:"):
        for entry in reversed(entries):
            with st.container(horizontal=True, vertical_alignment="center", gap="small"):
                st.markdown(_entry(entry), width="content")
                # Each by its identity: equal entries may follow one another.
                if any(entry is it for it in counting) and act_button(
                    "undo",
                    _("Undo"),
                    icon=":material/undo:",
                    key=f"undo {entry.field}",
                    type="tertiary",
                    help=_("Return to the previous value"),
                ):
                    with show_errors():
                        undo(resources.context(), [document.source], known_author(), entry.field, batch=entry.batch)
                        forget_done(entry.batch)
                        st.rerun()


def _entry(correction: Correction) -> str:
    acts = {"correct": "; ".join(correction.values) or _("(emptied)"), "agree": _("confirmed"), "undo": _("undone")}
    done = acts[correction.act]
    when = f"{moment(correction.when)} · {escape(correction.author)}"
    note = f" · {escape(correction.note)}" if correction.note else ""
    return f"{when} · **{heading_of(correction.field)}**: {escape(done)}{note}"


def _length(document: DocumentRecord) -> str:
    parts = [count_pages(document.file, document.pages)]
    if document.ocr_pages:
        parts.append(counted("{n} of them read by OCR", "{n} of them read by OCR", document.ocr_pages))
    parts.append(counted("{n} passage", "{n} passages", document.children))
    parts.append(counted("{n} character", "{n} characters", document.characters))
    return ", ".join(filter(None, parts))
