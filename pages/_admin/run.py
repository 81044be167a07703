"""Run tab: starting a run by buttons or plain language, watching it, and the progress of the pipeline."""

from __future__ import annotations

from collections.abc import Mapping

import altair as alt
import pandas as pd
import streamlit as st

from ingestion.acts.runs import describe_unfinished, understand, unfinished_runs
from ingestion.jobs.plain_language import Command
from ingestion.records.source_record import SourceRecord
from ingestion.status.source_status import FunnelStage, funnel, state_of
from ingestion.status.views import next_due
from ingestion.types.run import PHASES, Phase, RunRequest, Which, describe_request
from pages._admin.indexes import draw_indexes
from pages._admin.tabs import draw_second_run, start_run
from pages._shared import resources
from pages._shared.elements import act_button
from pages._shared.errors import show_errors
from pages._shared.filter_widgets import WORDING
from pages._shared.interface_language import _, to_translate
from pages._shared.jobs import draw_jobs
from pages._shared.markdown import escape, quoted
from pages._shared.numbers_and_dates import counted, number, vega_numbers
from pages._shared.shown_names import shown_name, shown_reason

# Told apart by lightness too, so that they can be read without seeing colours.
_COLOURS = {"passed": "#1a7f3c", "waiting": "#9bb8d3", "stopped": "#d9822b"}
_LEGEND = {
    "passed": to_translate("passed"),
    "waiting": to_translate("waiting"),
    "stopped": to_translate("stopped"),
}
_STAGES = {
    "raw": to_translate("On the list"),
    "licence": to_translate("Licence"),
    "acquired": to_translate("Acquired"),
    "extracted": to_translate("Extracted"),
    "quality": to_translate("Quality"),
    "distinct": to_translate("Distinct"),
    "described": to_translate("Described"),
    "indexed": to_translate("In the index"),
}
_COMMAND = "admin command"
_FUNNEL_SECONDS = 5.0
_LOOKED_AT = 50
_WHICH: dict[Which, str] = {
    "due": to_translate("New or changed sources"),
    "failed": to_translate("Failed sources only"),
    "all": to_translate("Everything again"),
}


def draw_funnel() -> None:
    """Draw the stages with how many sources reached them, wait, and were stopped on the way."""
    stages = funnel(resources.records().values())
    rows = [row for stage in stages for row in _bars(stage)]
    names = [_name(stage) for stage in stages]
    chart = (
        alt.Chart(pd.DataFrame(rows))
        .mark_bar(stroke="white", strokeWidth=0.5)
        .encode(
            x=alt.X("sources:Q", stack="zero", title=None, axis=alt.Axis(tickMinStep=1, tickCount=6, format=",d")),
            y=alt.Y("stage:N", sort=names, title=None, axis=alt.Axis(labelLimit=140, labelOverlap=False)),
            color=alt.Color(
                "what:N",
                scale=alt.Scale(domain=[_(_LEGEND[what]) for what in _COLOURS], range=list(_COLOURS.values())),
                legend=alt.Legend(orient="bottom", title=None),
            ),
            order=alt.Order("order:Q"),
            tooltip=[
                alt.Tooltip("stage:N", title=_("Stage")),
                alt.Tooltip("what:N", title=_("Result")),
                alt.Tooltip("sources:Q", title=_("Sources"), format=","),
                alt.Tooltip("why:N", title=_("Reasons")),
            ],
        )
        .properties(
            height=alt.Step(26), padding={"left": 0, "top": 5, "right": 5, "bottom": 0}, usermeta=vega_numbers()
        )
    )
    st.altair_chart(chart, alt=_("How many sources reached each stage; the table below gives the figures"))
    st.dataframe(
        pd.DataFrame([_row(stage) for stage in stages]),
        hide_index=True,
        key="funnel",
        column_config={_("Why they were stopped"): st.column_config.TextColumn(width=420)},
        alt=_("Sources at each stage, and the reasons why others were stopped"),
    )


def _bars(stage: FunnelStage) -> list[dict[str, str | int]]:
    stopped = sum(stage.stopped.values())
    counts = {"passed": stage.reached, "waiting": stage.waiting, "stopped": stopped}
    return [
        {
            "stage": _name(stage),
            "what": _(_LEGEND[what]),
            "sources": count,
            "why": _why(stage) if what == "stopped" else "",
            "order": order,
        }
        for order, (what, count) in enumerate(counts.items())
    ]


def _row(stage: FunnelStage) -> dict[str, str | int]:
    return {
        _("Stage"): _name(stage),
        _("Passed"): stage.reached,
        _("Waiting"): stage.waiting,
        _("Stopped"): sum(stage.stopped.values()),
        _("Why they were stopped"): _why(stage),
    }


