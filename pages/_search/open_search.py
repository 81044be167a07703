"""The search that is open: it is in the address, so that a link reproduces it and a reload keeps it."""

from __future__ import annotations

import streamlit as st

from rag_engine.passage_search.passage_query import PassageQuery, read_query

_LAST, _PART = "search last", "from"


def current_query() -> PassageQuery:
    """Return the search of the address, else the last one of this session, put into the address."""
    query = read_query({name: st.query_params.get_all(name) for name in st.query_params})
    last = st.session_state.get(_LAST)
    if not query and last:
        go_to(last)
        return PassageQuery(last.words, last.wanted, last.sort, last.words_only, anywhere=last.anywhere)
    st.session_state[_LAST] = query
    return query


def go_to(query: PassageQuery) -> None:
    """Open a search at its first documents."""
    st.session_state[_LAST] = query
    st.query_params.from_dict(query.parameters())


def first_shown() -> int:
    """Return the position of the first document that is shown, from 0."""
    number = st.query_params.get(_PART, "")
    return int(number) if number.isdecimal() and len(number) < 10 else 0


def show_from(first: int) -> None:
    """Show the documents from a position on."""
    st.query_params.pop(_PART, None)
    if first > 0:
        st.query_params[_PART] = str(first)
