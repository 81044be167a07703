"""Map of the shown documents: two facets, such as countries and years, as a shaded table."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from ingestion.status.coverage import UNKNOWN, CoverageGrid, coverage_grid, filter_of_cell
from pages._shared.elements import when_changed
from pages._shared.filter_widgets import display_text, filter_label, filter_names, set_filters
from pages._shared.interface_language import _
from pages._shared.numbers_and_dates import number
from rag_engine.filters import Filter
from rag_engine.types.document import DocumentRecord

_ROWS = ("country", "hazard", "language", "document_type")
_COLUMNS = ("year", "hazard", "country", "language", "document_type", "licence")
# From few documents to many, each light enough for black digits on it (7:1 at least).
_SHADES = ("#d8f0df", "#b4e2c2", "#8fd3a4", "#6cc489")
_ALL = "all"
_CLICKS = "coverage clicks"
_TALLEST = 600
# The tabs of the page, and the name of the one with the table of documents.
TABS = "library tabs"


def draw_grid(documents: Sequence[DocumentRecord], wanted: Filter) -> None:
    """Draw the map; a click on a number shows its documents, within the filters that are set."""
    with st.container(horizontal=True):
        rows = st.selectbox(_("Rows"), _ROWS, format_func=_called, key="coverage rows", width=220)
        others = [name for name in _COLUMNS if name != rows]
        columns = st.selectbox(_("Columns"), others, format_func=_called, key="coverage columns", width=220)
    grid = coverage_grid(documents, rows, columns)
    table = pd.DataFrame(
        [
            {"": _shown(rows, row), _ALL: grid.totals[row]}
            | {column: grid.counts.get((row, column), 0) for column in grid.columns}
            for row in grid.rows
        ]
    )
    clickable = columns in filter_names()
    # A new key after each click, so that nothing stays selected when the reader comes back.
    key = f"coverage grid {rows} {columns} {st.session_state.get(_CLICKS, 0)}"
    most = max(grid.counts.values())
    opened = when_changed(key, st.session_state.get(key), _open_cell, key, grid, wanted)
    st.dataframe(
        table.style.map(partial(_shade, most=most), subset=list(grid.columns)).format(
            _written, subset=[_ALL, *grid.columns]
        ),
        hide_index=True,
        key=key,
        height=min(38 + 35 * len(grid.rows), _TALLEST),
        column_config={
            # Not pinned: Streamlit writes a column that stays in view in a gray too pale to read.
            "": st.column_config.TextColumn(_called(rows), width=130),
            _ALL: st.column_config.NumberColumn(_("All"), width=60),
            **{column: st.column_config.NumberColumn(_shown(columns, column), width=85) for column in grid.columns},
        },
        on_select=opened if clickable else "ignore",
        selection_mode="single-cell",
        alt=_("Number of documents by {rows} and {columns}").format(rows=_called(rows), columns=_called(columns)),
    )
    if clickable:
        st.caption(_("Click a number to see its documents."))


def _called(name: str) -> str:
    return _("Licence") if name == "licence" else filter_label(name)


def _shown(name: str, value: str) -> str:
    if value == UNKNOWN:
        return _("not known")
    if name == "year":
        first, _dash, last = value.partition("-")
        return first if first == last else f"{first}–{last}"
    return display_text(name, value)


def _written(count: Any) -> str:
    return number(count) if count else ""


def _shade(count: int, most: int) -> str:
    if not count:
        return ""
    return f"background-color: {_SHADES[(count - 1) * len(_SHADES) // most]}; color: #000000"


def _open_cell(key: str, grid: CoverageGrid, wanted: Filter) -> None:
    """Filter by the values of the cell that was clicked, and open the table of documents."""
    for row, column in st.session_state[key]["selection"]["cells"]:
        if chosen := filter_of_cell(grid, row, column):
            set_filters("library", {**wanted, **chosen})
            st.session_state[TABS] = _("Documents")
            st.session_state[_CLICKS] = st.session_state.get(_CLICKS, 0) + 1
