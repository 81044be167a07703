"""Widgets that filter the collection, and the filter they make."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date

import streamlit as st

from rag_engine.filters import AS_OF, Facets, Filter
from rag_engine.text.languages import language_name

LABELS = {
    "hazard": "Hazard",
    "geographical_level": "Geographical level",
    "country": "Country",
    "language": "Language",
    "document_type": "Document type",
    "year": "Year",
    "authority": "Authority",
}
_NATIONAL = "National"


def draw_filters(place: str, facets: Facets) -> Filter:
    """Draw the widgets and return the filter chosen; `place` keeps the widgets of two pages apart."""
    wanted: dict[str, tuple[str, ...]] = {}
    for name in LABELS:
        counts = {value: len(keys) for value, keys in facets.get(name, {}).items()}
        if name == "year":
            wanted |= _draw_years(_key(place, name), counts)
        elif counts and (name != "country" or _NATIONAL in wanted.get("geographical_level", ())):
            wanted |= _draw_values(_key(place, name), name, counts)
    if place == "ask" and facets.get("superseded"):
        wanted |= _draw_date(_key(place, AS_OF))
    if wanted:
        st.button(
            "Clear all",
            key=_key(place, "clear"),
            icon=":material/filter_alt_off:",
            on_click=clear_filters,
            args=(place,),
            width="stretch",
        )
    return wanted


def count_active(place: str) -> int:
    """Return the number of filters that are set, known before the widgets are drawn."""
    set_ = {name for name in LABELS if st.session_state.get(_key(place, name))}
    if _NATIONAL not in st.session_state.get(_key(place, "geographical_level"), ()):
        set_.discard("country")
    if "year" in set_ and st.session_state.get(_key(place, "year")) == st.session_state.get(_key(place, "all years")):
        set_.discard("year")
    return len(set_) + bool(st.session_state.get(_key(place, AS_OF)))


def clear_filters(place: str) -> None:
    """Reset every filter of the place."""
    for name in LABELS:
        key = _key(place, name)
        if name == "year" and key in st.session_state:
            st.session_state[key] = st.session_state[_key(place, "all years")]
        elif key in st.session_state:
            st.session_state[key] = []
    if _key(place, AS_OF) in st.session_state:
        st.session_state[_key(place, AS_OF)] = None


def display_text(name: str, value: str) -> str:
    """Return a facet's value as display text: languages by name, everything else unchanged."""
    if name != "language":
        return value
    return language_name(value) or value.upper()


def _draw_values(key: str, name: str, counts: Mapping[str, int]) -> dict[str, tuple[str, ...]]:
    options = sorted(counts, key=lambda value: (-counts[value], display_text(name, value)))
    # A value may have left the collection since it was chosen.
    st.session_state[key] = [value for value in st.session_state.get(key, []) if value in counts]
    chosen = st.multiselect(
        LABELS[name],
        options,
        format_func=lambda value: f"{display_text(name, value)} ({counts[value]})",
        key=key,
        placeholder="All",
        persist_state="session",
    )
    return {name: tuple(chosen)} if chosen else {}


def _draw_date(key: str) -> dict[str, tuple[str, ...]]:
    chosen = st.date_input(
        "As of",
        value=None,
        min_value=date(1700, 1, 1),
        key=key,
        help="Use the versions in force on that day. Without a date, the newest version of each document is used.",
    )
    return {AS_OF: (chosen.isoformat(),)} if isinstance(chosen, date) else {}


def _draw_years(key: str, counts: Mapping[str, int]) -> dict[str, tuple[str, ...]]:
    years = sorted(int(year) for year in counts)
    if len(years) < 2:
        return {}
    everything = years[0], years[-1]
    all_years = f"{key.rpartition(' ')[0]} all years"
    before = st.session_state.get(key)
    if before is None or st.session_state.get(all_years) == before:
        st.session_state[key] = everything
    else:
        st.session_state[key] = tuple(min(max(year, years[0]), years[-1]) for year in before)
    st.session_state[all_years] = everything
    chosen: tuple[int, int] = st.slider("Years", *everything, everything, key=key, persist_state="session")
    return {} if chosen == everything else {"year": (f"{chosen[0]}-{chosen[1]}",)}


def _key(place: str, name: str) -> str:
    return f"{place} {name}"
