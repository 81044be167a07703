"""Reflect and decide, as properties that hold after any reading."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_engine.config import ControllerConfig
from rag_engine.controller.gather import choose_gap, confidence, decide, disagree, reflect, state_of
from rag_engine.controller.memory import Proposition, SubQuestion, SubQuestionState, WorkingMemory

CONFIG = ControllerConfig()
STATES = st.lists(st.sampled_from(["covered", "contradicted", "open"]), min_size=1, max_size=8)
WEIGHTS = st.floats(0, 1).map(lambda one: replace(CONFIG, coverage_weight=one, agreement_weight=1 - one))


def said(text: str, document: int = 1, *, support: float = 9.0, language: str = "en", about: int = 0) -> Proposition:
    return Proposition(about, text, language, (document, 0, 9), f"{document}", 0, 9, support)


@given(STATES, WEIGHTS)
def test_confidence_lies_between_0_and_1(states: list[SubQuestionState], config: ControllerConfig) -> None:
    assert 0 <= confidence(states, config) <= 1


@given(STATES, WEIGHTS)
def test_covering_an_open_part_never_lowers_confidence(
    states: list[SubQuestionState], config: ControllerConfig
) -> None:
    before = confidence(states, config)
    for place, state in enumerate(states):
        if state == "open":
            covered: list[SubQuestionState] = [*states[:place], "covered", *states[place + 1 :]]
            assert confidence(covered, config) >= before - 1e-9


@given(st.integers(1, 8), WEIGHTS)
def test_everything_covered_is_certain_and_nothing_covered_is_0(parts: int, config: ControllerConfig) -> None:
    assert confidence(["covered"] * parts, config) == pytest.approx(1)
    assert confidence(["open"] * parts, config) == 0


def test_a_contradiction_lowers_agreement_and_not_coverage() -> None:
    config = replace(CONFIG, coverage_weight=0.6, agreement_weight=0.4)
    assert confidence(["covered", "contradicted", "open", "open"], config) == pytest.approx(0.6 * 0.5 + 0.4 * 0.5)


def test_a_part_is_open_until_a_statement_fits_well_enough() -> None:
    assert state_of([said("Shelters open at dusk.", support=CONFIG.least_support - 0.01)], CONFIG) == "open"
    assert state_of([said("Shelters open at dusk.", support=CONFIG.least_support)], CONFIG) == "covered"


@pytest.mark.parametrize(
    ("one", "other", "language"),
    [
        ("Shelters hold at most 40 people each night.", "Shelters hold at most 60 people each night.", "en"),
        ("Volunteers may enter the flooded zone.", "Volunteers may not enter the flooded zone.", "en"),
        ("Die Warnung gilt für alle Gemeinden.", "Die Warnung gilt nicht für alle Gemeinden.", "de"),
        ("La sirène est testée chaque mois.", "La sirène n’est pas testée chaque mois.", "fr"),
        ("La sirena viene provata ogni mese.", "La sirena non viene mai provata ogni mese.", "it"),
        ("Ziyaretçiler alana girebilir.", "Ziyaretçiler alana giremez.", "tr"),
        ("Visitors may enter without a permit.", "Visitors may not enter without a permit.", "en"),
        ("Shelters hold forty people each night.", "Shelters hold sixty people each night.", "en"),
        ("COVID-19 shelters hold 40 people each night.", "COVID-19 shelters hold 60 people each night.", "en"),
    ],
)
def test_documents_disagree_in_a_number_or_a_negation_on_the_same_matter(one: str, other: str, language: str) -> None:
    first, second = said(one, 1, language=language), said(other, 2, language=language)
    assert disagree(first, second)
    assert state_of([first, second], CONFIG) == "contradicted"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Shelters hold at most 40 people each night.", "Sirens are tested 12 times a year by the council."),
        ("Shelters hold at most 40 people each night.", "At most 40 people each night stay in shelters."),
        ("Shelters hold 1,000 people each night.", "Shelters hold a thousand people each night."),
    ],
)
def test_other_matters_and_the_same_statement_are_no_contradiction(one: str, other: str) -> None:
    assert not disagree(said(one, 1), said(other, 2))


def test_a_document_does_not_contradict_itself() -> None:
    assert not disagree(said("The limit is 40 people.", 1), said("The limit is 60 people.", 1))


def test_the_loop_goes_on_until_one_of_its_ends() -> None:
    parts = tuple(SubQuestion(name, (name, f"{name} again")) for name in ("a", "b"))
    memory = reflect(WorkingMemory(parts), CONFIG)
    assert decide(memory, CONFIG) == "continue"
    assert decide(replace(memory, iteration=CONFIG.budget), CONFIG) == "budget"
    assert decide(replace(memory, confidence=CONFIG.threshold), CONFIG) == "confident"
    assert decide(replace(memory, states=("covered", "covered")), CONFIG) == "resolved"
    assert decide(replace(memory, sub_questions=(SubQuestion("a", ()), SubQuestion("b", ()))), CONFIG) == "exhausted"


def test_an_open_part_is_searched_for_before_a_contradicted_one() -> None:
    parts = tuple(SubQuestion(name, (name,)) for name in ("a", "b", "c"))
    memory = WorkingMemory(parts, states=("contradicted", "covered", "open"))
    assert choose_gap(memory) == (2, "c")
