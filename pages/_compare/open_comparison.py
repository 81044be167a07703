"""The comparison that is open: its table with the progress of its jobs, and what can be done to it."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from datetime import UTC, datetime
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Literal

import streamlit as st

from ingestion.acts.comparisons import (
    ask_columns_again,
    ask_comparison,
    comparison_cells,
    comparison_jobs,
    exported_comparison,
    extend_comparison,
    outline_comparison,
    shrink_comparison,
)
from ingestion.dataset.comparison.comparison import (
    NOT_ASKED,
    CellPlace,
    Comparison,
    ComparisonCell,
    columns_of,
    outdated_columns,
    present_columns,
    read_questions,
    state_text,
)
from ingestion.file_names import download_name
from pages._compare.cell import CELL, draw_cell, short_language
from pages._compare.earlier_comparisons import UNDO, draw_naming, note_removed
from pages._compare.new_comparison import COMPARISON, draw_column_choice, kind_name, shown_columns
from pages._compare.shown_part import counted_state, draw_part_choice
from pages._shared import resources
from pages._shared.elements import act_button, base_address, draw_download, draw_heading, draw_way_back, open_in_address
from pages._shared.errors import show, show_errors
from pages._shared.filter_widgets import WORDING, draw_filters
from pages._shared.interface_language import _, to_translate
from pages._shared.jobs import draw_jobs
from pages._shared.numbers_and_dates import counted, duration, number

_POLL_SECONDS = 2.0
# A table of six columns wants the room beside it.
_WIDE = '<style>[data-testid="stMainBlockContainer"] { padding-inline: clamp(1rem, 2.2vw, 5rem); }</style>'
_CELL = re.compile(r"([0-9]{1,4})\.([0-9]{1,4})")
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


def current_comparison() -> Comparison | None:
    """Return the comparison that the address names, None where there is none."""
    return outline_comparison(resources.context(), st.query_params.get(COMPARISON, ""))


def draw_comparison(comparison: Comparison) -> None:
    """Draw the comparison, and over it the cell that the address names."""
    id = comparison.id
    st.html(_WIDE)
    draw_heading(comparison.name, COMPARISON, of_page=True)
    draw_way_back(f"{UNDO} {id}", "restore_comparison")
    active = [job for job in comparison_jobs(resources.context(), id) if job.active]
    _draw_acts(comparison, idle=not active)
    draw_jobs(lambda job: job.kind == "compare" and job.arguments.get("comparison") == id)
    # The table follows the job; what is around it does not have to be drawn again for that.
    st.fragment(_draw_cells, run_every=_POLL_SECONDS if active else None)(id)
    _draw_open_cell(comparison)


def _draw_cells(id: str) -> None:
    comparison = outline_comparison(resources.context(), id)
    if comparison is None:
        st.rerun()
    asking = _asking(comparison)
    told = (counted_state(comparison), _time_left(comparison, len(asking)))
    st.caption(f"{' · '.join(filter(None, told))}.")
    rows, columns = draw_part_choice(comparison)
    if rows:
        _draw_table(comparison, rows, columns, asking)
    if CELL in st.query_params and st.session_state.pop("comparison cell clicked", False):
        # A dialog belongs to the whole page: drawn by this part it would go when the table is drawn again.
        st.rerun()


def _time_left(comparison: Comparison, left: int) -> str:
    """Return how long the job will take, by the cells that it has asked so far; "" before it has."""
    running = [job for job in comparison_jobs(resources.context(), comparison.id) if job.active and job.started]
    if not running:
        return ""
    begun = datetime.fromisoformat(running[0].started).astimezone(UTC)
    asked = sum(datetime.fromisoformat(cell.asked) >= begun for cell in comparison.cells.values())
    seconds = (datetime.now(UTC) - begun).total_seconds()
    return _("about {duration} left").format(duration=duration(seconds * left / asked)) if asked and left else ""


def _open_cell() -> None:
    # Counted from 0.
    row, column = map(int, st.session_state[_KEY]["opened"])
    open_in_address(CELL, f"{row}.{column}")
    st.session_state["comparison cell clicked"] = True


def _draw_open_cell(comparison: Comparison) -> None:
    named = _CELL.fullmatch(st.query_params.get(CELL, ""))
    row, column = (int(named[1]), int(named[2])) if named else (len(comparison.questions), 0)
    if row < len(comparison.questions) and column < len(comparison.columns):
        question, chosen = comparison.questions[row], comparison.columns[column]
        asking = (question, chosen.key) in _asking(comparison)
        draw_cell(comparison, question, chosen, asking=asking, present=chosen.key in _present(comparison))


def _notes(comparison: Comparison) -> dict[str, str]:
    """Return what is to be known of columns: that they have gone, or that their documents have changed."""
    present, outdated = _present(comparison), _outdated(comparison)
    gone = {column.key: _("No longer in the collection.") for column in comparison.columns if column.key not in present}
    return gone | dict.fromkeys(outdated, _("Its documents have changed."))


def _outdated(comparison: Comparison) -> frozenset[str]:
    return outdated_columns(comparison, resources.engine().collection.snapshot())


def _present(comparison: Comparison) -> frozenset[str]:
    return present_columns(comparison, resources.engine().collection.snapshot())


def _asking(comparison: Comparison) -> set[CellPlace]:
    """Return the places that jobs are still to ask."""
    left = set(comparison.open_places)
    return {
        (question, column)
        for job in comparison_jobs(resources.context(), comparison.id)
        if job.active
        for question in job.arguments["questions"]
        for column in job.arguments["columns"]
        if (question, column) in left
        or ((cell := comparison.cells.get((question, column))) and cell.asked < job.arguments["since"])
    }


def _draw_acts(comparison: Comparison, *, idle: bool) -> None:
    """Draw what can be done with the whole comparison."""
    id = comparison.id
    with st.container(horizontal=True, vertical_alignment="center", key="comparison-acts"):
        if idle:
            _draw_asking(comparison)
        draw_download(
            _("Excel workbook"),
            partial(exported_comparison, resources.context(), id, base_address("/compare"), WORDING),
            f"{download_name(comparison.name, 'comparison')}.xlsx",
            "comparison export",
            icon=":material/table_view:",
            type="secondary",
        )
        with st.popover(_("Add"), icon=":material/add:", type="tertiary", key="comparison add"):
            _draw_additions(comparison)
        with st.popover(_("Remove"), icon=":material/remove:", type="tertiary", key="comparison take out"):
            _draw_removals(comparison)
        draw_naming(comparison)


def _draw_asking(comparison: Comparison) -> None:
    """Draw how to ask what is open, and once more what has other documents by now."""
    present, outdated = _present(comparison), _outdated(comparison)
    left = [place for place in comparison.open_places if place[1] in present]
    label = counted("Ask {n} open cell", "Ask {n} open cells", len(left))
    if left and act_button(
        "ask_comparison", label, key="comparison ask open", type="primary", icon=":material/play_arrow:"
    ):
        ask_comparison(resources.context(), comparison.id)
        st.rerun()
    if outdated and act_button(
        "ask_columns_again",
        counted("Ask {n} changed column again", "Ask {n} changed columns again", len(outdated)),
        key="comparison outdated",
        icon=":material/refresh:",
        help=_("Documents were added or removed since these columns were asked."),
    ):
        ask_columns_again(resources.context(), comparison.id, outdated)
        st.rerun()


def _draw_additions(comparison: Comparison) -> None:
    """Draw how to add questions and columns; only what is new is asked."""
    key = f"comparison more {comparison.id}"
    questions = read_questions(st.text_area(_("Questions, one per line"), key=f"{key} questions", height=100))
    snapshot = resources.engine().collection.snapshot()
    with show_errors():
        wanted = comparison.wanted
        if comparison.by == "document":
            with st.expander(_("Filters"), icon=":material/filter_alt:"):
                wanted = draw_filters(f"{key} filter", snapshot.facets)
        known = {column.key for column in comparison.columns}
        found = tuple(one for one in columns_of(comparison.by, wanted, snapshot) if one.key not in known)
        placeholder = _("Choose from {n}").format(n=number(len(found))) if found else _("No other matches")
        picked = draw_column_choice(f"{key} columns", found, comparison.by, kind_name(comparison.by), placeholder)
        if act_button(
            "extend_comparison",
            _("Add and ask"),
            key=f"{key} button",
            type="primary",
            disabled=not questions and not picked,
        ):
            if picked:
                extend_comparison(resources.context(), comparison.id, questions, wanted, only=picked)
            else:
                extend_comparison(resources.context(), comparison.id, questions)
            ask_comparison(resources.context(), comparison.id)
            st.rerun()


def _draw_removals(comparison: Comparison) -> None:
    """Draw how to remove a question or a column with its cells."""
    labels = shown_columns(comparison.by, comparison.columns)
    question = st.selectbox(
        _("Question"),
        comparison.questions,
        index=None,
        placeholder=_("Choose a question"),
        key="comparison remove question",
    )
    column = st.selectbox(
        _("Column"),
        list(labels),
        index=None,
        format_func=labels.__getitem__,
        placeholder=_("Choose a column"),
        key="comparison remove column",
    )
    for what, label, chosen, left in (
        ("question", _("Remove question"), question, len(comparison.questions)),
        ("column", _("Remove column"), column, len(comparison.columns)),
    ):
        act_button(
            "shrink_comparison",
            label,
            key=f"comparison remove {what} now",
            icon=":material/delete:",
            disabled=not chosen or left < 2,
            on_click=_shrink,
            args=(comparison.id, what),
        )


def _shrink(id: str, what: Literal["question", "column"]) -> None:
    """Remove what is chosen. It is read at the click, which may come before the page was drawn with it."""
    chosen = st.session_state[f"comparison remove {what}"]
    if not chosen:
        return
    with show_errors():
        said = to_translate("Question removed.") if what == "question" else to_translate("Column removed.")
        note_removed(f"{UNDO} {id}", said, shrink_comparison(resources.context(), id, **{what: chosen}))
        open_in_address(CELL)


def _draw_table(comparison: Comparison, rows: Sequence[int], columns: range, asking: Collection[CellPlace]) -> None:
    """Draw the cells of questions and columns; `asking` are the places that a job is still to ask."""
    shown, notes = comparison.columns[columns.start : columns.stop], _notes(comparison)
    places = {row: [(comparison.questions[row], column.key) for column in shown] for row in rows}
    cells = comparison_cells(resources.context(), comparison.id, list(chain.from_iterable(places.values())))
    labels = shown_columns(comparison.by, shown)
    data = {
        "label": comparison.name,
        "question": _("Question"),
        "first": columns.start,
        "columns": [{"label": label, "note": notes.get(key, "")} for key, label in labels.items()],
        "rows": [
            {
                "place": row,
                "question": comparison.questions[row],
                "cells": [_shown(cells.get(place), waiting=place in asking) for place in own],
            }
            for row, own in places.items()
        ],
    }
    _table(key=_KEY, data=data, on_opened_change=_open_cell)


def _shown(cell: ComparisonCell | None, *, waiting: bool) -> dict[str, str]:
    """Return a cell's state with its words, its text, and a note on its source or on the search."""
    if cell is None or (waiting and cell.status == "failed"):
        return _told("asking" if waiting else NOT_ASKED)
    status = "asking again" if waiting else cell.state
    if cell.decided:
        label = f"{state_text(cell.state, WORDING).capitalize()} · {cell.decided.author}"
        source = "" if cell.state == "corrected" else cell.source(WORDING)
        note = "; ".join(filter(None, (source, cell.decided.note)))
        return {"status": status, "label": label, "text": show(cell.shown), "note": note}
    if cell.status == "nothing found":
        return _told(status, note=cell.effort.describe(WORDING))
    others = len(cell.evidence) - 1
    more = counted("{n} more quote", "{n} more quotes", others) if others > 0 else ""
    note = "; ".join(filter(None, (cell.source(WORDING), more)))
    return _told(status, cell.short, note) | {"language": short_language(cell)}


def _told(status: str, text: str = "", note: str = "") -> dict[str, str]:
    return {"status": status, "label": _(_STATUSES.get(status, "")), "text": text, "note": note}