def _why(stage: FunnelStage) -> str:
    return ", ".join(f"{number(count)} {shown_reason(reason)}" for reason, count in stage.stopped.items())


def _name(stage: FunnelStage) -> str:
    return _(_STAGES[stage.name])


def draw_run() -> None:
    """Draw the ways to start a run, the runs in progress, the funnel, and the indexes."""
    sources = resources.records()
    if sources:
        _draw_pipeline(sources)
    else:
        st.info(_("Nothing to run yet. Add sources on the Sources tab first."))
        draw_jobs()
    draw_indexes()


def _draw_pipeline(sources: Mapping[str, SourceRecord]) -> None:
    failed = sum(1 for source in sources.values() if state_of(source) == "failed")
    draw_second_run()
    with st.container(border=True):
        _draw_buttons(next_due(sources.values()), failed)
        _draw_words()
    draw_jobs()
    st.header(_("Pipeline progress"), anchor=False)
    active = any(job.active for job in resources.jobs().latest(_LOOKED_AT))
    st.fragment(draw_funnel, run_every=_FUNNEL_SECONDS if active else None)()


def _draw_buttons(due: int, failed: int) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        waiting = _("Run all phases ({n} waiting)").format(n=number(due))
        label = waiting if due else _("Run all phases")
        before = unfinished_runs(resources.context())
        if before:
            label = counted("Run all phases after the current run", "Run all phases after {n} others", len(before))
        named = "  \n".join(escape(describe_unfinished(job, WORDING)) for job in before)
        if act_button("run", label, icon=":material/play_arrow:", type="primary", key="run all", help=named or None):
            start_run(RunRequest())
        retry = _("Retry failed ({n})").format(n=number(failed))
        if act_button("run", retry, icon=":material/replay:", disabled=not failed, key="run failed"):
            start_run(RunRequest(which="failed"))
        if act_button(
            "run",
            _("Refresh"),
            icon=":material/sync:",
            help=_("Checks the addresses of downloaded files for newer versions."),
            key="run refresh",
        ):
            start_run(RunRequest(refresh=True))
        with st.popover(_("Choose phases"), icon=":material/checklist:"):
            _draw_choice()


def _draw_choice() -> None:
    with st.form("phases", border=False):
        chosen: list[Phase] = st.pills(
            _("Phases"),
            PHASES,
            selection_mode="multi",
            format_func=lambda phase: shown_name(phase.capitalize()),
            default=list(PHASES),
            key="phases chosen",
        )
        which: Which = (
            st.radio(_("For"), list(_WHICH), format_func=lambda one: _(_WHICH[one]), key="phases for") or "due"
        )
        refresh = st.checkbox(_("Check known addresses for newer files"), key="phases refresh")
        if act_button(
            "run",
            _("Run selected phases"),
            in_form=True,
            type="primary",
            icon=":material/play_arrow:",
            key="run phases",
        ):
            if chosen:
                start_run(RunRequest(tuple(phase for phase in PHASES if phase in chosen), (), which, refresh))
            st.error(_("Choose at least one phase."))


def _draw_words() -> None:
    with (
        st.form("command", border=False, clear_on_submit=True),
        st.container(horizontal=True, vertical_alignment="bottom"),
    ):
        words = st.text_input(
            _("Or describe what to run"),
            placeholder=_("check the licences of the new sources"),
            max_chars=500,
            key="command words",
        )
        asked = act_button("understand", _("Interpret"), in_form=True, icon=":material/chat:", key="interpret")
    if asked and words.strip():
        with show_errors(), st.spinner(_("Reading what you wrote …")):
            st.session_state[_COMMAND] = words, understand(resources.context(), words)
    if _COMMAND in st.session_state:
        _draw_command(*st.session_state[_COMMAND])


def _draw_command(words: str, command: Command | None) -> None:
    with st.container(border=True, key="command asked"):
        if command is None:
            st.markdown(_(":material/help: {words} could not be interpreted.").format(words=quoted(escape(words))))
            st.caption(_("Name a phase, what failed, or a code: “download what failed”, “describe ADM004 again”."))
            return
        request = escape(describe_request(command.request, len(command.request.codes), WORDING))
        st.markdown(_("{words} would start: **{request}**").format(words=quoted(escape(words)), request=request))
        by = _("rules") if command.by == "rules" else escape(command.by)
        st.caption(_("Interpreted by: {name}. Nothing has been started.").format(name=by))
        with st.container(horizontal=True):
            if act_button("run", _("Confirm"), type="primary", icon=":material/check:", key="confirm command"):
                del st.session_state[_COMMAND]
                start_run(command.request)
            if st.button(_("Cancel"), key="leave command"):
                del st.session_state[_COMMAND]
                st.rerun()
