"""The result of each question, with the answers to read once it is opened."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from pages._shared import resources
from pages._shared.elements import draw_more
from pages._shared.interface_language import _, to_translate
from pages._shared.markdown import answer_markdown, escape, quoted
from pages._shared.numbers_and_dates import number
from pages._shared.shown_names import shown_name, title_place
from rag_engine.evaluation.answers.rows import AnswerRow
from rag_engine.evaluation.answers.test_questions import TEST_QUESTIONS
from rag_engine.evaluation.answers.test_results import QuestionChange, describe_result, is_as_expected

# Questions drawn at once.
_SHOWN = 30
_MOST = "results shown"
_SIGNS = {"better": ":material/trending_up:", "worse": ":material/trending_down:", "same": ":material/trending_flat:"}

_SIDES = (to_translate("Earlier"), to_translate("Later"))


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
    for one in changes[: _shown(len(changes))]:
        was, is_ = shown_name(describe_result(one.before)), shown_name(describe_result(one.after))
        results = was if was == is_ else f"{was} → {is_}"
        title = f"{escape(one.after.question)} · {escape(results)}"
        with st.expander(title, icon=_SIGNS[one.change], key=f"change {one.after.id}", on_change="rerun") as folded:
            if folded.open:
                for column, name, row in zip(st.columns(2), _SIDES, (one.before, one.after), strict=True):
                    with column:
                        st.caption(f"**{_(name)}** · {shown_name(describe_result(row))}")
                        _draw_answer(row)
                _draw_expected(one.after)
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
        place = title_place(quote.document, quote.document, quote.page)
        st.markdown(f"> {quoted(escape(quote.quote))} {escape(place)}")


def _shown(count: int) -> int:
    return min(count, int(st.session_state.get(_MOST, _SHOWN)))


def _draw_rest(count: int) -> None:
    if hidden := count - _shown(count):
        label = _("Show more questions ({n})").format(n=number(hidden))
        draw_more(_MOST, label, _shown(count) + _SHOWN)
