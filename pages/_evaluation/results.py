"""Results of a run of the test questions: shares with intervals, each question, and another run beside it."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from ingestion.operations.evaluation import exported_results
from ingestion.status.views import pluralised
from pages._evaluation.comparison import draw_comparison
from pages._evaluation.question_result import draw_results_of
from pages._shared import resources
from pages._shared.elements import draw_table
from pages._shared.errors import show_errors
from pages._shared.markdown import escape
from rag_engine.evaluation.answers.judging import JUDGED_METRICS
from rag_engine.evaluation.answers.own_results import MEASURES, describe_chance, is_as_expected, settings_of, shares
from rag_engine.evaluation.answers.own_runs import OwnRun, OwnRunSummary, list_own_runs, read_own_run
from rag_engine.evaluation.answers.rows import AnswerRow

_RUN, _OTHER = "evaluation run", "evaluation other run"
_HELP = {
    "found": "The passages found hold at least half of an expected passage.",
    "cited": "The answer cites a page of an expected passage.",
    "first": "The first quotation is an expected passage.",
    "refused": "Where the collection does not answer, the answer says so.",
}


def draw_results() -> None:
    """Draw the run that is chosen, the last one at first, and the run that it is compared with."""
    workspace = resources.workspace()
    with show_errors():
        runs = list_own_runs(workspace)
        if not runs:
            st.info("No results yet. “Test now” asks every test question.", icon=":material/monitoring:")
            return
        # With the last run in its key: one that has just ended is the one to look at.
        chosen = st.selectbox("Run", runs, key=f"{_RUN} {runs[0].id}", format_func=describe_run, width=520) or runs[0]
        run = read_own_run(workspace, chosen.id)
        others = [one for one in runs if one != chosen]
        other = _draw_other(others) if others else None
        if other:
            draw_comparison(read_own_run(workspace, other.id), run)
        else:
            _draw_run(run)


def _draw_other(others: Sequence[OwnRunSummary]) -> OwnRunSummary | None:
    return st.selectbox(
        "Compare with",
        others,
        index=None,
        key=_OTHER,
        format_func=describe_run,
        placeholder="No other run",
        width=520,
    )


def describe_run(run: OwnRunSummary) -> str:
    """Return when a run was, over how many questions, by which model and on which generation of the index."""
    when = run.when.astimezone().strftime("%d %b %Y %H:%M:%S")
    model = "quotations only" if run.model == "extractive" else run.model
    return f"{when} · {pluralised(run.questions, 'question')} · {model} · index {run.generation}"


def _draw_run(run: OwnRun) -> None:
    rows = run.run.rows
    table = [
        {
            "Measure": MEASURES[one.measure],
            "Right": f"{one.right} of {one.questions}",
            "Share": one.interval.value,
            "95% interval": f"{one.interval.low:.0%} to {one.interval.high:.0%}",
            "Meaning": _HELP[one.measure],
        }
        for one in shares(rows)
    ]
    percent = {"Share": st.column_config.NumberColumn(format="percent")}
    draw_table(
        table, f"shares {run.id}", "Share of the test questions that came out right by each measure", columns=percent
    )
    st.caption(describe_chance(len(rows)))
    _draw_judged(run)
    with st.container(horizontal=True):
        st.download_button(
            "Export CSV",
            lambda: exported_results(run),
            f"results-{run.id}.csv",
            "application/octet-stream",
            key="export results",
            icon=":material/download:",
            type="tertiary",
            on_click="ignore",
        )
        with st.popover("Settings of this run", icon=":material/settings:", type="tertiary"):
            draw_table(
                [{"Setting": name, "Value": value} for name, value in settings_of(run.run).items()],
                f"settings {run.id}",
                "All that the run was made with",
            )
    _draw_rows(rows)


def _draw_judged(run: OwnRun) -> None:
    judged = [one for one in run.run.figures if one.group == "all" and one.metric in JUDGED_METRICS]
    if not judged:
        names = ", ".join(name.replace("_", " ") for name in JUDGED_METRICS)
        st.caption(f"Not measured, as no judge was named: {names}.")
        return
    table = [
        {
            "Judged by " + str(run.run.settings["judge"]): one.metric.replace("_", " "),
            "Questions": one.questions,
            "Mean": one.mean.value,
            "95% interval": f"{one.mean.low:.2f} to {one.mean.high:.2f}",
        }
        for one in judged
    ]
    columns = {"Mean": st.column_config.NumberColumn(format="%.2f")}
    draw_table(table, f"judged {run.id}", "Figures that the judge gave", columns=columns)


def _draw_rows(rows: Sequence[AnswerRow]) -> None:
    wrong = [row for row in rows if not is_as_expected(row)]
    labels = {"look": f"To look at ({len(wrong)})", "all": f"All ({len(rows)})"}
    chosen = st.segmented_control(
        "Questions",
        list(labels),
        format_func=lambda one: labels[one],
        default="look" if wrong else "all",
        key=f"results shown {escape(rows[0].id)}",
        required=True,
        label_visibility="collapsed",
    )
    draw_results_of(wrong if chosen == "look" else rows)
