"""Convex mix of the scores of both retrievers, on scales that can be added."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

# A passage that answers stands about five deviations above its language's mean.
_DEVIATIONS = 5.0
# Of the words of a question that is well met a few stand elsewhere or not at all.
_ENOUGH = 0.7


def keyword_share(bm25: Floats, ideal: float) -> Floats:
    """Return the BM25 as shares of the largest, times how much that says, one a child.

    It says all when the best child reaches .7 of the `ideal` of the query, and the square of the part of that which
    it reaches when not: a question in other words than the documents' finds some of its everyday words everywhere. An
    `ideal` of 0 is not known, and nothing is held against the words.
    """
    best = float(bm25.max(initial=0.0))
    if best <= 0:
        return np.zeros_like(bm25)
    reached = min(1.0, best / (_ENOUGH * ideal)) if ideal > 0 else 1.0
    return bm25 / best * reached**2


def convex_mix(deviations: Floats, keyword: Floats, *, dense_weight: float, gate: Floats) -> Floats:
    """Return dense_weight x deviations / 5 + (1 - dense_weight) x gate x keyword, one score a child.

    A convex combination of normalised scores (Bruch et al. 2023). `deviations` say by how many standard deviations a
    child's cosine is above that of any passage, which needs no minimum and maximum of what happened to be found;
    `keyword` in 0..1 how well it meets the words. `gate` in 0..1 says how far keywords may speak for a child,
    whose words may be of another language.
    """
    mixed: Floats = dense_weight * deviations / _DEVIATIONS + (1.0 - dense_weight) * gate * keyword
    return mixed
