"""Evaluation page: measurements of retrieval quality with their charts, and the questions behind them."""

import streamlit as st

from pages._evaluation.measurements import draw_gold, draw_measurements
from pages._shared.frame import guard

guard(__file__)

st.title("Evaluation")
measured, questions = st.tabs(["Measurements", "Questions"])
with measured:
    draw_measurements()
with questions:
    draw_gold()
