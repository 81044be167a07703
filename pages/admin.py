"""Admin page: a tab for each part of the work, from sources and runs to people and backups."""

import streamlit as st

from pages._admin.dataset import draw_dataset
from pages._admin.metadata import draw_metadata
from pages._admin.quarantine import draw_quarantine
from pages._admin.review import draw_review
from pages._admin.run import draw_run
from pages._admin.settings import draw_settings
from pages._admin.sources import draw_sources
from pages._admin.tabs import choose_tab
from pages._backup.backup import draw_backups
from pages._evaluation.feedback import draw_feedback
from pages._knowledge.knowledge import draw_knowledge
from pages._people.people import draw_people
from pages._shared.frame import guard, show_opened
from pages._shared.interface_language import _
from pages._shared.jobs import draw_writer

guard(__file__)

st.title(_("Admin"))
draw_writer()
tabs = {
    "sources": draw_sources,
    "run": draw_run,
    "review": draw_review,
    "quarantine": draw_quarantine,
    "metadata": draw_metadata,
    "dataset": draw_dataset,
    "knowledge": draw_knowledge,
    "feedback": draw_feedback,
    "settings": draw_settings,
    "people": draw_people,
    "backups": draw_backups,
}
chosen = choose_tab(tuple(tabs))
show_opened()
tabs[chosen]()
