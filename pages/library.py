"""The collection: its documents, what is known of them, and the way in and out."""

import streamlit as st

from pages._shared import resources, sidebar
from pages._shared.document_view import draw_document
from pages._shared.frame import guard
from pages._shared.library_table import draw_table, search_titles
from pages._shared.runs import draw_runs
from pages._shared.uploads import draw_upload

guard(__file__)
engine = resources.engine()
with st.sidebar:
    wanted = sidebar.draw_narrowing(engine, "library")
    sidebar.draw_collection(engine)

st.title("Library")
documents = engine.documents(wanted)
total = engine.statistics().documents
with st.expander("Add documents", icon=":material/upload_file:", expanded=total == 0):
    draw_upload()
draw_runs()
if total:
    words = st.text_input("Search titles", placeholder="Title, authority or file name", icon=":material/search:")
    found = search_titles(documents, words)
    st.caption(f"{len(found):,} of {total:,} documents")
    draw_table(found)
if "document" in st.query_params:
    draw_document(st.query_params["document"])
