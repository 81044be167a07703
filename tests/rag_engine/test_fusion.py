from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_engine.fusion import convex_mix, paper_fusion, reciprocal_rank

rankings = st.lists(st.lists(st.integers(0, 30), unique=True, max_size=12), max_size=4)
scores = st.dictionaries(st.integers(0, 30), st.floats(0, 40), max_size=12)


def test_reciprocal_rank_adds_what_every_ranking_gives() -> None:
    fused = reciprocal_rank([[1, 2], [2]], [1.0, 0.5], k=60)
    assert fused == pytest.approx({2: 1 / 62 + 0.5 / 61, 1: 1 / 61})
    assert list(fused) == [2, 1]


def test_the_papers_keyword_weight_rises_for_a_child_that_both_legs_found() -> None:
    fused = paper_fusion([[1, 2]], [[2, 3]], dense_weight=0.6, sparse_weight=0.4, both_weight=0.6, k=60)
    assert fused == pytest.approx({1: 0.6 / 61, 2: 0.6 / 62 + 0.6 / 61, 3: 0.4 / 62})
    assert list(fused) == [2, 1, 3]


def test_the_best_of_both_legs_scores_one_and_the_worst_nothing() -> None:
    mixed = convex_mix({1: 0.9, 2: 0.7}, {1: 12.0, 2: 3.0}, dense_weight=0.55, gate=lambda _: 1.0)
    assert mixed == pytest.approx({1: 1.0, 2: 0.0})


def test_a_closed_gate_leaves_the_dense_order_alone() -> None:
    mixed = convex_mix({1: 0.9, 2: 0.8, 3: 0.7}, {3: 50.0}, dense_weight=0.55, gate=lambda _: 0.0)
    assert list(mixed) == [1, 2, 3]
    assert mixed[2] == pytest.approx(0.5)


def test_one_leg_alone_still_ranks() -> None:
    assert list(convex_mix({}, {4: 2.0, 5: 9.0}, dense_weight=0.55, gate=lambda _: 1.0)) == [5, 4]


@given(rankings)
def test_every_child_of_a_ranking_is_fused_once_and_scores_descend(found: list[list[int]]) -> None:
    fused = reciprocal_rank(found, [1.0] * len(found))
    assert set(fused) == {key for ranking in found for key in ranking}
    assert list(fused.values()) == sorted(fused.values(), reverse=True)


@given(scores, scores, st.floats(0.05, 1.0))
def test_a_mix_lies_between_nothing_and_one(dense: dict[int, float], sparse: dict[int, float], weight: float) -> None:
    mixed = convex_mix(dense, sparse, dense_weight=weight, gate=lambda key: 1.0 if key % 2 else 0.3)
    assert set(mixed) == set(dense) | set(sparse)
    assert all(-1e-9 <= score <= 1 + 1e-9 for score in mixed.values())
