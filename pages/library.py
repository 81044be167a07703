"""Library page: the documents of the collection, their correction, and adding to them."""

import streamlit as st

from ingestion.operations.corrections import describe_records
from ingestion.status.document_fields import unchecked_fields
from pages._ask import sidebar
from pages._library.correction import draw_done
from pages._library.documents import draw_columns, draw_table, find
from pages._library.selection import draw_selection
from pages._library.upload import draw_upload
from pages._shared import resources
from pages._shared.frame import guard
from pages._shared.jobs import draw_runs

guard(__file__)
engine = resources.engine()
with st.sidebar:
    wanted = sidebar.draw_filter(engine, "library")
    sidebar.draw_collection(engine)

st.title("Library")
documents = engine.collection.documents(wanted)[::-1]
total = engine.collection.statistics().documents
with st.expander("Add documents", icon=":material/upload_file:", expanded=total == 0):
    draw_upload()
draw_runs()
if total:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        words = st.text_input(
            "Search", placeholder="Words in titles, authorities, summaries and texts", icon=":material/search:"
        )
        columns = draw_columns()
        only = st.toggle("Only with unchecked values", key="library unchecked")
    found = find(documents, words)
    described = dict(zip((one.key for one in documents), describe_records(resources.desk(), documents), strict=True))
    shown = [
        one
        for one in documents
        if (found is None or one.key in found) and (not only or unchecked_fields(described[one.key]))
    ]
    st.caption(f"{len(shown):,} of {total:,} documents. Click on a title to open the document.")
    draw_done()
    actions = st.container()
    if shown:
        chosen = draw_table(shown, described, columns, found)
        with actions:
            draw_selection(chosen, described)
