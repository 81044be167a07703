"""Comparisons that were made: opened, renamed, deleted and brought back."""

from __future__ import annotations

import streamlit as st

from ingestion.acts.comparisons import (
    list_comparisons,
    remove_comparison,
    rename_comparison,
    restore_comparison,
)
from ingestion.dataset.comparison.comparison import Comparison
from pages._compare.new_comparison import COMPARISON
from pages._shared import resources
from pages._shared.elements import act_button, in_own_place, open_in_address
from pages._shared.errors import show_errors
from pages._shared.filter_widgets import WORDING
from pages._shared.interface_language import _
from pages._shared.markdown import escape
from pages._shared.numbers_and_dates import counted, moment

_REMOVED = "comparison removed"


def draw_past() -> None:
    """Draw the comparisons, the newest first, and the way back of what was deleted last."""
    draw_undo()
    found = list_comparisons(resources.context())
    if found:
        st.header(_("Past comparisons"), anchor=False)
    for one in found:
        with st.container(border=True, key=f"comparison-{one.id}"):
            with st.container(horizontal=True, vertical_alignment="center"):
                st.button(
                    f"**{escape(one.name)}**",
                    key=f"comparison open {one.id}",
                    type="tertiary",
                    icon=":material/table_chart:",
                    on_click=open_in_address,
                    args=(COMPARISON, one.id),
                )
                st.caption(moment(one.made), width="content")
                draw_naming(one)
            st.caption(_described(one))


def _described(comparison: Comparison) -> str:
    columns = len(comparison.columns)
    by_document = comparison.by == "document"
    return _("{questions}, {columns}: {state}").format(
        questions=counted("{n} question", "{n} questions", len(comparison.questions)),
        columns=counted("{n} document", "{n} documents", columns)
        if by_document
        else counted("{n} column", "{n} columns", columns),
        state=comparison.describe(WORDING),
    )


def draw_naming(comparison: Comparison) -> None:
    """Draw how to rename and delete a comparison."""
    key = f"comparison name {comparison.id}"
    renaming = f"comparison rename {comparison.id}"
    with st.popover(_("Rename"), icon=":material/edit:", type="tertiary", key=renaming, on_change="rerun"):
        st.text_input(_("New name"), comparison.name, key=key)
        act_button("rename_comparison", _("Rename"), key=f"{key} button", on_click=_rename, args=(comparison.id, key))
    act_button(
        "remove_comparison",
        _("Delete"),
        icon=":material/delete:",
        type="tertiary",
        key=f"comparison delete {comparison.id}",
        on_click=_remove,
        args=(comparison.id,),
    )


def note_removed(said: str, before: Comparison) -> None:
    """Say what was removed, and offer the way back to the comparison as it was before."""
    st.session_state[_REMOVED] = said, before


@in_own_place
def draw_undo(id: str = "") -> None:
    """Draw the way back of what was removed last, of one comparison where one is named."""
    said, before = st.session_state.get(_REMOVED, ("", None))
    if before is None or (id and before.id != id):
        return
    with st.container(horizontal=True, vertical_alignment="center", key="comparison-undo"):
        st.caption(said, width="content")
        act_button(
            "restore_comparison",
            _("Undo"),
            icon=":material/undo:",
            type="tertiary",
            key="comparison undo",
            on_click=_restore,
            args=(before,),
        )


def _rename(id: str, key: str) -> None:
    with show_errors():
        rename_comparison(resources.context(), id, st.session_state[key])
        st.session_state[f"comparison rename {id}"] = False


def _remove(id: str) -> None:
    with show_errors():
        note_removed(_("Comparison removed."), remove_comparison(resources.context(), id))
        open_in_address(COMPARISON)


def _restore(comparison: Comparison) -> None:
    with show_errors():
        restore_comparison(resources.context(), comparison)
        del st.session_state[_REMOVED]
