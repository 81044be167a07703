"""A question that may be a follow-up is read as the reading that is answered."""

from dataclasses import replace

import pytest

from rag_engine.planning.two_readings import best_chance, is_follow_up
from rag_engine.types.evidence import Evidence, Ground
from tests.rag_engine.conftest import make_evidence, make_source


def found(chance: float, ground: Ground = "enough") -> Evidence:
    evidence = make_evidence("Are there exceptions?", [make_source(1, "Owners are excepted."), make_source(2, "Dams.")])
    first, second = evidence.hits
    return replace(evidence, hits=(replace(first, chance=chance / 2), replace(second, chance=chance)), ground=ground)


def test_the_best_chance_is_that_of_any_passage() -> None:
    assert best_chance(found(0.4).hits) == 0.4
    assert best_chance([replace(found(0.4).hits[0], named=True)]) == 1.0
    assert best_chance([]) is None


@pytest.mark.parametrize("before", [None, 0.1, 0.9])
def test_the_reading_that_is_answered_is_chosen(before: float | None) -> None:
    assert is_follow_up(found(0.1, "none"), found(0.3), before)
    assert not is_follow_up(found(0.3), found(0.1, "doubtful"), before)


def test_of_two_answered_readings_the_better_answered_is_chosen() -> None:
    assert is_follow_up(found(0.3), found(0.5), 0.9)
    assert not is_follow_up(found(0.5), found(0.3), 0.9)


def test_a_follow_up_that_is_answered_nearly_as_well_as_the_question_before_is_one() -> None:
    assert is_follow_up(found(0.5), found(0.4), 0.5)
    assert not is_follow_up(found(0.5), found(0.4), None)
