"""Decision by hand on a cell: accepting, correcting or rejecting its answer, and taking that back."""

from __future__ import annotations

from typing import Literal

import streamlit as st

from ingestion.acts.comparisons import decide_cell, undo_cell_decision
from ingestion.dataset.comparison.comparison import CellPlace, ComparisonCell, state_text
from ingestion.dataset.comparison.decisions import CellChoice, CellDecision
from pages._shared import resources
from pages._shared.elements import act_button, draw_author, known_author
from pages._shared.errors import show, show_errors
from pages._shared.filter_widgets import WORDING
from pages._shared.interface_language import _
from pages._shared.markdown import escape, escape_paragraphs
from pages._shared.numbers_and_dates import moment

_LOOKS: dict[CellChoice, tuple[str, Literal["green", "blue", "red"]]] = {
    "accepted": (":material/check_circle:", "green"),
    "corrected": (":material/edit:", "blue"),
    "rejected": (":material/cancel:", "red"),
}


def draw_decision(id: str, cell: ComparisonCell) -> None:
    """Draw the decision on a cell with the way back, or the choice of one."""
    with st.container(border=True, key="comparison decision"):
        if cell.decision:
            _draw_made(id, cell, cell.decision)
        if cell.decided is None:
            _draw_choice(id, cell)


def _draw_made(id: str, cell: ComparisonCell, made: CellDecision) -> None:
    icon, colour = _LOOKS[made.choice]
    with st.container(horizontal=True, vertical_alignment="center"):
        st.badge(state_text(made.choice, WORDING).capitalize(), icon=icon, color=colour)
        st.markdown(f"{escape(made.author)}, {moment(made.when)}", width="stretch")
        if act_button(
            "undo_cell_decision", _("Undo"), icon=":material/undo:", type="tertiary", key="comparison decision undo"
        ):
            with show_errors():
                undo_cell_decision(resources.context(), id, _place(cell), author=known_author())
                st.rerun()
    if made.text:
        st.markdown(escape_paragraphs(made.text))
    if made.note:
        st.caption(_("Note: {note}").format(note=escape(made.note)))
    if made.since != cell.since:
        st.caption(_(":material/warning: The answer of this cell has changed since."))


def _draw_choice(id: str, cell: ComparisonCell) -> None:
    key = f"comparison decide {cell.id}"
    st.markdown(_("**Your decision on this cell**"))
    left, right = st.columns([1, 2], vertical_alignment="bottom")
    with left:
        author = draw_author()
    note = right.text_input(
        _("Note"), key=f"{key} note", max_chars=1000, help=_("A rejection needs one. The workbook shows it.")
    )
    with st.container(horizontal=True, vertical_alignment="center"):
        _draw_button(id, cell, "accepted", _("Accept"), author, note)
        _draw_button(id, cell, "rejected", _("Reject"), author, note)
        correcting = st.toggle(_("Correct"), key=f"{key} correcting")
    if correcting:
        proposed = show(cell.short) if cell.is_answer else ""
        text = st.text_area(_("Correct answer"), proposed, key=f"{key} text", height=110, max_chars=5000)
        _draw_button(id, cell, "corrected", _("Save correction"), author, note, text)


def _draw_button(
    id: str, cell: ComparisonCell, choice: CellChoice, label: str, author: str, note: str, text: str = ""
) -> None:
    icon, _colour = _LOOKS[choice]
    if act_button("decide_cell", label, icon=icon, key=f"comparison {choice}"):
        with show_errors():
            decide_cell(resources.context(), id, _place(cell), choice, author=author, note=note, text=text)
            st.rerun()


def _place(cell: ComparisonCell) -> CellPlace:
    return cell.question, cell.column
