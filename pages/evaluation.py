"""Evaluation page: the workspace's test questions, run by the worker, and two runs compared."""

import streamlit as st

from pages._evaluation.questions import draw_questions
from pages._evaluation.results import draw_results
from pages._evaluation.testing import draw_testing
from pages._shared import resources
from pages._shared.frame import guard, show_opened
from pages._shared.interface_language import _
from rag_engine.evaluation.answers.test_runs import list_test_runs

guard(__file__)

st.title(_("Evaluation"))
st.caption(_("How well your collection answers your own questions, and whether a change made it better."))
draw_testing()
tabs = (_("Questions"), _("Results"))
chosen, results = st.tabs(tabs, default=tabs[bool(list_test_runs(resources.workspace()))], key="evaluation tab")
show_opened()
with chosen:
    draw_questions()
with results:
    draw_results()
