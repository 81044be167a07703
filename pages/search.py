"""Search page: passages with marked words, counted filters, saved searches and an export."""

import streamlit as st

from pages._search import facets, results, saved, words
from pages._search.open_search import current_query
from pages._shared import resources
from pages._shared.errors import show_errors
from pages._shared.frame import guard
from pages._shared.interface_language import _

guard(__file__)
st.title(_("Search"))
engine = resources.engine()
query = current_query()
words.draw_words(query)
found = results.find(engine, query)
with show_errors():
    results.draw_results(engine, query, found)
with st.sidebar:
    saved.draw_saved(engine, query)
    facets.draw_facets(engine, query, found)
