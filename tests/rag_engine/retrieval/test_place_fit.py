"""A document is about the place that is asked for, a wider one, or another."""

import pytest

from rag_engine.geography import find_places, load_gazetteer
from rag_engine.planning.states import with_states
from rag_engine.retrieval.place_fit import place_boost, place_fit
from rag_engine.types.document import Metadata
from rag_engine.types.evidence import GeographicScope

GAZETTEER = load_gazetteer()
LAND = Metadata(
    "Zuwendungen", "de", "Innenministerium Baden-Württemberg", countries=("Germany",), geographical_level="National"
)
FEDERAL = Metadata("Grundgesetz", "de", "Bundesministerium", countries=("Germany",), geographical_level="National")
UNION = Metadata("Climate law", "en", geographical_level="European region")
WORLD = Metadata("Paris Agreement", "en", geographical_level="Global/Supranational")
UNKNOWN = Metadata("Notes", "en")


def asked(question: str) -> GeographicScope:
    return with_states(find_places(question, GAZETTEER), question)


@pytest.mark.parametrize(
    ("question", "metadata", "fit"),
    [
        ("E in Germania?", FEDERAL, "about"),
        ("E in Germania?", LAND, "about"),
        ("Ve Avusturya'da?", FEDERAL, "elsewhere"),
        ("in Baden-Württemberg", LAND, "about"),
        ("in Bayern", LAND, "elsewhere"),
        ("in Bayern", FEDERAL, "wider"),
        ("in Bayern und in Österreich", LAND, "elsewhere"),
        ("in Baden-Württemberg and in Austria", LAND, "about"),
        ("in Texas", LAND, "elsewhere"),
        ("in Greece", UNION, "wider"),
        ("in New Zealand", UNION, "elsewhere"),
        ("in Greece", WORLD, "wider"),
        ("in Greece", UNKNOWN, "unknown"),
    ],
)
def test_one_state_is_not_another_and_a_region_is_not_each_of_its_countries(
    question: str, metadata: Metadata, fit: str
) -> None:
    assert place_fit(asked(question), metadata, GAZETTEER) == fit


def test_another_state_of_the_country_is_ranked_as_elsewhere() -> None:
    assert place_boost(asked("in Bayern"), LAND, GAZETTEER) == place_boost(asked("in Chile"), LAND, GAZETTEER) == 0.8
    assert place_boost(asked("in Bayern"), FEDERAL, GAZETTEER) == 1.8
