"""The library's figures against some that were worked out by hand."""

from math import log2

import pytest

from rag_engine.evaluation.metric import METRICS, ranking_metrics


def test_the_metrics_are_those_worked_out_by_hand() -> None:
    # Relevant: b with grade 2, a with 1, c with 1. Ranked: b, x, a; c is not found.
    found = ranking_metrics(["b", "x", "a"], {"a": 1, "b": 2, "c": 1, "x": 0})
    assert found["ndcg@10"] == pytest.approx((2 + 1 / log2(4)) / (2 + 1 / log2(3) + 1 / log2(4)))
    assert found["recall@10"] == found["recall@100"] == pytest.approx(2 / 3)
    assert found["mrr@10"] == 1.0
    assert found["map"] == pytest.approx((1 / 1 + 2 / 3) / 3)


def test_what_stands_behind_the_tenth_place_counts_for_recall_at_a_hundred_alone() -> None:
    ranking = [f"x{rank}" for rank in range(10)] + ["a"]
    found = ranking_metrics(ranking, {"a": 1})
    assert (found["ndcg@10"], found["recall@10"], found["recall@100"], found["mrr@10"]) == (0.0, 0.0, 1.0, 0.0)
    assert found["map"] == pytest.approx(1 / 11)


def test_a_question_without_a_ranking_counts_nothing() -> None:
    assert ranking_metrics([], {"a": 1}) == dict.fromkeys(METRICS, 0.0)
    assert ranking_metrics(["a"], {"a": 1}) == dict.fromkeys(METRICS, 1.0)
