"""The table of a comparison: a cell shows its short answer and opens at a click."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from pathlib import Path

import streamlit as st

from ingestion.dataset.comparison.comparison import NOT_ASKED, CellPlace, Comparison, ComparisonCell
from pages._compare.cell import short_language
from pages._compare.new_comparison import shown_columns
from pages._shared.filter_widgets import WORDING
from pages._shared.interface_language import _, to_translate
from pages._shared.numbers_and_dates import counted
from pages._shared.shown_names import page_place

_FOLDER = Path(__file__).parent
_table = st.components.v2.component(
    "comparison table",
    css=(_FOLDER / "table.css").read_text(encoding="utf-8"),
    js=(_FOLDER / "table.js").read_text(encoding="utf-8"),
)
_KEY = "comparison table"
# Above the text of a cell; where it is answered there is nothing to say.
_STATUSES = {
    "closest passages": to_translate("Closest passage"),
    "nothing found": to_translate("Nothing found"),
    "failed": to_translate("Failed"),
    NOT_ASKED: to_translate("Not asked yet"),
    "asking": to_translate("Waiting …"),
    "asking again": to_translate("Asking again …"),
}


def draw_table(
    comparison: Comparison,
    notes: Mapping[str, str],
    asking: Collection[CellPlace],
    on_opened: Callable[[int, int], None],
) -> None:
    """Draw the cells of a comparison.

    `notes` are notes on columns by their keys, `asking` the places that a job is still to ask. `on_opened` gets the row
    and the column of a cell that is clicked, counted from 0.
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
    labels = shown_columns(comparison.by, comparison.columns)
    columns = [{"label": label, "note": notes.get(key, "")} for key, label in labels.items()]
    _table(
        key=_KEY,
        data={"label": comparison.name, "question": _("Question"), "columns": columns, "rows": rows},
        on_opened_change=lambda: on_opened(*map(int, st.session_state[_KEY]["opened"])),
    )


def _shown(cell: ComparisonCell | None, *, waiting: bool) -> dict[str, str]:
    """Return a cell's status with its words, its text, and a note on its source or on the search."""
    if cell is None or (waiting and cell.status == "failed"):
        return _told("asking" if waiting else NOT_ASKED)
    status = "asking again" if waiting else cell.status
    if cell.status == "nothing found":
        return _told(status, note=cell.effort.describe(WORDING))
    others = len(cell.evidence) - 1
    more = counted("{n} more quote", "{n} more quotes", others) if others > 0 else ""
    note = "; ".join(filter(None, (cell.source(page_place), more)))
    return _told(status, cell.short, note) | {"language": short_language(cell)}


def _told(status: str, text: str = "", note: str = "") -> dict[str, str]:
    return {"status": status, "label": _(_STATUSES.get(status, "")), "text": text, "note": note}
