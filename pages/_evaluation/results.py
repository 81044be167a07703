"""Results of a run of the test questions: shares with intervals, and each question; two runs compared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

import streamlit as st

from ingestion.acts.evaluation import exported_results
from pages._evaluation.testing import judged_name, judged_names
from pages._shared import resources
from pages._shared.elements import draw_download, draw_more, draw_table
from pages._shared.errors import show_errors
from pages._shared.filter_widgets import WORDING
from pages._shared.interface_language import _, to_translate
from pages._shared.markdown import answer_markdown, escape, quoted
from pages._shared.numbers_and_dates import counted, moment, number, percent
from pages._shared.page_names import title_place
from pages._shared.shown_names import shown_name
from rag_engine.evaluation.answers.accepted_run import RecordedRun
from rag_engine.evaluation.answers.judging import JUDGED_METRICS
from rag_engine.evaluation.answers.rows import AnswerRow
from rag_engine.evaluation.answers.test_questions import TEST_QUESTIONS
from rag_engine.evaluation.answers.test_results import (
    MEASURES,
    Change,
    QuestionChange,
    compare_tests,
    describe_chance,
    describe_result,
    is_as_expected,
    settings_of,
    shares,
)
from rag_engine.evaluation.answers.test_runs import RunSummary, list_test_runs, read_test_run

_RUN, _OTHER = "evaluation run", "evaluation other run"
_HELP = {
    "found": to_translate("The passages found hold at least half of an expected passage."),
    "cited": to_translate("The answer cites a page of an expected passage."),
    "first": to_translate("The first quotation is an expected passage."),
    "refused": to_translate("Where the collection does not answer, the answer says so."),
}
_CHANGES: Mapping[Change, str] = {
    "better": to_translate("Better"),
    "worse": to_translate("Worse"),
    "same": to_translate("Same"),
}
# Questions drawn at once.
_SHOWN = 30
_MOST = "results shown"
_SIGNS = {"better": ":material/trending_up:", "worse": ":material/trending_down:", "same": ":material/trending_flat:"}

_SIDES = (to_translate("Earlier"), to_translate("Later"))


def draw_results() -> None:
    """Draw the run that is chosen, the last one at first, and the run that it is compared with."""
    workspace = resources.workspace()
    with show_errors():
        runs = list_test_runs(workspace)
        if not runs:
            st.info(_("No results yet. “Test now” asks every test question."), icon=":material/monitoring:")
            return
        # With the last run in its key: one that has just ended is the one to look at.
        chosen = (
            st.selectbox(_("Run"), runs, key=f"{_RUN} {runs[0].id}", format_func=describe_run, width=520) or runs[0]
        )
        run = read_test_run(workspace, chosen.id)
        others = [summary for summary in runs if summary != chosen]
        other: RunSummary | None = None
        if others:
            other = st.selectbox(
                _("Compare with"),
                others,
                index=None,
                key=_OTHER,
                format_func=describe_run,
                placeholder=_("No other run"),
                width=520,
            )
        if other:
            draw_comparison(read_test_run(workspace, other.id), run)
        else:
            _draw_run(run)


def describe_run(run: RunSummary) -> str:
    """Return when a run was, over how many questions, by which model and on which generation of the index."""
    parts = (
        moment(run.when, seconds=True),
        counted("{n} question", "{n} questions", run.questions),
        _("quotations only") if run.model == "extractive" else run.model,
        _("index {n}").format(n=run.generation),
    )
    return " · ".join(parts)


def _draw_run(run: RecordedRun) -> None:
    rows = run.run.rows
    table = [
        {
            _("Measure"): shown_name(MEASURES[share.measure]),
            _("Right"): _("{right} of {total}").format(right=number(share.right), total=number(share.questions)),
            _("Share"): share.interval.value,
            _("95% interval"): _("{low} to {high}").format(
                low=percent(share.interval.low), high=percent(share.interval.high)
            ),
            _("Meaning"): _(_HELP[share.measure]),
        }
        for share in shares(rows)
    ]
    alt = _("Share of the test questions that came out right by each measure")
    draw_table(table, f"shares {run.id}", alt, written={_("Share"): percent})
    st.caption(describe_chance(len(rows), WORDING))
    _draw_judged(run)
    with st.container(horizontal=True):
        draw_download(_("Export CSV"), lambda: exported_results(run), f"results-{run.id}.csv", "export results")
        with st.popover(_("Settings of this run"), icon=":material/settings:", type="tertiary"):
            draw_table(
                [{_("Setting"): name, _("Value"): value} for name, value in settings_of(run.run).items()],
                f"settings {run.id}",
                _("All that the run was made with"),
            )
    _draw_rows(rows)


def _draw_judged(run: RecordedRun) -> None:
    judged = [figure for figure in run.run.figures if figure.group == "all" and figure.metric in JUDGED_METRICS]
    if not judged:
        st.caption(_("Not measured, as no judge was named: {names}.").format(names=judged_names()))
        return
    judge = _("Judged by {name}").format(name=run.run.settings["judge"])
    table = [
        {
            judge: judged_name(summary.metric),
            _("Questions"): summary.questions,
            _("Mean"): summary.mean.value,
            _("95% interval"): _("{low} to {high}").format(
                low=number(summary.mean.low, 2), high=number(summary.mean.high, 2)
            ),
        }
        for summary in judged
    ]
    written = {_("Mean"): partial(number, decimals=2)}
    draw_table(table, f"judged {run.id}", _("Figures that the judge gave"), written=written)


def _draw_rows(rows: Sequence[AnswerRow]) -> None:
    wrong = [row for row in rows if not is_as_expected(row)]
    labels = {
        "look": _("To look at ({n})").format(n=number(len(wrong))),
        "all": _("All ({n})").format(n=number(len(rows))),
    }
    chosen = st.segmented_control(
        _("Questions"),
        list(labels),
        format_func=lambda one: labels[one],
        default="look" if wrong else "all",
        key=f"results shown {escape(rows[0].id)}",
        required=True,
        label_visibility="collapsed",
    )
    draw_results_of(wrong if chosen == "look" else rows)


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


def draw_results_of(rows: Sequence[AnswerRow]) -> None:
    """Draw the questions of a run, each with its answer once it is opened."""
    for row in rows[: _shown(len(rows))]:
        icon = ":material/check:" if is_as_expected(row) else ":material/priority_high:"
        title = f"{escape(row.question)} · {shown_name(describe_result(row))}"
        with st.expander(title, icon=icon, key=f"result {row.id}", on_change="rerun") as folded:
            if folded.open:
                _draw_answer(row)
                _draw_expected(row)
    _draw_rest(len(rows))


def draw_changes_of(changes: Sequence[QuestionChange]) -> None:
    """Draw the questions of two runs, each with both answers once it is opened."""
    for change in changes[: _shown(len(changes))]:
        was, is_ = shown_name(describe_result(change.before)), shown_name(describe_result(change.after))
        results = was if was == is_ else f"{was} → {is_}"
        title = f"{escape(change.after.question)} · {escape(results)}"
        with st.expander(
            title, icon=_SIGNS[change.change], key=f"change {change.after.id}", on_change="rerun"
        ) as folded:
            if folded.open:
                for column, name, row in zip(st.columns(2), _SIDES, (change.before, change.after), strict=True):
                    with column:
                        st.caption(f"**{_(name)}** · {shown_name(describe_result(row))}")
                        _draw_answer(row)
                _draw_expected(change.after)
    _draw_rest(len(changes))


def _draw_answer(row: AnswerRow) -> None:
    if row.failure:
        st.caption(f":material/error: {escape(row.failure)}")
    st.markdown(answer_markdown(row.answer, lambda n: f":green-badge[{n}]"))
    cited = _("Cited: {passages}").format(passages=escape("; ".join(row.cited)))
    st.caption(" · ".join((cited if row.cited else _("Nothing cited"), f"{number(row.seconds, 1)} s")))


def _draw_expected(row: AnswerRow) -> None:
    """Draw the passages that the question expects, where it is still a test question."""
    expected = TEST_QUESTIONS.read_any(resources.workspace(), row.id)
    if expected is None or expected.question != row.question:
        return
    st.caption(
        _("Expected") if expected.answerable else _("Expected: no answer, since the collection does not answer this.")
    )
    for quote in expected.passages:
        place = title_place(quote.document, quote.document, {quote.page: None})
        st.markdown(f"> {quoted(escape(quote.quote))} {escape(place)}")


def _shown(count: int) -> int:
    return min(count, int(st.session_state.get(_MOST, _SHOWN)))


def _draw_rest(count: int) -> None:
    if hidden := count - _shown(count):
        label = _("Show more questions ({n})").format(n=number(hidden))
        draw_more(_MOST, label, _shown(count) + _SHOWN)
