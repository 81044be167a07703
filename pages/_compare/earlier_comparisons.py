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
from pages._shared.elements import act_button, draw_renaming, draw_way_back, keep_way_back, open_in_address
from pages._shared.errors import showing_errors
from pages._shared.filter_widgets import WORDING
from pages._shared.interface_language import _, to_translate
from pages._shared.markdown import escape
from pages._shared.numbers_and_dates import counted, moment

UNDO = "comparison undo"


def draw_past() -> None:
    """Draw the comparisons, the newest first, and the way back of what was deleted last."""
    draw_way_back(UNDO, "restore_comparison")
    found = list_comparisons(resources.context())
    if found:
        st.header(_("Past comparisons"), anchor=False)
    for comparison in found:
        with st.container(border=True, key=f"comparison-{comparison.id}"):
            with st.container(horizontal=True, vertical_alignment="center"):
                st.button(
                    f"**{escape(comparison.name)}**",
                    key=f"comparison open {comparison.id}",
                    type="tertiary",
                    icon=":material/table_chart:",
                    on_click=open_in_address,
                    args=(COMPARISON, comparison.id),
                )
                st.caption(moment(comparison.made), width="content")
                draw_naming(comparison)
            st.caption(_described(comparison))


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
    renaming = f"comparison rename {comparison.id}"

    def removed() -> None:
        before = remove_comparison(resources.context(), comparison.id)
        note_removed(UNDO, to_translate("Comparison removed."), before)
        open_in_address(COMPARISON)

    with st.popover(_("Rename"), icon=":material/edit:", type="tertiary", key=renaming, on_change="rerun"):
        draw_renaming(
            comparison.name,
            f"comparison name {comparison.id}",
            renaming,
            lambda name: rename_comparison(resources.context(), comparison.id, name),
            "rename_comparison",
        )
    act_button(
        "remove_comparison",
        _("Delete"),
        icon=":material/delete:",
        type="tertiary",
        key=f"comparison delete {comparison.id}",
        on_click=showing_errors(removed),
    )


def note_removed(undo: str, said: str, before: Comparison) -> None:
    """Keep the way back to the comparison as it was before."""
    keep_way_back(undo, said, lambda: restore_comparison(resources.context(), before))
