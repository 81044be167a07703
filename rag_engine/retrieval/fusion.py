"""Rankings and scores of several searches to one order; pure functions over child keys."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

RRF_K = 60
# A passage that answers stands about five deviations above its language's mean.
_DEVIATIONS = 5.0
# Of the words of a question that is well met a few stand elsewhere or not at all.
_ENOUGH = 0.7


def reciprocal_rank(rankings: Sequence[Sequence[int]], weights: Sequence[float], *, k: int = RRF_K) -> dict[int, float]:
    """Weighted reciprocal rank of every child, best first (Cormack et al. 2009).

    A child absent from a ranking gains nothing from it. Ties keep the order in which the rankings name them.
    """
    scores: dict[int, float] = {}
    for ranking, weight in zip(rankings, weights, strict=True):
        for rank, key in enumerate(ranking, start=1):
            scores[key] = scores.get(key, 0.0) + weight / (k + rank)
    return _descending(scores)


def paper_fusion(
    dense: Sequence[Sequence[int]],
    sparse: Sequence[Sequence[int]],
    *,
    dense_weight: float,
    sparse_weight: float,
    both_weight: float,
    k: int = RRF_K,
) -> dict[int, float]:
    """Children by weighted reciprocal rank, best first (Buriasco 2026, equation 5.1).

    The keyword weight rises to `both_weight` for a child that both legs found, in whichever ranking.
    """
    in_dense = {key for ranking in dense for key in ranking}
    scores: dict[int, float] = {}
    for ranking in dense:
        for rank, key in enumerate(ranking, start=1):
            scores[key] = scores.get(key, 0.0) + dense_weight / (k + rank)
    for ranking in sparse:
        for rank, key in enumerate(ranking, start=1):
            weight = both_weight if key in in_dense else sparse_weight
            scores[key] = scores.get(key, 0.0) + weight / (k + rank)
    return _descending(scores)


def keyword_share(bm25: Floats, ideal: float) -> Floats:
    """The BM25 as shares of the largest, times how much that says, one a child.

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
    """dense_weight x deviations / 5 + (1 - dense_weight) x gate x keyword, one score a child.

    A convex combination of normalised scores (Bruch et al. 2023). `deviations` say by how many standard deviations a
    child's cosine is above that of any passage, which needs no minimum and maximum of what happened to be found;
    `keyword` in 0..1 how well it meets the words. `gate` in 0..1 says how far the keyword leg may speak for a child,
    whose words may be of another language.
    """
    mixed: Floats = dense_weight * deviations / _DEVIATIONS + (1.0 - dense_weight) * gate * keyword
    return mixed


def scaled(scores: Floats) -> Floats:
    """The scores brought to 0..1 by their smallest and largest; all 1 where they are equal."""
    if scores.size == 0 or np.ptp(scores) == 0:
        return np.ones_like(scores)
    spread: Floats = (scores - scores.min()) / np.ptp(scores)
    return spread


def _descending(scores: Mapping[int, float]) -> dict[int, float]:
    return dict(sorted(scores.items(), key=lambda item: -item[1]))
