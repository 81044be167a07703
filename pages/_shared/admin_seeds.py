"""What is put on the list of sources: a list of addresses or a feed's entries, seen before they are taken."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pandas as pd
import streamlit as st

from ingestion import reporting
from ingestion.admin_views import counted
from ingestion.outcomes import Source
from ingestion.rows import Unusable
from ingestion.seed_matching import SeedReport
from ingestion.seeds import read_seeds
from pages._shared import resources
from pages._shared.admin_kept import forget, kept
from pages._shared.admin_tabs import open_tab
from pages._shared.plain import plain
from pages._shared.trouble import told

_TYPES = ["xlsx", "xlsm", "csv", "tsv", "xml", "rss", "atom", "txt"]
_LIST = "seed list"
_TOLD = "seeds added"
_WARNINGS = 5


def draw_seed_upload() -> None:
    """Nothing; takes a list of addresses, shows what it would add, and adds it when the person says so."""
    batch = st.session_state.setdefault("seed batch", 0)
    file = st.file_uploader(
        "Seed list: a workbook, CSV, sitemap, feed or text with one address a line",
        type=_TYPES,
        key=f"seed upload {batch}",
    )
    if file is None:
        forget(_LIST)
        st.caption("Nothing is added before you have seen what is in it. Columns are recognised by their headings.")
        return
    with told():
        path = kept(_LIST, file)
        report = read_report(path)
        draw_counts(report)
        # Above what it adds, which may be thousands of rows.
        with st.container(horizontal=True):
            label = f"Add {counted(len(report.new), 'source')}"
            if st.button(label, type="primary", icon=":material/playlist_add:", disabled=not report.new):
                add_sources(report.new)
                _leave(batch)
            if st.button("Leave it", key="leave seeds"):
                _leave(batch)
        draw_rows(report)


def draw_added() -> None:
    """Nothing; says what was added a moment ago and what to do next."""
    added = st.session_state.pop(_TOLD, "")
    if added:
        st.session_state["seeds told"] = added
    if st.session_state.get("seeds told"):
        with st.container(border=True, horizontal=True, vertical_alignment="center"):
            st.markdown(f":material/check_circle: {plain(st.session_state['seeds told'])}")
            st.button("Go to Run", icon=":material/play_circle:", on_click=_go_on, type="primary", key="go to run")


def add_sources(new: Sequence[Source]) -> None:
    """Nothing; the sources are on the list, and the page will say so."""
    reporting.add_sources(resources.register(), new)
    st.session_state[_TOLD] = f"{counted(len(new), 'source')} added. Their licences are checked by the next run."


def read_report(path: Path) -> SeedReport:
    """What a list would add to the sources that are known now."""
    known = resources.register().sources()
    return _read_report(str(path), len(known), known)


def draw_counts(report: SeedReport) -> None:
    """Nothing; draws how much is new, known, and cannot be used."""
    new, known, unusable = st.columns(3)
    new.metric("New", f"{len(report.new):,}")
    known.metric("Known already", f"{report.known:,}")
    unusable.metric("Rows not usable", f"{len(report.unusable):,}")


def draw_rows(report: SeedReport) -> None:
    """Nothing; draws what is new, and what cannot be used and why."""
    if report.new:
        st.dataframe(
            pd.DataFrame([_source(one) for one in report.new]),
            hide_index=True,
            height=min(38 + 35 * len(report.new), 300),
            key="seeds new",
            alt="The sources that would be added",
        )
    draw_unusable(report.unusable)
    for warning in report.warnings[:_WARNINGS]:
        st.caption(f":material/info: {plain(warning)}")
    if len(report.warnings) > _WARNINGS:
        with st.expander(f"{len(report.warnings) - _WARNINGS:,} more remarks"):
            st.text("\n".join(report.warnings[_WARNINGS:]))


def draw_unusable(unusable: Sequence[Unusable]) -> None:
    """Nothing; draws rows that were not taken, with where they stand and why."""
    if unusable:
        st.markdown(f":material/warning: **{counted(len(unusable), 'row')} not usable**")
        st.dataframe(
            pd.DataFrame([{"Where": one.place, "Why": one.reason} for one in unusable]),
            hide_index=True,
            height=min(38 + 35 * len(unusable), 260),
            key="rows not usable",
            alt="Rows that cannot be used",
        )


# A list is large and its report is not changed: it is read once for each state of the register.
@st.cache_resource(max_entries=4, show_spinner="Reading the list …")
def _read_report(path: str, count: int, _known: Sequence[Source]) -> SeedReport:  # noqa: ARG001 part of the key
    return read_seeds(Path(path), _known)


def _leave(batch: int) -> None:
    forget(_LIST)
    st.session_state["seed batch"] = batch + 1
    st.rerun()


def _go_on() -> None:
    st.session_state.pop("seeds told", None)
    open_tab("run")


def _source(source: Source) -> dict[str, str]:
    return {
        "Code": source.code,
        "Title": source.title,
        "Address": source.url or source.path,
        "Authority": source.authority,
        "Notes": source.notes,
        "From": source.origin,
    }
