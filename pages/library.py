"""Library page: the documents of the collection, their correction, and adding to them."""

import streamlit as st

from pages._ask import sidebar
from pages._library.coverage import draw_coverage
from pages._library.coverage_grid import TABS
from pages._library.documents import draw_documents
from pages._library.filter_sets import draw_filter_sets
from pages._library.upload import draw_adding
from pages._shared import resources
from pages._shared.filter_widgets import filter_in_address
from pages._shared.frame import guard
from pages._shared.interface_language import _
from pages._shared.jobs import draw_jobs

guard(__file__)
st.title(_("Library"))
engine = resources.engine()
wanted = filter_in_address("library", engine.collection.facets())
documents = engine.collection.documents(wanted)[::-1]
total = engine.collection.statistics().documents
draw_adding(expanded=total == 0)
draw_jobs()
if total:
    table, covered = st.tabs([_("Documents"), _("Coverage")], key=TABS, on_change="rerun")
    with table:
        if table.open:
            draw_documents(documents, total)
    with covered:
        if covered.open:
            draw_coverage(documents, wanted)
with st.sidebar:
    draw_filter_sets("library", sidebar.draw_filter(engine, "library"))
    sidebar.draw_collection(engine)
