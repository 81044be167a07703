"""Compare page: the same questions asked of documents or countries, as a table with sources."""

import streamlit as st

from pages._compare import earlier_comparisons as past
from pages._compare import new_comparison as begin
from pages._compare import open_comparison as opened
from pages._shared import resources
from pages._shared.errors import show_errors
from pages._shared.frame import guard
from pages._shared.interface_language import _

guard(__file__)
with show_errors():
    comparison = opened.current_comparison()
    if comparison is not None:
        opened.draw_comparison(comparison)
    else:
        st.title(_("Compare"))
        if begin.COMPARISON in st.query_params:
            st.info(_("This comparison was deleted, or the link is incomplete."), icon=":material/link_off:")
        begin.draw_beginning(resources.engine())
        past.draw_past()
