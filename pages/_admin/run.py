"""Run tab: starting a run by buttons or plain language, watching it, and the progress of the pipeline."""

from __future__ import annotations

from collections.abc import Mapping

import altair as alt
import pandas as pd
import streamlit as st

from ingestion.jobs.plain_language import Command
from ingestion.operations.runs import describe_unfinished, understand, unfinished_runs
from ingestion.records.source_record import SourceRecord
from ingestion.status.source_status import FunnelStage, funnel, state_of
from ingestion.status.views import display_reason, next_due
from ingestion.types import PHASES, Phase, RunRequest, Which
from pages._admin.indexes import draw_indexes
from pages._admin.tabs import draw_second_run, start_run
from pages._shared import resources
from pages._shared.elements import act_button
from pages._shared.errors import show_errors
from pages._shared.jobs import draw_runs
from pages._shared.markdown import escape

# Told apart by lightness too, so that they can be read without seeing colours.
_COLOURS = {"passed": "#1a7f3c", "waiting": "#9bb8d3", "stopped": "#d9822b"}
_NAMES = {"raw": "On the list"}


def draw_funnel() -> None:
    """Draw the stages with how many sources reached them, wait, and were stopped on the way."""
    stages = funnel(resources.records().values())
    rows = [row for stage in stages for row in _bars(stage)]
    names = [_name(stage) for stage in stages]
    chart = (
        alt.Chart(pd.DataFrame(rows))
        .mark_bar(stroke="white", strokeWidth=0.5)
        .encode(
            x=alt.X("Sources:Q", stack="zero", title=None, axis=alt.Axis(tickMinStep=1, tickCount=6, format=",d")),
            y=alt.Y("Stage:N", sort=names, title=None, axis=alt.Axis(labelLimit=140, labelOverlap=False)),
            color=alt.Color(
                "What:N",
                scale=alt.Scale(domain=list(_COLOURS), range=list(_COLOURS.values())),
                legend=alt.Legend(orient="bottom", title=None),
            ),
            order=alt.Order("order:Q"),
            tooltip=["Stage:N", "What:N", alt.Tooltip("Sources:Q", format=","), "Why:N"],
        )
        .properties(height=alt.Step(26), padding={"left": 0, "top": 5, "right": 5, "bottom": 0})
    )
    st.altair_chart(chart, alt="How many sources reached each stage; the table beside it gives the figures")
    st.dataframe(
        pd.DataFrame([_row(stage) for stage in stages]),
        hide_index=True,
        key="funnel",
        column_config={"Why": st.column_config.TextColumn("Why they were stopped", width=420)},
        alt="Sources at each stage with the reasons for which others were stopped",
    )


def _bars(stage: FunnelStage) -> list[dict[str, str | int]]:
    stopped = sum(stage.stopped.values())
    counts = {"passed": stage.reached, "waiting": stage.waiting, "stopped": stopped}
    return [
        {
            "Stage": _name(stage),
            "What": what,
            "Sources": count,
            "Why": _why(stage) if what == "stopped" else "",
            "order": order,
        }
        for order, (what, count) in enumerate(counts.items())
    ]


def _row(stage: FunnelStage) -> dict[str, str | int]:
    return {
        "Stage": _name(stage),
        "Passed": stage.reached,
        "Waiting": stage.waiting,
        "Stopped": sum(stage.stopped.values()),
        "Why": _why(stage),
    }


def _why(stage: FunnelStage) -> str:
    return ", ".join(f"{count:,} {display_reason(reason)}" for reason, count in stage.stopped.items())


def _name(stage: FunnelStage) -> str:
    return _NAMES.get(stage.name, stage.name.capitalize())


_COMMAND = "admin command"
_FUNNEL_SECONDS = 5.0
_LOOKED_AT = 50
_WHICH: dict[Which, str] = {
    "due": "New or changed sources",
    "failed": "Failed sources only",
    "all": "Everything again",
}


