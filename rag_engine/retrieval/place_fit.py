"""Fit of documents and passages to the places that a question names."""

from __future__ import annotations

from typing import Literal

from rag_engine.geography import ELSEWHERE, Gazetteer, find_places, geographic_boost
from rag_engine.planning.states import load_states, states_in
from rag_engine.types.document import Metadata
from rag_engine.types.evidence import GeographicScope
from rag_engine.types.passage import Source

# A document is about a place of the question, of a place not known, about a wider place, or about another place.
PlaceFit = Literal["about", "unknown", "wider", "elsewhere"]


def place_fit(scope: GeographicScope, metadata: Metadata, gazetteer: Gazetteer) -> PlaceFit:
    """Return how a document fits the places of a question.

    What is filed under a region is not about each of its countries, and what is about a country is not about each of
    its states. A document about a state is about its country.
    """
    if not metadata.countries and not metadata.geographical_level:
        return "unknown"
    states = states_in(f"{metadata.title}\n{metadata.authority}")
    of_states = {load_states().country_of[state] for state in scope.states}
    whole = set(scope.countries) - of_states
    if not whole.isdisjoint(metadata.countries) or not set(scope.states).isdisjoint(states):
        return "about"
    if not of_states.isdisjoint(metadata.countries):
        return "elsewhere" if states else "wider"
    return "elsewhere" if geographic_boost(scope, metadata, gazetteer) == ELSEWHERE else "wider"


def place_boost(scope: GeographicScope, metadata: Metadata, gazetteer: Gazetteer) -> float:
    """Return the geographic boost of a document; one about another state of the country is elsewhere."""
    elsewhere = place_fit(scope, metadata, gazetteer) == "elsewhere"
    return ELSEWHERE if elsewhere else geographic_boost(scope, metadata, gazetteer)


def names_place(source: Source, scope: GeographicScope, gazetteer: Gazetteer) -> bool:
    """Return whether a passage or its document's title names a place of the question.

    Where the question names states, the name of their country is not enough.
    """
    text, language = said(source), source.document.metadata.language
    if scope.states and not set(scope.states).isdisjoint(states_in(text)):
        return True
    named = find_places(text, gazetteer, language, running=True)
    whole = set(scope.countries) - {load_states().country_of[state] for state in scope.states}
    return not whole.isdisjoint(named.countries) or not set(scope.regions).isdisjoint(named.regions)


def is_elsewhere(source: Source, scope: GeographicScope, gazetteer: Gazetteer) -> bool:
    """Return whether a source is about other places and names none of the question's."""
    fit = place_fit(scope, source.document.metadata, gazetteer)
    return fit == "elsewhere" and not names_place(source, scope, gazetteer)


def said(source: Source) -> str:
    """Return the words of a source: title, year, act and text."""
    metadata = source.document.metadata
    return f"{metadata.title} {metadata.year or ''} {source.act} {source.text}"
