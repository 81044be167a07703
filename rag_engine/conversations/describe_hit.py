"""Why a passage was found: its ranks, scores and boosts in words, and which warnings are about ranking alone."""

from __future__ import annotations

from collections.abc import Iterator

from rag_engine.types import Hit

# Beginnings of warnings that change the order of passages and not what the analyst has to do.
_NOTES = ("Not reranked:", "The dense index is unavailable", "The question is in ")


def describe_hit(hit: Hit) -> tuple[str, ...]:
    """Return a line for each score that put a passage where it is; scores keep their own names and scales."""
    return tuple(_lines(hit))


def is_ranking_note(warning: str) -> bool:
    """Return whether a warning is only about how passages were ordered."""
    return warning.startswith(_NOTES)


def _lines(hit: Hit) -> Iterator[str]:
    if hit.dense_rank is None:
        yield f"By meaning: not among the first (similarity {hit.similarity:.2f})."
    else:
        yield f"By meaning: rank {hit.dense_rank} (similarity {hit.similarity:.2f})."
    if hit.sparse_rank is None or hit.bm25 is None:
        yield "By words: not found."
    else:
        yield f"By words: rank {hit.sparse_rank} (BM25 {hit.bm25:.1f})."
    if hit.geographic_boost != 1.0:
        yield f"About a place in the question: score × {hit.geographic_boost:.2f}."
    if hit.named:
        yield "It is the section that the question names."
    elif hit.provenance:
        yield f"Its section or act is named in the question: + {hit.provenance:.2f}."
    yield f"Combined score: {hit.fused:.3f}."
    yield "Reranker: not asked." if hit.reranked is None else f"Reranker: score {hit.reranked:.3f}."
    if hit.chance is not None:
        yield f"Chance that it answers the question: {hit.chance:.0%}."
