"""Dataset: its export, and the import of an edited workbook."""

from __future__ import annotations

from functools import partial

import streamlit as st

from ingestion.dataset.corrections import CorrectionReport
from ingestion.operations.corrections import import_corrections, read_edited
from ingestion.operations.dataset import exported_bytes
from ingestion.status.document_fields import shown_values
from ingestion.status.source_status import is_document
from ingestion.status.views import pluralised
from pages._admin.add_sources import draw_rejected
from pages._admin.document_answers import draw_document_answers
from pages._admin.field_editor import draw_applied
from pages._admin.uploaded_file import draw_uploader, leave, stored_preview
from pages._shared import resources
from pages._shared.elements import act_button, draw_author, draw_table
from pages._shared.errors import show_errors
from pages._shared.field_inputs import heading_of
from pages._shared.markdown import escape

_FORMATS = {
    ".xlsx": ("Excel workbook", ":material/table_view:", "For editing: changes can be imported again."),
    ".csv": ("CSV", ":material/csv:", "One table; changes can be imported again."),
    ".jsonl": ("JSON Lines", ":material/data_object:", "One document per line, for programs."),
    ".bib": ("BibTeX", ":material/menu_book:", "For LaTeX and reference managers."),
    ".ris": ("RIS", ":material/menu_book:", "For Zotero, EndNote, Mendeley."),
}
_APPLIED = "corrections applied"
_DECIDED = "decisions applied"


def draw_dataset() -> None:
    """Draw the export and the import, and the questions to each document."""
    _draw_files()
    draw_document_answers()


def _draw_files() -> None:
    found = list(resources.records().values())
    if not found:
        st.info("Nothing to export yet. Add sources on the Sources tab first.")
        return
    count = sum(1 for one in found if is_document(one))
    st.header("Export", anchor=False)
    st.markdown(
        f"{pluralised(count, 'document')}; the workbook also lists the {len(found) - count:,} other sources with their "
        "reasons, and the evidence for every licence."
    )
    with st.container(horizontal=True):
        for suffix, (label, icon, help) in _FORMATS.items():
            st.download_button(
                label,
                # Written when it is asked for, not whenever the page is drawn.
                partial(exported_bytes, resources.desk(), suffix),
                f"sextant-dataset{suffix}",
                "application/octet-stream",
                key=f"export {suffix}",
                icon=icon,
                help=help,
                on_click="ignore",
            )
    st.header("Import an edited workbook", anchor=False)
    draw_applied(_APPLIED, "applied.")
    if count := st.session_state.get(_DECIDED, 0):
        st.markdown(f":material/check_circle: {pluralised(count, 'licence')} decided. The next run takes them up.")
    _draw_import(draw_author())


def _draw_import(author: str) -> None:
    label = "The workbook or CSV that was exported and edited"
    file = draw_uploader("workbook", label, ["xlsx", "xlsm", "csv"])
    if file is None:
        st.caption("You see a preview before anything is changed.")
        return
    with show_errors():
        path = stored_preview("workbook", file)
        report = read_edited(resources.desk(), path, author)
        _draw_report(report)
        with st.container(horizontal=True):
            kinds = {"correction": len(report.corrections), "decision": len(report.decisions)}
            counts = [pluralised(count, kind) for kind, count in kinds.items() if count] or ["0 corrections"]
            label, nothing = f"Apply {' and '.join(counts)}", not any(kinds.values())
            if act_button(
                "import_corrections", label, type="primary", icon=":material/save:", disabled=nothing, key="apply"
            ):
                applied = import_corrections(resources.desk(), path, author)
                st.session_state[_APPLIED] = len(applied.corrections)
                st.session_state[_DECIDED] = len(applied.decisions)
                leave("workbook")
            if st.button("Discard changes", key="leave workbook"):
                leave("workbook")


def _draw_report(report: CorrectionReport) -> None:
    source_records = resources.records()
    st.caption(
        f"{pluralised(len(report.corrections), 'value')} changed, {pluralised(report.unchanged, 'row')} unchanged."
    )
    rows = [
        {
            "Code": one.code,
            "Field": heading_of(one.field),
            "Now": "; ".join(shown_values(source_records[one.code])[one.field]),
            "New": "; ".join(one.values) or "(empty)",
        }
        for one in report.corrections
    ]
    rows += [
        {
            "Code": decision.code,
            "Field": "Licence",
            "Now": verdict.light if (verdict := source_records[decision.code].verdict) else "",
            "New": f"{decision.choice}: {decision.note}",
        }
        for decision in report.decisions
    ]
    if rows:
        draw_table(rows, "changes", "Values that would change", 360)
    draw_rejected(report.rejected)
    for warning in report.warnings:
        st.caption(f":material/info: {escape(warning)}")
