"""Two runs of the test questions side by side, compared by measure, question and setting."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from pages._evaluation.question_result import draw_changes_of
from pages._shared.elements import draw_table
from pages._shared.filter_widgets import WORDING
from pages._shared.interface_language import _, to_translate
from pages._shared.numbers_and_dates import counted, number, percent
from pages._shared.shown_names import shown_name
from rag_engine.evaluation.answers.accepted_run import RecordedRun
from rag_engine.evaluation.answers.test_results import MEASURES, Change, compare_tests, describe_chance

_CHANGES: Mapping[Change, str] = {
    "better": to_translate("Better"),
    "worse": to_translate("Worse"),
    "same": to_translate("Same"),
}


def draw_comparison(one: RecordedRun, other: RecordedRun) -> None:
    """Draw how the later of two runs compares with the earlier one."""
    before, after = sorted((one, other), key=lambda run: run.id)
    found = compare_tests(before.run, after.run)
    if not found.changes:
        st.info(_("The two runs have no question in common."), icon=":material/compare_arrows:")
        return
    st.markdown(
        counted(
            "Of {n} question that both runs asked, the later one answered **{better} better**, **{worse} worse** and "
            "{same} just as well.",
            "Of {n} questions that both runs asked, the later one answered **{better} better**, **{worse} worse** and "
            "{same} just as well.",
            len(found.changes),
            **{change: number(found.count(change)) for change in _CHANGES},
        )
    )
    table = [
        {
            _("Measure"): shown_name(MEASURES[share.measure]),
            _("Questions"): share.questions,
            _("Earlier"): f"{number(share.before)} ({percent(share.before / share.questions)})",
            _("Later"): f"{number(share.after)} ({percent(share.after / share.questions)})",
            _("Turned right"): share.gained,
            _("Turned wrong"): share.lost,
            _("Difference"): shown_name(share.verdict),
        }
        for share in found.shares
    ]
    draw_table(table, f"comparison {before.id} {after.id}", _("Questions that came out right in each run, by measure"))
    st.caption(describe_chance(len(found.changes), WORDING))
    if found.settings:
        differing = counted("{n} setting differs", "{n} settings differ", len(found.settings))
        with st.expander(differing, icon=":material/settings:", key=f"differing settings {before.id} {after.id}"):
            rows = [
                {_("Setting"): name, _("Earlier"): was, _("Later"): is_} for name, (was, is_) in found.settings.items()
            ]
            draw_table(rows, f"differing {before.id} {after.id}", _("Settings that differ between the two runs"))
    else:
        st.caption(_("Both were made with the same settings and the same index."))
    chosen = st.segmented_control(
        _("Questions"),
        list(_CHANGES),
        format_func=lambda change: f"{_(_CHANGES[change])} ({number(found.count(change))})",
        default=next((change for change in _CHANGES if found.count(change)), "same"),
        key=f"change shown {before.id} {after.id}",
        required=True,
        label_visibility="collapsed",
    )
    draw_changes_of([change for change in found.changes if change.change == chosen])
