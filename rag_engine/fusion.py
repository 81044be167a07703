"""Rankings and scores of several searches to one order; pure functions over child keys."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

RRF_K = 60


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


def convex_mix(
    dense: Mapping[int, float], sparse: Mapping[int, float], *, dense_weight: float, gate: Callable[[int], float]
) -> dict[int, float]:
    """Children by dense_weight * dense + (1 - dense_weight) * gate * sparse over the sum of the weights, best first.

    Each leg's scores are brought to 0..1 by its own minimum and maximum; a child that the keyword leg did not
    find has 0 there. `gate(key)` in 0..1 says how far the keyword leg may speak for a child: where its words are
    not the question's language, the dense score decides alone (Bruch et al. 2023 for the convex combination).
    """
    dense_scaled, sparse_scaled = _scaled(dense), _scaled(sparse)
    scores: dict[int, float] = {}
    for key in (*dense, *(key for key in sparse if key not in dense)):
        share = (1.0 - dense_weight) * gate(key)
        mixed = dense_weight * dense_scaled.get(key, 0.0) + share * sparse_scaled.get(key, 0.0)
        scores[key] = mixed / (dense_weight + share)
    return _descending(scores)


def _scaled(scores: Mapping[int, float]) -> dict[int, float]:
    if not scores:
        return {}
    low, high = min(scores.values()), max(scores.values())
    if high == low:
        return dict.fromkeys(scores, 1.0)
    return {key: (score - low) / (high - low) for key, score in scores.items()}


def _descending(scores: Mapping[int, float]) -> dict[int, float]:
    return dict(sorted(scores.items(), key=lambda item: -item[1]))
