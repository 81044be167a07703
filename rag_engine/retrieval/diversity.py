"""Admission of ranked children, and diversity.

A floor excludes weak children, a document gets less room the more it has brought, and each parent comes once.
"""

from __future__ import annotations

import heapq
import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rag_engine.protocols import Vectors

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Candidate:
    """A ranked child with the data that admission needs; `named` says that the question names it."""

    key: int
    document_key: int
    parent_key: int
    similarity: float
    by_keyword: bool
    score: float = 0.0
    named: bool = False


def per_document_cap(top_k: int, documents: int | None = None) -> int:
    """Return how many passages one document may bring: 2 up to ten results, 3 beyond.

    The numbers are from Buriasco 2026, section 5.3. If only few `documents` are asked, they may bring enough to fill
    the results.

    >>> per_document_cap(10)
    2
    >>> per_document_cap(10, documents=2)
    5
    """
    published = 2 if top_k <= 10 else 3
    return published if documents is None else max(published, math.ceil(top_k / max(documents, 1)))


def admit(
    ranked: Iterable[Candidate], *, top_k: int, floor: float, keyword_floor: float, share: float = 1.0, cap: int = 0
) -> dict[int, list[Candidate]]:
    """Return the admitted parents in rank order, each with its children that were found, best first.

    - A child below the floor is left out; a child found by keywords only has to reach the keyword floor.
    - Each parent that a document has brought leaves `share` of the score of its others.
    - A document brings at most `cap` parents (0: any number).
    - A further child of an admitted parent joins it and changes neither.
    - A parent that the question names comes first, under any floor, and does not count.
    """
    families: dict[int, list[Candidate]] = {}
    for candidate in ranked:
        least = min(floor, keyword_floor) if candidate.by_keyword else floor
        if candidate.named or candidate.similarity >= least:
            families.setdefault(candidate.parent_key, []).append(candidate)
    first = [family for family in families.values() if family[0].named]
    queues: dict[int, list[tuple[float, int, list[Candidate]]]] = {}
    lowest = math.inf
    for place, family in enumerate(family for family in families.values() if not family[0].named):
        # If diversity has changed the order, the score follows the order.
        lowest = max(0.0, min(lowest, family[0].score))
        queues.setdefault(family[0].document_key, []).append((lowest, place, family))
    admitted = {family[0].parent_key: family for family in first[:top_k]}
    taken: Counter[int] = Counter()
    # Only the best of a document can be next, for all of them lose the same share.
    waiting = [(-queue[0][0], queue[0][1], document) for document, queue in queues.items()]
    heapq.heapify(waiting)
    while waiting and len(admitted) < top_k:
        document = heapq.heappop(waiting)[2]
        queue = queues[document]
        family = queue[taken[document]][2]
        admitted[family[0].parent_key] = family
        taken[document] += 1
        count = taken[document]
        if count < len(queue) and (not cap or count < cap):
            score, place, _ = queue[count]
            heapq.heappush(waiting, (-score * share**count, place, document))
    return admitted


def mmr(scores: ArrayLike, vectors: Vectors, *, lambda_: float = 0.5, top_k: int, rescale: bool = True) -> list[int]:
    """Return the positions of at most `top_k` passages, in the order of their choice.

    This is maximal marginal relevance (Carbonell and Goldstein 1998). Each choice has the largest lambda x score - (1 -
    lambda) x cosine. The score is brought to 0..1 by the smallest and largest of `scores`, unless `rescale` is off. The
    cosine is the largest to a passage already chosen, 0 for the first. `vectors` are unit vectors, (passages,
    dimension). Ties keep the given order.

    >>> mmr([1.0, 0.9, 0.0], np.array([[1, 0], [1, 0], [0, 1]], np.float32), top_k=2)
    [0, 2]
    """
    relevance = scaled(scores) if rescale else np.asarray(scores, dtype=np.float64)
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
    """Return the scores brought to 0..1 by their smallest and largest; all 1 if they are equal."""
    given = np.asarray(scores, dtype=np.float64)
    if given.size == 0 or np.ptp(given) == 0:
        return np.ones_like(given)
    spread: Floats = (given - given.min()) / np.ptp(given)
    return spread
