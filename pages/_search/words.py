"""The words of a search, its order, and what counts as a match."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from pages._search.open_search import go_to
from pages._shared.elements import when_changed
from pages._shared.frame import show_opened
from pages._shared.interface_language import _, to_translate
from rag_engine.passage_search.passage_query import PassageQuery, SortOrder

_WORDS, _SORT, _ONLY, _DRAWN = "search words", "search sort", "search words only", "search drawn"
_STRUCK, _ANYWHERE = "search struck", "search anywhere"
_ORDERS: dict[SortOrder, str] = {"relevance": to_translate("Relevance"), "date": to_translate("Date")}


def draw_words(query: PassageQuery) -> None:
    """Draw the input for the words, with the order and the choice of all words only."""
    if st.session_state.get(_DRAWN) != query or _WORDS not in st.session_state:
        st.session_state[_DRAWN] = query
        st.session_state[_WORDS], st.session_state[_SORT] = query.words, query.sort
        st.session_state[_ONLY], st.session_state[_STRUCK] = query.by_words, query.struck
        st.session_state[_ANYWHERE] = query.anywhere
    st.text_input(
        _("Search for"),
        key=_WORDS,
        placeholder=_("Key words, a “phrase in quotes” or a question"),
        icon=":material/search:",
        max_chars=1000,
        label_visibility="collapsed",
        on_change=when_changed(_WORDS, st.session_state[_WORDS], _follow, query),
    )
    show_opened()
    with st.container(horizontal=True, vertical_alignment="center"):
        st.segmented_control(
            _("Sort by"),
            list(_ORDERS),
            key=_SORT,
            format_func=lambda order: _(_ORDERS[order]),
            required=True,
            on_change=when_changed(_SORT, st.session_state[_SORT], _follow, query),
            label_visibility="collapsed",
            width="content",
        )
        st.checkbox(
            _("All words only"),
            key=_ONLY,
            help=_(
                "Leave out passages that are close in meaning but do not contain all of the words. A phrase in "
                "quotation marks leaves them out by itself. Words are found in every form of the same language."
            ),
            on_change=when_changed(_ONLY, st.session_state[_ONLY], _follow, query),
        )
        st.checkbox(
            _("Anywhere in the document"),
            key=_ANYWHERE,
            help=_("Find documents that have all of the words, on different pages too."),
            on_change=when_changed(_ANYWHERE, st.session_state[_ANYWHERE], _follow, query),
        )
        st.checkbox(
            _("Include struck text"),
            key=_STRUCK,
            help=_(
                "Also find words that a document shows struck out. They are not in force, and no answer quotes them."
            ),
            on_change=when_changed(_STRUCK, st.session_state[_STRUCK], _follow, query),
        )


def _follow(query: PassageQuery) -> None:
    words = " ".join(str(st.session_state[_WORDS]).split())
    followed = replace(
        query,
        words=words,
        sort=st.session_state[_SORT],
        struck=bool(st.session_state[_STRUCK]),
        anywhere=bool(st.session_state[_ANYWHERE]),
    )
    if (only := bool(st.session_state[_ONLY])) != query.by_words:
        followed = replace(followed, words_only=only)
        # What the words choose by themselves is no choice.
        usual = replace(followed, words_only=None)
        followed = usual if usual.by_words == only else followed
    go_to(followed)
