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
    notice = st.container()
    opened = choice.draw_choice(resources.workspace())
    if st.query_params.get("notebook", opened.id) != opened.id:
        notice.info(
            _("This notebook was deleted, belongs to somebody else, or the link is incomplete."),
            icon=":material/link_off:",
        )
    entries.draw_entries(resources.engine(), opened)
