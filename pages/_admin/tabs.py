"""Tabs of the admin page: the open one, kept in the address, and the counts of open work."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from ingestion.acts.runs import describe_unfinished, run, unfinished_runs
from ingestion.status.source_status import state_of
from ingestion.status.views import in_quarantine
from ingestion.types.run import RunRequest, describe_request
from pages._shared import resources
from pages._shared.elements import act_button, when_changed
from pages._shared.filter_widgets import WORDING
from pages._shared.interface_language import _, to_translate
from pages._shared.markdown import escape
from pages._shared.numbers_and_dates import number

_KEY, _LAST = "admin tab", "admin tab last open"
_ASKED = "second run asked for"
_ICONS = {
    "sources": ":material/list_alt:",
    "run": ":material/play_circle:",
    "review": ":material/gavel:",
    "quarantine": ":material/inventory_2:",
    "metadata": ":material/edit_note:",
    "dataset": ":material/table_view:",
    "knowledge": ":material/menu_book:",
    "feedback": ":material/thumbs_up_down:",
    "settings": ":material/settings:",
    "people": ":material/group:",
    "backups": ":material/backup:",
}
_NAMES = {
    "sources": to_translate("Sources"),
    "run": to_translate("Run"),
    "review": to_translate("Review"),
    "quarantine": to_translate("Quarantine"),
    "metadata": to_translate("Metadata"),
    "dataset": to_translate("Dataset"),
    "knowledge": to_translate("Knowledge"),
    "feedback": to_translate("Feedback"),
    "settings": to_translate("Settings"),
    "people": to_translate("People"),
    "backups": to_translate("Backups"),
}


def choose_tab(names: Sequence[str]) -> str:
    """Draw the row of tabs and return the name of the open one."""
    found = list(resources.records().values())
    waiting = {
        "review": sum(1 for record in found if state_of(record) == "review"),
        "quarantine": len(in_quarantine(found)),
    }
    asked = st.query_params.get("tab") or st.session_state.get(_LAST)
    chosen = next((name for name in names if name == asked), names[0])
    st.session_state[_LAST] = chosen
    if st.query_params.get("tab", names[0]) != chosen:
        st.query_params["tab"] = chosen
    # The address leads. The browser may report the tabs as unchosen while it still draws them.
    st.session_state[_KEY] = chosen

    def label(name: str) -> str:
        count = f" ({number(waiting[name])})" if waiting.get(name) else ""
        return f"{_ICONS[name]} {_(_NAMES[name])}{count}"

    st.segmented_control(
        _("Tab"),
        names,
        format_func=label,
        key=_KEY,
        required=True,
        label_visibility="collapsed",
        on_change=when_changed(_KEY, chosen, _open_chosen),
    )
    return chosen


def open_tab(name: str) -> None:
    """Name another tab in the address; for a widget's callback."""
    st.query_params["tab"] = name


def start_run(request: RunRequest) -> None:
    """Start a run and show it on its tab, or ask there first where another one has not ended."""
    if unfinished_runs(resources.context()):
        st.session_state[_ASKED] = request
    else:
        run(resources.context(), request)
    open_tab("run")
    st.rerun()


def draw_second_run() -> None:
    """Draw the unfinished runs that a new run would follow, with buttons to queue or leave it."""
    asked: RunRequest | None = st.session_state.get(_ASKED)
    if asked is None:
        return
    before = unfinished_runs(resources.context())
    with st.container(border=True, key="second run"):
        words = "; ".join(describe_unfinished(job, WORDING) for job in before) or _("The other run has ended.")
        st.markdown(_(":material/hourglass_top: **Another run has not ended.** {runs}").format(runs=escape(words)))
        st.caption(_("You asked for: {request}").format(request=escape(describe_request(asked, wording=WORDING))))
        with st.container(horizontal=True):
            if act_button(
                "run", _("Run afterwards"), key="second run queue", icon=":material/playlist_add:", type="primary"
            ):
                del st.session_state[_ASKED]
                run(resources.context(), asked)
                st.rerun()
            if st.button(_("Cancel"), key="second run leave"):
                del st.session_state[_ASKED]
                st.rerun()


def _open_chosen() -> None:
    if chosen := st.session_state[_KEY]:
        open_tab(chosen)
