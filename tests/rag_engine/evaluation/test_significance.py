"""Intervals and p values against what is known of them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_engine.evaluation.significance import Interval, mean_interval, paired_difference


def test_the_interval_of_a_mean_is_close_to_that_of_the_normal_distribution() -> None:
    values = np.random.default_rng(1).normal(0.5, 0.1, 400)
    found = mean_interval(values)
    margin = 1.96 * values.std(ddof=1) / 20
    assert found.low == pytest.approx(values.mean() - margin, abs=0.002)
    assert found.high == pytest.approx(values.mean() + margin, abs=0.002)
    assert mean_interval(values) == found


def test_a_single_question_tells_nothing_of_the_next() -> None:
    assert mean_interval(np.array([0.7])) == Interval(0.7, 0.0, 1.0)
    assert mean_interval(np.array([])) == Interval(0.0, 0.0, 1.0)


def test_a_configuration_does_not_differ_from_itself() -> None:
    values = np.array([0.1, 0.5, 0.9])
    found = paired_difference(values, values)
    assert (found.value, found.p) == (0.0, 1.0)


def test_with_few_questions_every_sign_is_tried() -> None:
    # Of the eight ways to sign three equal differences two are as large.
    found = paired_difference(np.array([1.0, 1.0, 1.0]), np.zeros(3))
    assert found.p == pytest.approx(2 / 8)


def test_a_clear_difference_is_significant_and_noise_is_not() -> None:
    generator = np.random.default_rng(3)
    base = generator.random(200)
    better = paired_difference(base + 0.05 + generator.normal(0, 0.05, 200), base)
    assert better.p < 0.001
    assert better.low > 0.03
    noise = paired_difference(base + generator.normal(0, 0.3, 200), base)
    assert noise.p > 0.01


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=1, max_size=12))
def test_a_difference_turned_round_is_its_negative(pairs: list[tuple[float, float]]) -> None:
    one, other = np.array([a for a, _ in pairs]), np.array([b for _, b in pairs])
    there, back = paired_difference(one, other), paired_difference(other, one)
    assert there.value == pytest.approx(-back.value)
    assert there.p == pytest.approx(back.p)
    assert there.low <= there.value <= there.high


def test_unequal_lengths_are_refused() -> None:
    with pytest.raises(ValueError, match="paired"):
        paired_difference(np.zeros(3), np.zeros(2))
