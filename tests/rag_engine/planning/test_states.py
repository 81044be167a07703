"""States, Länder and cantons are places of a question."""

from pathlib import Path

import pytest

from rag_engine.config import Config
from rag_engine.geography import load_gazetteer
from rag_engine.planning.plan import plan_question
from rag_engine.planning.states import load_states, states_in


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("How does Bavaria fund fire engines?", ("Bavaria",)),
        ("die Feuerwehren des Freistaats Bayern", ("Bavaria",)),
        ("bayerische Gemeinden", ("Bavaria",)),
        ("Quanto paga la Baviera?", ("Bavaria",)),
        ("que finance la Bavière ?", ("Bavaria",)),
        ("Bavyera'da itfaiye", ("Bavaria",)),
        ("Sachsen-Anhalt und Sachsens Wehren", ("Saxony-Anhalt", "Saxony")),
        ("Tirol und Südtirol", ("Tyrol", "South Tyrol")),
        ("im Kanton Zürich", ("Zurich",)),
        ("handicapés en Floride", ("Florida",)),
        ("disability in Texas, or the State of Georgia", ("Texas", "Georgia")),
        ("HOUSING IN CALIFORNIA", ("California",)),
    ],
)
def test_a_state_is_found_in_any_language_and_form(text: str, found: tuple[str, ...]) -> None:
    assert states_in(text) == found


@pytest.mark.parametrize(
    "text",
    [
        "What does the New Mexico Declaration say?",
        "the Declaration of California",
        "University of California",
        "Universität Hamburg",
        "der Zug nach Bern",
        "Virginia Woolf lived in Washington",
        "the Republic of Georgia",
        "le Marche e la marche",
        "Asiatico, Texaner",
    ],
)
def test_a_place_in_the_name_of_a_thing_or_an_ordinary_word_is_no_state(text: str) -> None:
    assert states_in(text) == ()


def test_every_state_is_of_a_known_country() -> None:
    assert set(load_states().country_of.values()) <= set(load_gazetteer().countries.values())


def test_a_question_for_a_state_asks_for_its_country_too() -> None:
    plan = plan_question(
        "Wie fördert Bayern die Feuerwehr?",
        identify=lambda _: "de",
        gazetteer=load_gazetteer(),
        generator=None,
        config=Config(Path()),
    )
    assert (plan.scope.countries, plan.scope.states) == (("Germany",), ("Bavaria",))
