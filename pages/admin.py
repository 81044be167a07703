"""The list of sources and what becomes of it: seeds, runs, decisions, corrections, the dataset."""

import streamlit as st

from pages._shared.admin_dataset import draw_dataset
from pages._shared.admin_metadata import draw_metadata
from pages._shared.admin_quarantine import draw_quarantine
from pages._shared.admin_review import draw_review
from pages._shared.admin_run import draw_run
from pages._shared.admin_sources import draw_sources
from pages._shared.admin_tabs import choose_tab
from pages._shared.frame import guard

guard(__file__)

st.title("Admin")
tabs = {
    "sources": draw_sources,
    "run": draw_run,
    "review": draw_review,
    "quarantine": draw_quarantine,
    "metadata": draw_metadata,
    "dataset": draw_dataset,
}
tabs[choose_tab(tuple(tabs))]()
