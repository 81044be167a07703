"""Widgets that filter the collection; their filter is in the address, so that a link keeps it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import date
from functools import partial
from itertools import islice
from typing import Any

import streamlit as st

from pages._shared import resources
from pages._shared.elements import in_own_place
from pages._shared.errors import show
from pages._shared.interface_language import ENGLISH, _, interface_language, to_translate
from pages._shared.markdown import escape
from pages._shared.numbers_and_dates import DATE_FORMAT, counted, known_date, number, universal_moment
from pages._shared.shown_names import shown_name
from rag_engine.answering_documents import live_counts
from rag_engine.filters import AS_OF, DATED, DOCUMENT, ONLY, VERSIONS, Facets, Filter
from rag_engine.geography import country_in
from rag_engine.text.folding import fold
from rag_engine.text.languages import language_name, name_in
from rag_engine.text.wording import Wording

_YEARS = re.compile(r"(\d{4})-(\d{4})")
_LABELS = {
    "hazard": to_translate("Hazard"),
    "geographical_level": to_translate("Geographical level"),
    "country": to_translate("Country"),
    "language": to_translate("Language"),
    "document_type": to_translate("Document type"),
    "year": to_translate("Year"),
    "authority": to_translate("Authority"),
}
# Without a widget among those of every page.
_OTHERS = {
    AS_OF: to_translate("As of"),
    DATED: to_translate("Dated documents"),
    DOCUMENT: to_translate("Document"),
    VERSIONS: to_translate("Versions"),
}


# More values than anybody scrolls through, or than a browser should be sent: one is found by its letters.
MANY = 100
# Facets whose values are of a fixed list.
_NAMED = ("hazard", "geographical_level", "document_type", "key_criteria", "tags", "status")


def filter_label(name: str) -> str:
    """Return what a filter is called."""
    known = {**_LABELS, **_OTHERS}
    return _(known[name]) if name in known else name.replace("_", " ")


def matching_documents(matching: int, of: int) -> str:
    """Return how many documents a filter allows."""
    return counted(
        "{matching} of {n} document matches", "{matching} of {n} documents match", of, matching=number(matching)
    )


def named_values(name: str, values: str) -> str:
    """Return a name and what it is, as in "Country: Italy, France"."""
    return _("{name}: {value}").format(name=name, value=values)


def filter_names() -> tuple[str, ...]:
    """Return the filters that have a widget, in their order."""
    return tuple(_LABELS)


def filter_in_address(place: str, facets: Facets) -> Filter:
    """Return the filter of the widgets that are drawn later, set to that of an address that was opened."""
    _follow_address(place, facets)
    return chosen_filter(place, facets)


def draw_filters(place: str, facets: Facets, *, in_address: bool = False) -> Filter:
    """Draw the widgets and return the filter chosen; `place` keeps the widgets of two pages apart.

    Counts follow the other choices and are of the documents that answer; a value that none of these has is not offered.
    """
    if in_address:
        _follow_address(place, facets)
        _draw_left_out(place, facets)
    counts = live_counts(chosen_filter(place, facets), facets, resources.engine().collection.snapshot().documents)
    wanted: dict[str, tuple[str, ...]] = _draw_documents(_key(place, DOCUMENT), facets)
    for name in _LABELS:
        if name == "year":
            wanted |= _draw_years(place, facets)
        elif facets.get(name):
            wanted |= _draw_values(_key(place, name), name, counts[name])
    if place == "ask" and (facets.get("superseded") or facets.get("year")):
        wanted |= _draw_date(_key(place, AS_OF))
    if has_undated(facets):
        wanted |= {DATED: (ONLY,)} if draw_dated(_key(place, DATED), persist_state="session") else {}
    if wanted:
        st.button(
            _("Clear all"),
            key=_key(place, "clear"),
            icon=":material/filter_alt_off:",
            on_click=clear_filters,
            args=(place,),
            width="stretch",
        )
    if in_address:
        _note_in_address(place, wanted)
    return wanted


def chosen_filter(place: str, facets: Facets) -> dict[str, tuple[str, ...]]:
    """Return what is chosen before the widgets are drawn, without values that have left the collection."""
    chosen: dict[str, tuple[str, ...]] = {}
    for name in _LABELS:
        if name == "year":
            chosen |= _chosen_years(place, facets)
        elif kept := tuple(one for one in st.session_state.get(_key(place, name)) or () if one in facets.get(name, {})):
            chosen[name] = kept
    documents = tuple(
        one for one in st.session_state.get(_key(place, DOCUMENT)) or () if one in facets.get(DOCUMENT, {})
    )
    if documents:
        chosen |= _only(documents)
    day = st.session_state.get(_key(place, AS_OF))
    if place == "ask" and isinstance(day, date):
        chosen[AS_OF] = (day.isoformat(),)
    if has_undated(facets) and st.session_state.get(_key(place, DATED)):
        chosen[DATED] = (ONLY,)
    return chosen


def has_undated(facets: Facets) -> bool:
    """Return whether a collection has documents without a date beside dated ones."""
    return len(facets.get(DATED, {})) > 1


def _follow_address(place: str, facets: Facets) -> None:
    """Set the widgets to the filter of an opened address, not to one that this page has noted there."""
    names = _in_address(place)
    given = {name: tuple(st.query_params.get_all(name)) for name in names if name in st.query_params}
    if not given or given == st.session_state.get(_key(place, "address")):
        return
    set_filters(place, given)
    offered = {name: values for name, values in given.items() if name not in ("year", AS_OF, DATED)}
    left_out = {
        name: missing
        for name, values in offered.items()
        if (missing := tuple(value for value in values if value not in facets.get(name, {})))
    }
    st.session_state[_key(place, "left out")] = left_out, chosen_filter(place, facets)


@in_own_place
def _draw_left_out(place: str, facets: Facets) -> None:
    """Draw what the address asked for and no document has, until something else is chosen."""
    left_out, others = st.session_state.get(_key(place, "left out"), ({}, None))
    if left_out and others == chosen_filter(place, facets):
        named = (
            named_values(filter_label(name), ", ".join(display_text(name, value) for value in values))
            for name, values in left_out.items()
        )
        said = _("No document has what the link asks for, and it was left out: {values}.")
        st.caption(f":material/filter_alt_off: {escape(said.format(values='; '.join(named)))}")


def set_filters(place: str, given: Filter) -> None:
    """Set the widgets of a place to a filter."""
    clear_filters(place)
    for name, values in given.items():
        years = _YEARS.fullmatch(values[0]) if name == "year" else None
        if name == AS_OF:
            with suppress(ValueError):
                st.session_state[_key(place, name)] = date.fromisoformat(values[0])
        elif name == DATED:
            st.session_state[_key(place, name)] = ONLY in values
        elif years:
            st.session_state[_key(place, name)] = int(years[1]), int(years[2])
        elif name != "year":
            st.session_state[_key(place, name)] = list(values)


def _in_address(place: str) -> tuple[str, ...]:
    """Return the names that an address may hold.

    Only the page to ask filters by documents: elsewhere, a document in the address is an opened one.
    """
    return (*_LABELS, AS_OF, DATED, DOCUMENT) if place == "ask" else (*_LABELS, AS_OF, DATED)


def _note_in_address(place: str, wanted: Filter) -> None:
    names = _in_address(place)
    st.session_state[_key(place, "address")] = {name: values for name, values in wanted.items() if name in names}
    for name in names:
        if name in wanted and st.query_params.get_all(name) != list(wanted[name]):
            st.query_params[name] = list(wanted[name])
        elif name not in wanted and name in st.query_params:
            del st.query_params[name]


def count_active(place: str) -> int:
    """Return the number of filters that are set, known before the widgets are drawn."""
    set_ = {name for name in _LABELS if st.session_state.get(_key(place, name))}
    if "year" in set_ and st.session_state.get(_key(place, "year")) == st.session_state.get(_key(place, "all years")):
        set_.discard("year")
    return len(set_) + sum(bool(st.session_state.get(_key(place, name))) for name in (AS_OF, DATED, DOCUMENT))


def clear_filters(place: str) -> None:
    """Reset every filter of the place."""
    for name in _LABELS:
        key = _key(place, name)
        if name == "year" and key in st.session_state:
            st.session_state[key] = st.session_state[_key(place, "all years")]
        elif key in st.session_state:
            st.session_state[key] = []
    st.session_state.pop(_key(place, DOCUMENT), None)
    if _key(place, AS_OF) in st.session_state:
        st.session_state[_key(place, AS_OF)] = None
    if _key(place, DATED) in st.session_state:
        st.session_state[_key(place, DATED)] = False


def display_text(name: str, value: str) -> str:
    """Return a facet's value as display text, in the interface's language if it is of a fixed list."""
    spoken = interface_language()
    if name == "country":
        return value if spoken == ENGLISH else country_in(value, spoken)
    if name in ("date", AS_OF):
        return known_date(value)
    if name == VERSIONS:
        return _("All") if value == "all" else value
    if name == DATED:
        return _("only")
    if name == "phase":
        return shown_name(value.capitalize()).lower()
    if name != "language":
        return shown_name(value) if name in _NAMED else value
    if not language_name(value):
        return value.upper()
    called = name_in(value, spoken)
    return called[:1].upper() + called[1:]


# For what the engine describes, in the language of the interface.
WORDING = Wording(
    message=lambda text, **values: _(text).format(**values),
    counted=counted,
    number=number,
    facet=filter_label,
    value=display_text,
    kept=show,
    moment=universal_moment,
)


def document_titles(ids: Iterable[str]) -> list[str]:
    """Return the titles of documents by their ids; of one that has left the collection its id."""
    known = {document.document_id: document.shown_title for document in resources.engine().collection.documents()}
    return [known.get(id, id) for id in ids]


def _draw_documents(key: str, facets: Facets) -> dict[str, tuple[str, ...]]:
    """Draw the choice of the only documents to ask, if some were chosen in the Library."""
    kept = [one for one in st.session_state.get(key) or () if one in facets.get(DOCUMENT, {})]
    if not kept:
        st.session_state.pop(key, None)
        return {}
    st.session_state[key] = kept
    titles = dict(zip(kept, document_titles(kept), strict=True))
    chosen = st.multiselect(
        _("Only these documents"), kept, format_func=titles.__getitem__, key=key, persist_state="session"
    )
    return _only(tuple(chosen)) if chosen else {}


def _only(documents: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
    # A version that is superseded was chosen on purpose.
    return {DOCUMENT: documents, VERSIONS: ("all",)}


def _draw_values(key: str, name: str, counts: Mapping[str, int]) -> dict[str, tuple[str, ...]]:
    # A value may have left the collection since it was chosen.
    kept = [value for value in st.session_state.get(key, []) if value in counts]
    st.session_state[key] = kept
    offered = by_frequency(name, {value: count for value, count in counts.items() if count or value in kept})
    chosen = st.multiselect(
        filter_label(name),
        offered_values(filter_label(name), offered, partial(display_text, name), key, kept),
        format_func=lambda value: f"{display_text(name, value)} ({counts[value]})",
        key=key,
        placeholder=_("All"),
        persist_state="session",
    )
    return {name: tuple(chosen)} if chosen else {}


def by_frequency(name: str, counts: Mapping[str, int]) -> list[str]:
    """Return the values of a facet, the frequent ones first."""
    return sorted(counts, key=lambda value: (-counts[value], display_text(name, value)))


def offered_values(
    label: str, listed: Sequence[str], shown: Callable[[str], str], key: str, chosen: Sequence[str]
) -> list[str]:
    """Return the values that a list offers: all, or of many the chosen and the found ones."""
    if len(listed) <= MANY:
        return list(listed)
    return [*chosen, *(value for value in draw_finding(label, listed, shown, key) if value not in chosen)]


def draw_finding(label: str, listed: Sequence[str], shown: Callable[[str], str], key: str) -> list[str]:
    """Draw where letters of one of many values are typed; return the first values that have them."""
    typed = st.text_input(
        _("Find in {name} ({n})").format(name=label, n=number(len(listed))),
        key=f"{key} finding",
        placeholder=_("Type to find"),
        max_chars=80,
    )
    wanted = fold(typed)
    return list(islice((value for value in listed if wanted in fold(shown(value))), MANY))


def _draw_date(key: str) -> dict[str, tuple[str, ...]]:
    chosen = st.date_input(
        _("As of"),
        value=None,
        min_value=date(1700, 1, 1),
        format=DATE_FORMAT,
        key=key,
        help=_("Use what was in force on that day. Without a date, the newest version of each document is used."),
    )
    return {AS_OF: (chosen.isoformat(),)} if isinstance(chosen, date) else {}


def draw_dated(key: str, **options: Any) -> bool:
    """Draw the choice that undated documents are left out."""
    told = _("Without it, undated documents are used for any date and any year.")
    return st.checkbox(_("Dated documents only"), key=key, help=told, **options)


def _draw_years(place: str, facets: Facets) -> dict[str, tuple[str, ...]]:
    everything = _all_years(facets)
    if everything is None:
        return {}
    st.session_state[_key(place, "year")] = _year_range(place, everything)
    st.session_state[_key(place, "all years")] = everything
    st.slider(_("Years"), *everything, everything, key=_key(place, "year"), persist_state="session")
    return _chosen_years(place, facets)


def _chosen_years(place: str, facets: Facets) -> dict[str, tuple[str, ...]]:
    everything = _all_years(facets)
    if everything is None or (chosen := _year_range(place, everything)) == everything:
        return {}
    return {"year": (f"{chosen[0]}-{chosen[1]}",)}


def _year_range(place: str, everything: tuple[int, int]) -> tuple[int, int]:
    """Return the range that the slider is set to, within the years that the collection has."""
    before = st.session_state.get(_key(place, "year"))
    if before is None or before == st.session_state.get(_key(place, "all years")):
        return everything
    first, last = (min(max(year, everything[0]), everything[1]) for year in before)
    return first, last


def _all_years(facets: Facets) -> tuple[int, int] | None:
    """Return the first and the last year of the documents, None where there are not two."""
    years = sorted(map(int, facets.get("year", {})))
    return (years[0], years[-1]) if len(years) > 1 else None


def _key(place: str, name: str) -> str:
    return f"{place} {name}"
