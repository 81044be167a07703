"""Notebook page: quotes and answers that were kept, with notes and tags, to be ordered and exported."""

import streamlit as st

from pages._notebook import choice, entries
from pages._shared import resources
from pages._shared.errors import show_errors
from pages._shared.frame import guard
from pages._shared.interface_language import _

guard(__file__)
st.title(_("Notebook"))
with show_errors():
    entries.draw_entries(resources.engine(), choice.draw_choice(resources.workspace()))
