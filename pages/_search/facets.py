"""Filters of a search: the values of each facet with live counts, and how many documents match."""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import date
from functools import partial

import streamlit as st

from pages._search.open_search import go_to
from pages._shared.elements import draw_more, when_changed
from pages._shared.filter_widgets import (
    MANY,
    by_frequency,
    display_text,
    draw_dated,
    draw_finding,
    filter_label,
    filter_names,
    has_undated,
    matching_documents,
)
from pages._shared.interface_language import _
from pages._shared.markdown import escape
from pages._shared.numbers_and_dates import DATE_FORMAT, number
from rag_engine.answering_documents import left_documents, live_counts
from rag_engine.engine import Engine
from rag_engine.filters import AS_OF, DATED, ONLY, VERSIONS, Facets
from rag_engine.passage_search.facet_counts import worded_documents
from rag_engine.passage_search.find import FoundPassages
from rag_engine.passage_search.passage_query import PassageQuery
from rag_engine.storage.snapshot import Snapshot

# Values of a facet that are shown at once.
_SHOWN = 6
# Values that are shown of those that have the letters typed.
_FOUND = 12
_HITS = "search hits"
_OPEN = ("hazard", "country", "document_type")
_YEARS = re.compile(r"(\d{4})(?:-(\d{4}))?")


def draw_facets(engine: Engine, query: PassageQuery, found: FoundPassages | None) -> None:
    """Draw each facet with the number of documents by value, and the number in all.

    A value counts what is found where it is chosen besides the other choices, so that one without a hit is closed.
    """
    snapshot = engine.collection.snapshot()
    if not snapshot.documents:
        st.caption(_("Filters appear once the first document is indexed."))
        return
    hits = _hits(engine, found, snapshot) if found is not None and query.words else frozenset(snapshot.documents)
    counts = live_counts(query.wanted, snapshot.facets, snapshot.documents, lambda keys: len(hits.intersection(keys)))
    for name in filter_names():
        label = filter_label(name)
        chosen = query.wanted.get(name, ())
        if name == "year":
            _draw_years(query, snapshot.facets)
        elif counts[name] or chosen or name == "country":
            title = f"{label} :green-badge[{len(chosen)}]" if chosen else label
            opened = name in _OPEN or bool(chosen)
            with st.expander(title, expanded=opened, key=f"search facet {name}"):
                _draw_values(query, name, counts[name], closed=bool(hits))
    _draw_versions(query, snapshot.facets)
    matching = (
        found.matching if found is not None else len(left_documents(query.wanted, snapshot.facets, snapshot.documents))
    )
    told = _("The numbers count the documents that the words find, not those that are close in meaning.")
    st.caption(f"**{matching_documents(matching, len(snapshot.documents))}**", help=told if query.words else None)
    if query.wanted:
        st.button(
            _("Clear all"),
            key="search clear",
            icon=":material/filter_alt_off:",
            on_click=go_to,
            args=(replace(query, wanted={}),),
            width="stretch",
        )


def _hits(engine: Engine, found: FoundPassages, snapshot: Snapshot) -> frozenset[int]:
    """Return the documents that the words find, kept from the run before.

    Another filter leaves them as they are.
    """
    state = snapshot.change, engine.collection.generation(), engine.config.retrieval
    asked = found.query.words, found.query.anywhere, state
    kept: tuple[object, frozenset[int]] | None = st.session_state.get(_HITS)
    if kept is None or kept[0] != asked:
        kept = st.session_state[_HITS] = asked, worded_documents(engine, found)
    return kept[1]


def _draw_values(query: PassageQuery, name: str, counts: Mapping[str, int], *, closed: bool = True) -> None:
    """Draw a box for each value, frequent ones first.

    If values without a document are `closed`, their boxes are disabled unless they are chosen.
    """
    chosen, label = query.wanted.get(name, ()), filter_label(name)
    # A value of an opened link may be one that no document has.
    known = {**dict.fromkeys(chosen, 0), **counts}
    # The choices of a facet do not change its own counts, so that no box moves away from under the pointer.
    listed = by_frequency(name, known)
    if not listed:
        st.caption(_("No document has a value."))
    shown = f"search {name} shown"
    if len(listed) > MANY:
        found = draw_finding(label, listed, partial(display_text, name), f"search {name}")[:_FOUND]
        first = [*found, *(value for value in chosen if value not in found)]
    elif st.session_state.get(shown):
        first = listed
    else:
        first = [*listed[:_SHOWN], *(value for value in listed[_SHOWN:] if value in chosen)]
    for value in first:
        key = f"search {name} {value}"
        st.session_state[key] = value in chosen
        st.checkbox(
            f"{escape(display_text(name, value))} ({number(known[value])})",
            key=key,
            disabled=closed and not known[value] and value not in chosen,
            on_change=when_changed(key, value in chosen, go_to, query.toggled(name, value)),
        )
    if len(first) < len(listed) <= MANY:
        draw_more(shown, _("Show all {n}").format(n=number(len(listed))), len(listed))


def _draw_years(query: PassageQuery, facets: Facets) -> None:
    years = sorted(int(year) for year in facets.get("year", {}))
    if len(years) < 2:
        return
    first, last = years[0], years[-1]
    given = _YEARS.fullmatch((query.wanted.get("year") or ("",))[0])
    chosen = (int(given[1]), int(given[2] or given[1])) if given else (first, last)
    key = "search years"
    drawn = tuple(sorted(min(max(year, first), last) for year in chosen))
    st.session_state[key] = drawn

    def follow() -> None:
        low, high = st.session_state[key]
        go_to(query.with_values("year", () if (low, high) == (first, last) else (f"{low}-{high}",)))

    changed = when_changed(key, drawn, follow)
    st.slider(_("Years"), first, last, key=key, on_change=changed)


def _draw_versions(query: PassageQuery, facets: Facets) -> None:
    """Draw the choice of versions: the newest, all, or those of a day; undated ones or not."""
    all_versions = "all" in query.wanted.get(VERSIONS, ())
    if facets.get("work"):
        every = "search versions"
        st.session_state[every] = all_versions
        st.checkbox(
            _("All versions and translations"),
            key=every,
            help=_("Without it, the newest version of each document is searched, in one language."),
            on_change=when_changed(every, all_versions, go_to, query.without(AS_OF).toggled(VERSIONS, "all")),
        )
    if not all_versions and (facets.get("superseded") or facets.get("year")):
        _draw_date(query)
    if has_undated(facets):
        dated, only = "search dated", DATED in query.wanted
        st.session_state[dated] = only
        draw_dated(dated, on_change=when_changed(dated, only, go_to, query.toggled(DATED, ONLY)))


def _draw_date(query: PassageQuery) -> None:
    as_of, given = "search as of", (query.wanted.get(AS_OF) or ("",))[0]
    st.session_state[as_of] = None
    with suppress(ValueError):
        st.session_state[as_of] = date.fromisoformat(given)
    st.date_input(
        _("As of"),
        min_value=date(1700, 1, 1),
        format=DATE_FORMAT,
        key=as_of,
        help=_("Use what was in force on that day."),
        on_change=when_changed(as_of, st.session_state[as_of], _follow_date, query),
    )


def _follow_date(query: PassageQuery) -> None:
    chosen = st.session_state["search as of"]
    go_to(query.with_values(AS_OF, (chosen.isoformat(),) if chosen else ()))
