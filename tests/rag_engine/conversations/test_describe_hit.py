"""Scores of a passage in words."""

from dataclasses import replace

import pytest

from rag_engine.conversations.describe_hit import describe_scores, is_ranking_note, scores_of
from tests.rag_engine.conftest import make_source


def test_every_score_that_counted_is_named() -> None:
    [hit] = make_source(1, "The mayor orders the evacuation.").hits
    bare = replace(
        hit, dense_rank=2, similarity=0.713, sparse_rank=None, bm25=None, fused=0.8, reranked=None, chance=None
    )
    bare = replace(bare, geographic_boost=1.0, provenance=0.0, named=False)
    assert describe_scores(scores_of(bare)) == (
        "By meaning: rank 2 (similarity 0.71).",
        "By words: not found.",
        "Combined score: 0.800.",
        "Reranker: not asked.",
    )
    boosted = replace(bare, geographic_boost=1.2, provenance=0.25, reranked=0.5, chance=0.333)
    assert describe_scores(scores_of(boosted))[2:] == (
        "About a place in the question: score × 1.20.",
        "Its section or act is named in the question: + 0.25.",
        "Combined score: 0.800.",
        "Reranker: score 0.500.",
        "Chance that it answers the question: 33%.",
    )


@pytest.mark.parametrize(
    ("warning", "technical"),
    [("Not reranked: no model.", True), ("Searched by keywords only: no encoder.", False)],
)
def test_only_what_is_about_the_order_is_a_note(warning: str, technical: bool) -> None:
    assert is_ranking_note(warning) is technical
