"""Which of the ranked passages to keep so that each says something new; a pure function."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rag_engine.protocols import Vectors


def mmr(scores: ArrayLike, vectors: Vectors, *, lambda_: float = 0.5, top_k: int) -> list[int]:
    """Places of at most `top_k` passages, in the order in which they are chosen (Carbonell and Goldstein 1998).

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


def scaled(scores: ArrayLike) -> NDArray[np.float64]:
    """The scores brought to 0..1 by their smallest and largest; all 1 where they are equal."""
    given = np.asarray(scores, dtype=np.float64)
    if given.size == 0 or np.ptp(given) == 0:
        return np.ones_like(given)
    spread: NDArray[np.float64] = (given - given.min()) / np.ptp(given)
    return spread
