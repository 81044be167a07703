"""Admission of ranked children: a floor, a cap for each document, each parent once, and diversity."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rag_engine.protocols import Keys, Vectors

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Candidate:
    """A ranked child with what admission asks about."""

    key: int
    document_key: int
    parent_key: int
    similarity: float
    by_keyword: bool
    named: bool = False


def per_document_cap(top_k: int, documents: int) -> int:
    """Return how many passages one document may bring: 2 up to ten results, 3 beyond (Buriasco 2026, section 5.3).

    Where only few documents are asked they may bring enough to fill the results.
    """
    return max(2 if top_k <= 10 else 3, math.ceil(top_k / max(documents, 1)))


def admit(
    ranked: Iterable[Candidate], *, top_k: int, cap: int, floor: float, keyword_floor: float
) -> dict[int, list[Candidate]]:
    """Return the admitted parents in rank order, each with its children that were found, best first.

    A child below the floor is left out; one that was found by keywords only has to reach the keyword floor.
    A further child of an admitted parent joins it and uses up neither the cap nor the places. What the question names
    is admitted whatever the floor and the cap.
    """
    admitted: dict[int, list[Candidate]] = {}
    taken: Counter[int] = Counter()
    for candidate in ranked:
        least = min(floor, keyword_floor) if candidate.by_keyword else floor
        if candidate.similarity < least and not candidate.named:
            continue
        if candidate.parent_key in admitted:
            admitted[candidate.parent_key].append(candidate)
        elif len(admitted) < top_k and (candidate.named or taken[candidate.document_key] < cap):
            admitted[candidate.parent_key] = [candidate]
            taken[candidate.document_key] += not candidate.named
    return admitted


def with_siblings(scores: Floats, parents: Keys, share: float) -> Floats:
    """Return the scores with a share of the best sibling's added; `parents` has the parent of each child.

    Of two passages that rank about the same, the one that several of its children speak for comes first.
    """
    order = np.lexsort((-scores, parents))
    first = np.ones(len(order), bool)
    first[1:] = parents[order][1:] != parents[order][:-1]
    starts = np.flatnonzero(first)
    family = np.cumsum(first) - 1
    best = scores[order[starts]]
    alone = np.append(starts[1:], len(order)) - starts == 1
    second = np.where(alone, 0.0, scores[order[np.minimum(starts + 1, len(order) - 1)]])
    supported = scores.copy()
    supported[order] += share * np.where(first, second[family], best[family])
    return supported


def mmr(scores: ArrayLike, vectors: Vectors, *, lambda_: float = 0.5, top_k: int) -> list[int]:
    """Return the positions of at most `top_k` passages, in the order of their choice (Carbonell and Goldstein 1998).

    Each choice has the largest lambda x score - (1 - lambda) x cosine, where the score is brought to 0..1 by the
    smallest and largest of `scores` and the cosine is the largest to a passage already chosen, 0 for the first.
    `vectors` are unit vectors, (passages, dimension). Ties keep the given order.
    """
    relevance = scaled(scores)
    left = np.ones(len(relevance), dtype=bool)
    nearest = np.zeros(len(relevance))
    chosen: list[int] = []
    while len(chosen) < min(top_k, len(relevance)):
        value = np.where(left, lambda_ * relevance - (1 - lambda_) * nearest, -np.inf)
        best = int(np.argmax(value))
        left[best] = False
        cosines = vectors @ vectors[best]
        nearest = np.maximum(nearest, cosines) if chosen else cosines.astype(np.float64)
        chosen.append(best)
    return chosen


def scaled(scores: ArrayLike) -> Floats:
    """Return the scores brought to 0..1 by their smallest and largest; all 1 where they are equal."""
    given = np.asarray(scores, dtype=np.float64)
    if given.size == 0 or np.ptp(given) == 0:
        return np.ones_like(given)
    spread: Floats = (given - given.min()) / np.ptp(given)
    return spread
