"""Dataset: its export, and the import of an edited workbook."""

from __future__ import annotations

from functools import partial

import streamlit as st

from ingestion.acts.corrections import import_corrections, read_edited
from ingestion.acts.dataset import exported_bytes
from ingestion.dataset.corrections import CorrectionReport
from ingestion.status.document_fields import shown_values
from ingestion.status.source_status import is_document
from pages._admin.add_sources import draw_refused
from pages._admin.field_editor import draw_applied
from pages._shared import resources
from pages._shared.elements import act_button, draw_author, draw_download, draw_table
from pages._shared.errors import show, show_errors
from pages._shared.field_inputs import heading_of
from pages._shared.filter_widgets import WORDING
from pages._shared.interface_language import _, to_translate
from pages._shared.markdown import escape
from pages._shared.numbers_and_dates import counted
from pages._shared.shown_names import shown_name
from pages._uploads.uploader import draw_preview_uploader, leave, stored_preview

_FORMATS = {
    ".xlsx": (
        to_translate("Excel workbook"),
        ":material/table_view:",
        to_translate("For editing: changes can be imported again."),
    ),
    ".csv": ("CSV", ":material/csv:", to_translate("One table; changes can be imported again.")),
    ".jsonl": ("JSON Lines", ":material/data_object:", to_translate("One document per line, for programs.")),
    ".bib": ("BibTeX", ":material/menu_book:", to_translate("For LaTeX and reference managers.")),
    ".ris": ("RIS", ":material/menu_book:", to_translate("For Zotero, EndNote, Mendeley.")),
}
_APPLIED = "corrections applied"
_DECIDED = "decisions applied"


def draw_dataset() -> None:
    """Draw the export and the import."""
    found = list(resources.records().values())
    if not found:
        st.info(
            _("Nothing to export yet: the dataset is of the sources of the list. Add some on the Sources tab first.")
        )
        return
    count = sum(1 for record in found if is_document(record))
    st.header(_("Export"), anchor=False)
    others = counted(
        "The workbook also lists {n} other source with its reason, and the evidence for every licence.",
        "The workbook also lists {n} other sources with their reasons, and the evidence for every licence.",
        len(found) - count,
    )
    st.markdown(" ".join((counted("{n} document.", "{n} documents.", count), others)))
    with st.container(horizontal=True):
        for suffix, (label, icon, help) in _FORMATS.items():
            written = partial(exported_bytes, resources.context(), suffix, WORDING)
            name = f"sextant-dataset{suffix}"
            draw_download(_(label), written, name, f"export {suffix}", icon=icon, type="secondary", help=_(help))
    st.header(_("Import an edited workbook"), anchor=False)
    draw_applied(_APPLIED, lambda n: counted("{n} correction applied.", "{n} corrections applied.", n))
    if count := st.session_state.get(_DECIDED, 0):
        decided = counted(
            "{n} licence decided. The next run uses the decision.",
            "{n} licences decided. The next run uses the decisions.",
            count,
        )
        st.markdown(f":material/check_circle: {decided}")
    _draw_import(draw_author())


def _draw_import(author: str) -> None:
    label = _("The workbook or CSV that was exported and edited")
    file = draw_preview_uploader("workbook", label, ["xlsx", "xlsm", "csv"])
    if file is None:
        st.caption(_("You see a preview before anything is changed."))
        return
    with show_errors():
        path = stored_preview("workbook", file)
        report = read_edited(resources.context(), path, author)
        _draw_report(report)
        with st.container(horizontal=True):
            nothing = not report.corrections and not report.decisions
            if act_button(
                "import_corrections",
                _application(len(report.corrections), len(report.decisions)),
                type="primary",
                icon=":material/save:",
                disabled=nothing,
                key="apply",
            ):
                applied = import_corrections(resources.context(), path, author)
                st.session_state[_APPLIED] = len(applied.corrections)
                st.session_state[_DECIDED] = len(applied.decisions)
                leave("workbook")
            if st.button(_("Discard changes"), key="leave workbook"):
                leave("workbook")


def _application(corrections: int, decisions: int) -> str:
    """Return what the button does with a workbook."""
    if corrections and decisions:
        return counted("Apply {n} change", "Apply {n} changes", corrections + decisions)
    if decisions:
        return counted("Apply {n} decision", "Apply {n} decisions", decisions)
    return counted("Apply {n} correction", "Apply {n} corrections", corrections)


def _draw_report(report: CorrectionReport) -> None:
    source_records = resources.records()
    changed = counted("{n} value changed.", "{n} values changed.", len(report.corrections))
    unchanged = counted("{n} row unchanged.", "{n} rows unchanged.", report.unchanged)
    st.caption(f"{changed} {unchanged}")
    rows = [
        {
            _("Code"): correction.code,
            _("Field"): heading_of(correction.field),
            _("Current"): "; ".join(shown_values(source_records[correction.code])[correction.field]),
            _("New"): "; ".join(correction.values) or _("(empty)"),
        }
        for correction in report.corrections
    ]
    rows += [
        {
            _("Code"): decision.code,
            _("Field"): _("Licence"),
            _("Current"): shown_name(verdict.light) if (verdict := source_records[decision.code].verdict) else "",
            _("New"): f"{shown_name(decision.choice)} · {decision.note}",
        }
        for decision in report.decisions
    ]
    if rows:
        draw_table(rows, "changes", _("Values that would change"), 360)
    draw_refused(report.refused)
    for warning in report.warnings:
        st.caption(f":material/info: {escape(show(warning))}")
