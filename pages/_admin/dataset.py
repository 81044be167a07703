"""The collection as a file to take away, and an edited workbook taken back in."""

from __future__ import annotations

import tempfile
from dataclasses import asdict
from functools import partial
from pathlib import Path

import pandas as pd
import streamlit as st

from ingestion.dataset.corrections import CorrectionReport, read_corrections
from ingestion.dataset.export import export
from ingestion.operations import take_corrections, vocabulary
from ingestion.records.source_store import now
from ingestion.status.source_status import is_document
from ingestion.status.views import counted, shown_values
from ingestion.types import RunRequest
from pages._admin.add_sources import draw_unusable
from pages._admin.author import draw_author, missing
from pages._admin.field_editor import HEADINGS
from pages._admin.tabs import open_tab
from pages._admin.uploaded_file import forget, kept
from pages._shared import resources
from pages._shared.errors import show_errors
from pages._shared.jobs import queue
from pages._shared.markdown import plain
from rag_engine.errors import InputError

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
                partial(_written, suffix),
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


def _written(suffix: str) -> bytes:
    """The dataset in the format of the suffix."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"dataset{suffix}"
        export(path, list(resources.records().values()))
        return path.read_bytes()


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
        report = read_corrections(path, list(resources.records().values()), author, now(), vocabulary())
        _draw_report(report)
        with st.container(horizontal=True):
            label = f"Take over {counted(len(report.corrections), 'correction')}"
            if st.button(
                label, type="primary", icon=":material/save:", disabled=not report.corrections, key="take over"
            ):
                if trouble := missing(author):
                    raise InputError(trouble)
                taken = take_corrections(path, resources.store(), author)
                st.session_state[_TAKEN] = len(taken.corrections)
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
    draw_unusable(report.unusable)
    for warning in report.warnings:
        st.caption(f":material/info: {plain(warning)}")


def _draw_taken() -> None:
    if _TAKEN in st.session_state:
        with st.container(border=True, horizontal=True, vertical_alignment="center", key="taken over"):
            st.markdown(f":material/check_circle: {counted(st.session_state[_TAKEN], 'correction')} taken over.")
            if st.button("Update the index", icon=":material/sync:", type="primary", key="index imported"):
                del st.session_state[_TAKEN]
                queue("run", asdict(RunRequest(phases=("indexing",))))
                open_tab("run")
                st.rerun()


def _leave(batch: int) -> None:
    forget(_WORKBOOK)
    st.session_state["workbook batch"] = batch + 1
    st.rerun()
