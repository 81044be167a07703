"""Reasons for a hit in words: ranks, scores and boosts; and the warnings about ranking alone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from rag_engine.text.wording import ENGLISH, Wording
from rag_engine.types.passage import Hit

# Beginnings of warnings about the order of passages, after which the analyst need not act.
_NOTES = ("Not reranked:", "The dense index is unavailable", "The question is in ")


@dataclass(frozen=True, slots=True)
class HitScores:
    """The scores that decided the rank of a passage, as a `Hit` has them.

    A conversation keeps them with its source.
    """

    dense_rank: int | None
    similarity: float
    sparse_rank: int | None
    bm25: float | None
    geographic_boost: float
    provenance: float
    named: bool
    fused: float
    reranked: float | None
    chance: float | None


def scores_of(hit: Hit) -> HitScores:
    """Return the scores of a hit."""
    return HitScores(
        hit.dense_rank,
        hit.similarity,
        hit.sparse_rank,
        hit.bm25,
        hit.geographic_boost,
        hit.provenance,
        hit.named,
        hit.fused,
        hit.reranked,
        hit.chance,
    )


def describe_scores(scores: HitScores, words: Wording = ENGLISH) -> tuple[str, ...]:
    """Return a line for each score that decided a passage's rank, with its own name and scale."""
    return tuple(_lines(scores, words))


def is_ranking_note(warning: str) -> bool:
    """Return whether a warning is only about how passages were ordered."""
    return warning.startswith(_NOTES)


def _lines(scores: HitScores, words: Wording) -> Iterator[str]:
    message, number = words.message, words.number
    similarity = number(scores.similarity, 2)
    if scores.dense_rank is None:
        yield message("By meaning: not among the first (similarity {similarity}).", similarity=similarity)
    else:
        rank = number(scores.dense_rank)
        yield message("By meaning: rank {rank} (similarity {similarity}).", rank=rank, similarity=similarity)
    if scores.sparse_rank is None or scores.bm25 is None:
        yield message("By words: not found.")
    else:
        rank, bm25 = number(scores.sparse_rank), number(scores.bm25, 1)
        yield message("By words: rank {rank} (BM25 {bm25}).", rank=rank, bm25=bm25)
    if scores.geographic_boost != 1.0:
        factor = number(scores.geographic_boost, 2)
        yield message("About a place in the question: score × {factor}.", factor=factor)
    if scores.named:
        yield message("It is the section that the question names.")
    elif scores.provenance:
        gain = number(scores.provenance, 2)
        yield message("Its section or act is named in the question: + {gain}.", gain=gain)
    yield message("Combined score: {score}.", score=number(scores.fused, 3))
    if scores.reranked is None:
        yield message("Reranker: not asked.")
    else:
        yield message("Reranker: score {score}.", score=number(scores.reranked, 3))
    if scores.chance is not None:
        yield message("Chance that it answers the question: {chance}%.", chance=number(scores.chance * 100))
