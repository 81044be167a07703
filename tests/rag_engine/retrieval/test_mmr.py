"""Maximal marginal relevance: its definition, and what a reader sees of it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from rag_engine.retrieval.diversity import mmr, scaled


def directions(*degrees: float) -> NDArray[np.float32]:
    angles = np.radians(degrees)
    return np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)


@st.composite
def passages(draw: st.DrawFn) -> tuple[list[float], NDArray[np.float32]]:
    scores = draw(st.lists(st.floats(-100, 100), min_size=1, max_size=12))
    degrees = draw(st.lists(st.floats(0, 360), min_size=len(scores), max_size=len(scores)))
    return scores, directions(*degrees)


@given(passages(), st.floats(0, 1), st.integers(0, 15))
def test_every_place_is_chosen_once_up_to_the_number_asked_for(
    found: tuple[list[float], NDArray[np.float32]], lambda_: float, top_k: int
) -> None:
    scores, vectors = found
    chosen = mmr(scores, vectors, lambda_=lambda_, top_k=top_k)
    assert len(chosen) == len(set(chosen)) == min(top_k, len(scores))
    assert set(chosen) <= set(range(len(scores)))


@given(passages())
def test_with_lambda_one_the_order_of_the_scores_stays(found: tuple[list[float], NDArray[np.float32]]) -> None:
    scores, vectors = found
    expected = np.argsort(-scaled(scores), kind="stable").tolist()
    assert mmr(scores, vectors, lambda_=1.0, top_k=len(scores)) == expected


@given(passages(), st.floats(0, 1))
def test_each_choice_is_the_best_by_the_definition(
    found: tuple[list[float], NDArray[np.float32]], lambda_: float
) -> None:
    scores, vectors = found
    relevance, cosines = scaled(scores), (vectors @ vectors.T).astype(np.float64)
    chosen = mmr(scores, vectors, lambda_=lambda_, top_k=len(scores))

    def value(place: int, before: list[int]) -> float:
        return float(lambda_ * relevance[place] - (1 - lambda_) * max((cosines[place, b] for b in before), default=0))

    for turn, place in enumerate(chosen):
        best = max(value(other, chosen[:turn]) for other in chosen[turn:])
        assert value(place, chosen[:turn]) == pytest.approx(best, abs=1e-6)


@given(passages(), st.floats(0, 1))
def test_fewer_are_the_beginning_of_more_and_nothing_given_is_changed(
    found: tuple[list[float], NDArray[np.float32]], lambda_: float
) -> None:
    scores, vectors = found
    kept_scores, kept_vectors = list(scores), vectors.copy()
    whole = mmr(scores, vectors, lambda_=lambda_, top_k=len(scores))
    assert [mmr(scores, vectors, lambda_=lambda_, top_k=k) for k in range(len(scores))] == [
        whole[:k] for k in range(len(scores))
    ]
    assert scores == kept_scores
    assert np.array_equal(vectors, kept_vectors)


def test_a_duplicate_goes_behind_what_is_new() -> None:
    assert mmr([1.0, 0.99, 0.6, 0.0], directions(0, 0, 60, 180), top_k=4) == [0, 3, 2, 1]


def test_passages_of_one_score_keep_their_order_until_they_repeat_each_other() -> None:
    assert mmr([0.5, 0.5, 0.5], directions(0, 0, 90), top_k=3) == [0, 2, 1]


def test_of_no_passages_none_is_chosen() -> None:
    assert mmr([], np.empty((0, 2), dtype=np.float32), top_k=5) == []
