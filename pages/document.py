"""Document page: one document page by page, what is in it, and what is known of it."""

import streamlit as st

from pages._document.reader import draw_document
from pages._shared.frame import guard
from rag_engine.viewer.address import read_address

guard(__file__)
draw_document(read_address(st.query_params.to_dict()))
