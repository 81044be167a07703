"""The collection as a file to take away, and an edited workbook taken back in."""

from __future__ import annotations

from functools import partial

import pandas as pd
import streamlit as st

from ingestion.dataset.corrections import CorrectionReport
from ingestion.operations import exported_bytes, import_corrections, read_edited, run
from ingestion.status.document_fields import shown_values
from ingestion.status.source_status import is_document
from ingestion.status.views import counted
from ingestion.types import RunRequest
from pages._admin.add_sources import draw_rejected
from pages._admin.field_editor import HEADINGS
from pages._admin.tabs import open_tab
from pages._admin.uploaded_file import forget, kept
from pages._shared import resources
from pages._shared.author import draw_author
from pages._shared.errors import show_errors
from pages._shared.markdown import plain

_FORMATS = {
    ".xlsx": ("Excel workbook", ":material/table_view:", "For editing: what you change in it can be imported again."),
    ".csv": ("CSV", ":material/csv:", "One table; can be imported again too."),
    ".jsonl": ("JSON Lines", ":material/data_object:", "One document a line, for programs."),
    ".bib": ("BibTeX", ":material/menu_book:", "For LaTeX and reference managers."),
    ".ris": ("RIS", ":material/menu_book:", "For Zotero, EndNote, Mendeley."),
}
_WORKBOOK = "edited workbook"
_TAKEN = "corrections taken"


def draw_dataset() -> None:
    """Nothing; draws the ways out and the way back in."""
    found = list(resources.records().values())
    if not found:
        st.info("There is nothing to export yet: put sources on the list first, in the part “Sources”.")
        return
    count = sum(1 for one in found if is_document(one))
    st.subheader("Export", anchor=False)
    st.markdown(
        f"{counted(count, 'document')}; the workbook also holds the {len(found) - count:,} other sources with their "
        "reasons, and the evidence on every licence."
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
    st.subheader("Import an edited workbook", anchor=False)
    _draw_taken()
    _draw_import(draw_author())


def _draw_import(author: str) -> None:
    batch = st.session_state.setdefault("workbook batch", 0)
    file = st.file_uploader(
        "The workbook or CSV that was exported and edited", type=["xlsx", "xlsm", "csv"], key=f"workbook {batch}"
    )
    if file is None:
        forget(_WORKBOOK)
        st.caption("You see what would change before anything does.")
        return
    with show_errors():
        path = kept(_WORKBOOK, file)
        report = read_edited(resources.desk(), path, author)
        _draw_report(report)
        with st.container(horizontal=True):
            label = f"Take over {counted(len(report.corrections), 'correction')}"
            if st.button(
                label, type="primary", icon=":material/save:", disabled=not report.corrections, key="take over"
            ):
                st.session_state[_TAKEN] = len(import_corrections(resources.desk(), path, author).corrections)
                _leave(batch)
            if st.button("Leave it", key="leave workbook"):
                _leave(batch)


def _draw_report(report: CorrectionReport) -> None:
    source_records = resources.records()
    st.caption(f"{counted(len(report.corrections), 'value')} changed, {counted(report.unchanged, 'row')} as before.")
    rows = [
        {
            "Code": one.code,
            "Field": HEADINGS[one.field],
            "Now": "; ".join(shown_values(source_records[one.code])[one.field]),
            "Will be": "; ".join(one.values) or "(emptied)",
        }
        for one in report.corrections
    ]
    if rows:
        st.dataframe(
            pd.DataFrame(rows),
            hide_index=True,
            height=min(38 + 35 * len(rows), 360),
            key="changes",
            alt="Values that would change",
        )
    draw_rejected(report.rejected)
    for warning in report.warnings:
        st.caption(f":material/info: {plain(warning)}")


def _draw_taken() -> None:
    if _TAKEN in st.session_state:
        with st.container(border=True, horizontal=True, vertical_alignment="center", key="taken over"):
            st.markdown(f":material/check_circle: {counted(st.session_state[_TAKEN], 'correction')} taken over.")
            if st.button("Update the index", icon=":material/sync:", type="primary", key="index imported"):
                del st.session_state[_TAKEN]
                run(resources.desk(), RunRequest(phases=("indexing",)))
                open_tab("run")
                st.rerun()


def _leave(batch: int) -> None:
    forget(_WORKBOOK)
    st.session_state["workbook batch"] = batch + 1
    st.rerun()
