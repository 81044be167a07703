"""Comparisons that were made: opened, renamed, deleted and brought back."""

from __future__ import annotations

import streamlit as st

from ingestion.dataset.comparison.comparison import Comparison
from ingestion.operations.comparisons import (
    list_comparisons,
    remove_comparison,
    rename_comparison,
    restore_comparison,
)
from ingestion.status.views import pluralised
from pages._compare.begin import COMPARISON
from pages._shared import resources
from pages._shared.elements import act_button, open_in_address
from pages._shared.errors import show_errors
from pages._shared.markdown import escape

_REMOVED = "comparison removed"


def draw_past() -> None:
    """Draw the comparisons, the newest first, and the way back of what was deleted last."""
    draw_undo()
    found = list_comparisons(resources.desk())
    if found:
        st.header("Past comparisons", anchor=False)
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
                st.caption(f"{one.made[:16].replace('T', ' ')} UTC", width="content")
                draw_naming(one)
            kind = "document" if one.by == "document" else "column"
            size = f"{pluralised(len(one.questions), 'question')}, {pluralised(len(one.columns), kind)}"
            st.caption(f"{size}: {one.describe()}")


def draw_naming(comparison: Comparison) -> None:
    """Draw how to rename and delete a comparison."""
    key = f"comparison name {comparison.id}"
    with st.popover("Rename", icon=":material/edit:", type="tertiary", key=f"comparison rename {comparison.id}"):
        st.text_input("New name", comparison.name, key=key, max_chars=80)
        act_button("rename_comparison", "Rename", key=f"{key} button", on_click=_rename, args=(comparison.id, key))
    act_button(
        "remove_comparison",
        "Delete",
        icon=":material/delete:",
        type="tertiary",
        key=f"comparison delete {comparison.id}",
        on_click=_remove,
        args=(comparison.id,),
    )


def note_removed(what: str, before: Comparison) -> None:
    """Offer the way back to a comparison as it was before something was removed."""
    st.session_state[_REMOVED] = what, before


def draw_undo(id: str = "") -> None:
    """Draw the way back of what was removed last, of one comparison where one is named."""
    what, before = st.session_state.get(_REMOVED, ("", None))
    if before is None or (id and before.id != id):
        return
    with st.container(horizontal=True, vertical_alignment="center", key="comparison-undo"):
        st.caption(f"{what} removed.", width="content")
        st.button(
            "Undo", icon=":material/undo:", type="tertiary", key="comparison undo", on_click=_restore, args=(before,)
        )


def _rename(id: str, key: str) -> None:
    with show_errors():
        rename_comparison(resources.desk(), id, st.session_state[key])


def _remove(id: str) -> None:
    with show_errors():
        note_removed("Comparison", remove_comparison(resources.desk(), id))
        open_in_address(COMPARISON)


def _restore(comparison: Comparison) -> None:
    with show_errors():
        restore_comparison(resources.desk(), comparison)
        del st.session_state[_REMOVED]
