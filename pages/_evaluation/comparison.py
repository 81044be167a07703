"""Two runs of the test questions side by side: what changed by measure, question by question, and in the settings."""

from __future__ import annotations

import streamlit as st

from ingestion.status.views import pluralised
from pages._evaluation.question_result import draw_changes_of
from pages._shared.elements import draw_table
from rag_engine.evaluation.answers.own_results import MEASURES, Change, compare_own, describe_chance
from rag_engine.evaluation.answers.own_runs import OwnRun

_CHANGES: tuple[Change, ...] = ("better", "worse", "same")


def draw_comparison(one: OwnRun, other: OwnRun) -> None:
    """Draw how the later of two runs compares with the earlier one."""
    before, after = sorted((one, other), key=lambda run: run.id)
    found = compare_own(before.run, after.run)
    if not found.changes:
        st.info("The two runs have no question in common.", icon=":material/compare_arrows:")
        return
    st.markdown(
        f"Of {pluralised(len(found.changes), 'question')} that both runs asked, the later one answered "
        f"**{found.count('better')} better**, **{found.count('worse')} worse** and {found.count('same')} as well."
    )
    table = [
        {
            "Measure": MEASURES[share.measure],
            "Questions": share.questions,
            "Earlier": f"{share.before} ({share.before / share.questions:.0%})",
            "Later": f"{share.after} ({share.after / share.questions:.0%})",
            "Turned right": share.gained,
            "Turned wrong": share.lost,
            "Difference": share.verdict,
        }
        for share in found.shares
    ]
    draw_table(table, f"comparison {before.id} {after.id}", "Questions that came out right in each run, by measure")
    st.caption(describe_chance(len(found.changes)))
    if found.settings:
        with st.expander(f"{pluralised(len(found.settings), 'setting')} differ", icon=":material/settings:"):
            rows = [{"Setting": name, "Earlier": was, "Later": is_} for name, (was, is_) in found.settings.items()]
            draw_table(rows, f"differing {before.id} {after.id}", "Settings that differ between the two runs")
    else:
        st.caption("Both were made with the same settings and the same index.")
    chosen = st.segmented_control(
        "Questions",
        _CHANGES,
        format_func=lambda change: f"{change.capitalize()} ({found.count(change)})",
        default=next((change for change in _CHANGES if found.count(change)), "same"),
        key=f"change shown {before.id} {after.id}",
        required=True,
        label_visibility="collapsed",
    )
    draw_changes_of([change for change in found.changes if change.change == chosen])