def draw_run() -> None:
    """Draw the ways to start a run, the runs in progress, the funnel, and the indexes."""
    sources = resources.records()
    if sources:
        _draw_pipeline(sources)
    else:
        st.info("Nothing to run yet. Add sources on the Sources tab first.")
        draw_runs()
    draw_indexes()


def _draw_pipeline(sources: Mapping[str, SourceRecord]) -> None:
    failed = sum(1 for one in sources.values() if state_of(one) == "failed")
    draw_second_run()
    with st.container(border=True):
        _draw_buttons(next_due(sources.values()), failed)
        _draw_words()
    draw_runs()
    st.header("Pipeline progress", anchor=False)
    active = any(one.active for one in resources.jobs().runs(_LOOKED_AT))
    st.fragment(draw_funnel, run_every=_FUNNEL_SECONDS if active else None)()


def _draw_buttons(due: int, failed: int) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        label = f"Run all phases ({due:,} waiting)" if due else "Run all phases"
        before = unfinished_runs(resources.desk())
        if before:
            label = f"Run all phases after the {'current run' if len(before) == 1 else f'{len(before)} others'}"
        named = "  \n".join(escape(describe_unfinished(one)) for one in before)
        if act_button("run", label, icon=":material/play_arrow:", type="primary", key="run all", help=named or None):
            start_run(RunRequest())
        if act_button(
            "run", f"Retry failed ({failed:,})", icon=":material/replay:", disabled=not failed, key="run failed"
        ):
            start_run(RunRequest(which="failed"))
        if st.button(
            "Refresh",
            icon=":material/sync:",
            help="Checks the addresses of downloaded files for newer versions.",
            key="run refresh",
        ):
            start_run(RunRequest(refresh=True))
        with st.popover("Choose phases", icon=":material/checklist:"):
            _draw_choice()


def _draw_choice() -> None:
    with st.form("phases", border=False):
        chosen: list[Phase] = st.pills(
            "Phases", PHASES, selection_mode="multi", format_func=str.capitalize, default=list(PHASES)
        )
        which: Which = st.radio("For", list(_WHICH), format_func=lambda one: _WHICH[one]) or "due"
        refresh = st.checkbox("Check known addresses for newer files")
        if st.form_submit_button("Run selected phases", type="primary", icon=":material/play_arrow:"):
            if chosen:
                start_run(RunRequest(tuple(phase for phase in PHASES if phase in chosen), (), which, refresh))
            st.error("Choose at least one phase.")


def _draw_words() -> None:
    with (
        st.form("command", border=False, clear_on_submit=True),
        st.container(horizontal=True, vertical_alignment="bottom"),
    ):
        words = st.text_input(
            "Or describe what to run", placeholder="check the licences of the new sources", max_chars=500
        )
        asked = st.form_submit_button("Interpret", icon=":material/chat:")
    if asked and words.strip():
        with show_errors(), st.spinner("Reading what you wrote …"):
            st.session_state[_COMMAND] = words, understand(resources.desk(), words)
    if _COMMAND in st.session_state:
        _draw_command(*st.session_state[_COMMAND])


def _draw_command(words: str, command: Command | None) -> None:
    with st.container(border=True, key="command asked"):
        if command is None:
            st.markdown(f":material/help: “{escape(words)}” could not be interpreted.")
            st.caption("Name a phase, what failed, or a code: “download what failed”, “describe ADM004 again”.")
            return
        st.markdown(
            f"“{escape(words)}” would start: **{escape(command.request.describe(len(command.request.codes)))}**"
        )
        st.caption(f"Interpreted by {escape(command.by)}. Nothing has been started.")
        with st.container(horizontal=True):
            if act_button("run", "Confirm", type="primary", icon=":material/check:", key="confirm command"):
                del st.session_state[_COMMAND]
                start_run(command.request)
            if st.button("Cancel", key="leave command"):
                del st.session_state[_COMMAND]
                st.rerun()
