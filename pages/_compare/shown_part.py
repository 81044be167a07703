"""Part of a large comparison that is drawn: the questions looked for, a page of them at a time."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from ingestion.dataset.comparison.comparison import STATES, Comparison, state_text
from pages._shared.filter_widgets import WORDING
from pages._shared.interface_language import _
from pages._shared.numbers_and_dates import counted, number
from rag_engine.text.folding import fold

# A browser draws so many at once without delay.
_CELLS, _FEWEST_ROWS, _MOST_COLUMNS = 400, 5, 40
# Questions from which on they are looked for.
_MANY = 8


def draw_part_choice(comparison: Comparison) -> tuple[Sequence[int], range]:
    """Draw the choice of the part; return the places, from 0, of its questions and columns.

    A small comparison is drawn whole.
    """
    chosen = _draw_search(comparison) if len(comparison.questions) > _MANY else range(len(comparison.questions))
    across = min(len(comparison.columns), _MOST_COLUMNS)
    down = max(_CELLS // across, _FEWEST_ROWS)
    with st.container(horizontal=True, vertical_alignment="center"):
        rows = _draw_page(
            len(chosen), down, f"comparison rows {comparison.id}", _("Questions {first} to {last} of {n}")
        )
        columns = _draw_page(
            len(comparison.columns),
            across,
            f"comparison columns {comparison.id}",
            _("Columns {first} to {last} of {n}"),
        )
    return [chosen[place] for place in rows], columns


def _draw_search(comparison: Comparison) -> Sequence[int]:
    """Draw the search for questions, by their words and the states of their cells."""
    id, counts = comparison.id, comparison.counts
    with st.container(horizontal=True, vertical_alignment="bottom"):
        words = st.text_input(
            _("Find a question"), key=f"comparison find {id}", icon=":material/search:", max_chars=200, width=340
        )
        state = st.selectbox(
            _("With cells that are"),
            [one for one in STATES if counts.get(one)],
            index=None,
            format_func=lambda one: f"{state_text(one, WORDING)} ({number(counts.get(one, 0))})",
            placeholder=_("All"),
            key=f"comparison state {id}",
            width=280,
        )
    wanted = fold(words)
    found = [
        row
        for row, question in enumerate(comparison.questions)
        if wanted in fold(question)
        and (not state or any(comparison.state_of((question, column.key)) == state for column in comparison.columns))
    ]
    if not found:
        st.info(_("No question matches."), icon=":material/search_off:")
    return found


def _draw_page(count: int, size: int, key: str, label: str) -> range:
    """Draw the choice of a page, if there are several, and return the places on it."""
    pages = max(-(-count // size), 1)
    if pages == 1:
        return range(count)
    # A search may leave fewer pages than the one that was open.
    page = st.pagination(pages, key=f"{key} {pages}")
    first = (page - 1) * size
    last = min(first + size, count)
    st.caption(label.format(first=number(first + 1), last=number(last), n=number(count)), width="content")
    return range(first, last)


def counted_state(comparison: Comparison) -> str:
    """Return how many cells the comparison has, and their states."""
    cells = counted("{n} cell", "{n} cells", len(comparison.places))
    return f"{cells}: {comparison.describe(WORDING)}"
