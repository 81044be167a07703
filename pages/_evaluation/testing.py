"""Test now: asking every test question, with the progress of the run."""

from __future__ import annotations

import streamlit as st

from ingestion.jobs.queue import Run
from ingestion.operations.evaluation import queue_test
from ingestion.status.views import pluralised
from pages._shared import resources
from pages._shared.errors import show_errors
from pages._shared.jobs import draw_runs_of
from pages._shared.markdown import escape
from rag_engine.evaluation.answers.judging import JUDGED_METRICS
from rag_engine.evaluation.answers.own_questions import read_own_questions

_JUDGE = "evaluation judge"


def draw_testing() -> None:
    """Draw the button that asks every test question, and the run that does so."""
    with show_errors():
        questions = read_own_questions(resources.workspace())
        with st.container(horizontal=True, vertical_alignment="center"):
            label = f"Test now ({pluralised(len(questions), 'question')})" if questions else "Test now"
            if st.button(label, key="test now", icon=":material/play_arrow:", type="primary", disabled=not questions):
                queue_test(resources.desk(), str(st.session_state.get(_JUDGE, "")).strip())
                st.rerun()
            with st.popover("With a judge", icon=":material/gavel:", type="tertiary"):
                _draw_judge()
    draw_runs_of(_is_test)
    latest = next((run for run in resources.jobs().runs() if _is_test(run) and not run.active), None)
    if latest is not None and latest.status == "done" and latest.message:
        st.caption(f":material/info: Last test: {escape(latest.message)}")


def _is_test(run: Run) -> bool:
    return run.action == "test"


def _draw_judge() -> None:
    st.text_input(
        "Second language model", key=_JUDGE, placeholder="ollama/qwen3:8b", max_chars=120, persist_state="session"
    )
    names = ", ".join(name.replace("_", " ") for name in JUDGED_METRICS)
    st.caption(
        f"Only these figures need a judge: {names}. Evidence, quotations and refusals are measured without a "
        "language model. Better not the model that answers."
    )
