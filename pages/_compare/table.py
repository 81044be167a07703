"""The table of a comparison: a cell shows its short answer and opens at a click."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from pathlib import Path

import streamlit as st

from ingestion.dataset.comparison.comparison import NOT_ASKED, CellPlace, Comparison, ComparisonCell
from ingestion.status.views import pluralised

_FOLDER = Path(__file__).parent
_table = st.components.v2.component(
    "comparison table",
    css=(_FOLDER / "table.css").read_text(encoding="utf-8"),
    js=(_FOLDER / "table.js").read_text(encoding="utf-8"),
)
_KEY = "comparison table"


def draw_table(
    comparison: Comparison,
    notes: Mapping[str, str],
    asking: Collection[CellPlace],
    on_opened: Callable[[int, int], None],
) -> None:
    """Draw the cells; `notes` say what is to be known of columns, `asking` are the places that a run is still to ask.

    `on_opened` gets the row and the column of a cell that is clicked, counted from 0.
    """
    rows = [
        {
            "question": question,
            "cells": [
                _shown(comparison.cells.get((question, column.key)), waiting=(question, column.key) in asking)
                for column in comparison.columns
            ],
        }
        for question in comparison.questions
    ]
    columns = [{"label": one.label, "note": notes.get(one.key, "")} for one in comparison.columns]
    _table(
        key=_KEY,
        data={"label": comparison.name, "columns": columns, "rows": rows},
        on_opened_change=lambda: on_opened(*map(int, st.session_state[_KEY]["opened"])),
    )


def _shown(cell: ComparisonCell | None, *, waiting: bool) -> dict[str, str]:
    """Return a cell's status, its text, and below it where the text is from or how much was searched."""
    if cell is None or (waiting and cell.status == "failed"):
        return {"status": "asking" if waiting else NOT_ASKED, "text": "", "note": ""}
    status = "asking again" if waiting else cell.status
    if cell.status == "nothing found":
        return {"status": status, "text": "", "note": cell.effort.describe()}
    others = len(cell.evidence) - 1
    more = f"; {pluralised(others, 'more quote')}" if others > 0 else ""
    return {"status": status, "text": cell.short, "note": f"{cell.source}{more}"}
