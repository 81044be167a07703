"""What stands where no conversation has begun."""

from __future__ import annotations

import streamlit as st

from pages._shared.examples import example_questions
from rag_engine.engine import Engine


def draw_welcome(engine: Engine) -> str:
    """An example question if one was chosen, else nothing; draws what can be done here."""
    st.title("Ask your documents")
    documents = engine.documents()
    if not documents:
        st.markdown("Every answer quotes the documents of your collection and shows the page it stands on.")
        with st.container(border=True):
            st.markdown("**The collection is empty.** Add PDF, Word, PowerPoint, Excel, HTML or text files to begin.")
            st.page_link("pages/library.py", label="Add documents in the Library", icon=":material/upload_file:")
        return ""
    st.markdown(
        "Ask in your own language: documents in every language are searched. Each claim is tied to a page you can see."
    )
    chosen = ""
    for question in example_questions([document.file for document in documents]):
        if st.button(question, icon=":material/arrow_outward:", type="secondary"):
            chosen = question
    return chosen
