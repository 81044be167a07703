"""Test now: asking every test question, with the progress of the job."""

from __future__ import annotations

import streamlit as st

from ingestion.acts.evaluation import queue_test
from ingestion.jobs.queue import Job
from pages._shared import resources
from pages._shared.elements import act_button
from pages._shared.errors import show_errors
from pages._shared.interface_language import _, to_translate
from pages._shared.jobs import draw_jobs
from pages._shared.markdown import escape
from pages._shared.numbers_and_dates import counted
from rag_engine.evaluation.answers.judging import JUDGED_METRICS
from rag_engine.evaluation.answers.test_questions import read_test_questions

_JUDGE = "evaluation judge"
_EXAMPLE = "ollama/qwen3:8b"
_FIGURES = {
    "faithfulness": to_translate("faithfulness"),
    "answer_relevancy": to_translate("answer relevancy"),
    "judged_context_precision": to_translate("judged context precision"),
    "judged_context_recall": to_translate("judged context recall"),
    "answer_correctness": to_translate("answer correctness"),
}


def draw_testing() -> None:
    """Draw the button that asks every test question, and the job that does so."""
    with show_errors():
        questions = read_test_questions(resources.workspace())
        with st.container(horizontal=True, vertical_alignment="center"):
            counting = counted("Test now ({n} question)", "Test now ({n} questions)", len(questions))
            label = counting if questions else _("Test now")
            if act_button(
                "queue_test",
                label,
                key="test now",
                icon=":material/play_arrow:",
                type="primary",
                disabled=not questions,
            ):
                queue_test(resources.context(), str(st.session_state.get(_JUDGE, "")).strip())
                st.rerun()
            with st.popover(_("With a judge"), icon=":material/gavel:", type="tertiary"):
                _draw_judge()
    draw_jobs(_is_test)
    latest = next((job for job in resources.jobs().latest() if _is_test(job) and not job.active), None)
    if latest is not None and latest.status == "done" and latest.message:
        st.caption(_(":material/info: Last test: {message}").format(message=escape(latest.message)))


def _is_test(job: Job) -> bool:
    return job.kind == "test"


def _draw_judge() -> None:
    st.text_input(_("Second language model"), key=_JUDGE, placeholder=_EXAMPLE, max_chars=120, persist_state="session")
    told = _(
        "Only these figures need a judge: {names}. Evidence, quotations and refusals are measured without a language "
        "model. Use another model than the one that answers."
    )
    st.caption(told.format(names=judged_names()))


def judged_name(metric: str) -> str:
    """Return what a figure is called that only a judge gives."""
    return _(_FIGURES[metric])


def judged_names() -> str:
    """Return what all of them are called."""
    return ", ".join(map(judged_name, JUDGED_METRICS))
