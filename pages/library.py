"""Library page: the documents of the collection, and adding to them."""

import streamlit as st

from pages._ask import sidebar
from pages._library.documents import draw_table, draw_upload, search_titles
from pages._shared import resources
from pages._shared.frame import guard
from pages._shared.jobs import draw_runs

guard(__file__)
engine = resources.engine()
with st.sidebar:
    wanted = sidebar.draw_filter(engine, "library")
    sidebar.draw_collection(engine)

st.title("Library")
documents = engine.collection.documents(wanted)
total = engine.collection.statistics().documents
with st.expander("Add documents", icon=":material/upload_file:", expanded=total == 0):
    draw_upload()
draw_runs()
if total:
    words = st.text_input("Search titles", placeholder="Title, authority or file name", icon=":material/search:")
    found = search_titles(documents, words)
    st.caption(f"{len(found):,} of {total:,} documents. Select one to open it.")
    draw_table(found)
