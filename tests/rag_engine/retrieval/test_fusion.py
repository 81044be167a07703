import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_engine.retrieval.fuse_ranks import paper_fusion, reciprocal_rank, weighted_fusion
from rag_engine.retrieval.scores import convex_mix, keyword_share

rankings = st.lists(st.lists(st.integers(0, 30), unique=True, max_size=12), max_size=4)


def test_reciprocal_rank_adds_what_every_ranking_gives() -> None:
    fused = reciprocal_rank([[1, 2], [2]], [1.0, 0.5], k=60)
    assert fused == pytest.approx({2: 1 / 62 + 0.5 / 61, 1: 1 / 61})
    assert list(fused) == [2, 1]


def test_the_papers_keyword_weight_rises_for_a_child_that_both_retrievers_found() -> None:
    fused = paper_fusion([[1, 2]], [[2, 3]])
    assert fused == pytest.approx({1: 0.6 / 61, 2: 0.6 / 62 + 0.6 / 61, 3: 0.4 / 62})
    assert list(fused) == [2, 1, 3]


def test_weighted_fusion_gives_each_retriever_its_weight() -> None:
    assert weighted_fusion([[1, 2]], [[2, 3]]) == pytest.approx({1: 0.6 / 61, 2: 0.6 / 62 + 0.4 / 61, 3: 0.4 / 62})


def test_five_deviations_weigh_as_much_as_the_best_keyword_match() -> None:
    mixed = convex_mix(np.array([5.0, 0.0]), np.array([0.0, 1.0]), dense_weight=0.5, gate=np.ones(2))
    assert mixed[0] == pytest.approx(mixed[1])


def test_a_closed_gate_leaves_the_dense_order_alone() -> None:
    deviations = np.array([3.0, 2.0, 1.0])
    mixed = convex_mix(deviations, np.array([0.0, 0.0, 1.0]), dense_weight=0.5, gate=np.zeros(3))
    assert np.argsort(-mixed).tolist() == [0, 1, 2]


def test_one_retriever_alone_still_ranks() -> None:
    mixed = convex_mix(np.zeros(2), np.array([0.2, 0.9]), dense_weight=0.0, gate=np.ones(2))
    assert mixed[1] > mixed[0]


@given(rankings)
def test_every_child_of_a_ranking_is_fused_once_and_scores_descend(found: list[list[int]]) -> None:
    fused = reciprocal_rank(found, [1.0] * len(found))
    assert set(fused) == {key for ranking in found for key in ranking}
    assert list(fused.values()) == sorted(fused.values(), reverse=True)


@given(
    st.lists(st.tuples(st.floats(-5, 9), st.floats(0, 1)), min_size=1, max_size=12),
    st.floats(0.05, 1.0),
    st.integers(0, 11),
)
def test_a_child_that_rises_by_one_signal_never_falls_in_the_mix(
    given: list[tuple[float, float]], weight: float, place: int
) -> None:
    deviations, keyword = (np.array(column) for column in zip(*given, strict=True))
    risen = deviations.copy()
    risen[place % len(risen)] += 1.0
    gate = np.ones(len(risen))
    before = convex_mix(deviations, keyword, dense_weight=weight, gate=gate)
    after = convex_mix(risen, keyword, dense_weight=weight, gate=gate)
    assert after[place % len(risen)] > before[place % len(risen)]


def test_words_that_meet_half_of_what_is_enough_count_for_a_quarter() -> None:
    shares = keyword_share(np.array([7.0, 3.5, 0.0]), 20.0)
    assert shares == pytest.approx([0.25, 0.125, 0.0])


def test_words_that_meet_the_question_or_whose_ideal_is_not_known_count_in_full() -> None:
    assert keyword_share(np.array([12.0, 3.0]), 8.0).tolist() == [1.0, 0.25]
    assert keyword_share(np.array([12.0, 3.0]), 0.0).tolist() == [1.0, 0.25]
    assert keyword_share(np.zeros(2), 8.0).tolist() == [0.0, 0.0]
