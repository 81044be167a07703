"""Named recipes for ranking: the default, fusion by reciprocal rank, and two published papers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from rag_engine.config import RetrievalProfile

Rankings = Sequence[Sequence[int]]

RRF_K = 60
# Buriasco 2026, equation 5.1: the weights of both retrievers, and the weight of keywords for children that both found.
DENSE, SPARSE, BOTH = 0.6, 0.4, 0.6
# Prakash 2026, Table 4.2 and equation 3.4: the children of each retriever and of their pool; the weight of phi. Phi is
# 1 for a section that the question names and .5 for an act.
POOL, PROVENANCE = 20, 0.15


@dataclass(frozen=True, slots=True)
class Profile:
    """A recipe for ranking.

    - `fuse`: scores children by their ranks alone, given the dense and the keyword rankings. Without it the scores are
      mixed by the fitted weights, and only query variants with a weight are searched.
    - `as_published`: adds nothing of ours (index entries, named sections, variants by rules) and looks no deeper.
    - `keywords`: the words that are matched: the index's, or the words between spaces.
    - `dense`: whether the approximate index is asked, for collections of any size.
    - `floor`: the least similarity of a child that was found by keywords.
    - `cascade`: brings the best of a pool through a reranker and MMR (rag_engine/retrieval/ranking.py).
    """

    fuse: Callable[[Rankings, Rankings], dict[int, float]] | None = None
    as_published: bool = False
    keywords: Literal["index", "spaces"] = "index"
    dense: Literal["every vector", "approximate"] = "every vector"
    floor: float = 0.30
    cascade: bool = False


def reciprocal_rank(rankings: Rankings, weights: Sequence[float], *, k: int = RRF_K) -> dict[int, float]:
    """Return the weighted reciprocal rank of every child, best first (Cormack et al. 2009).

    A child absent from a ranking gains nothing from it. Ties keep the order in which the rankings name them.

    >>> reciprocal_rank([[7, 8], [8]], [1.0, 1.0], k=1)
    {8: 0.8333333333333333, 7: 0.5}
    """
    pairs = zip(rankings, weights, strict=True)
    return _summed((key, weight / (k + rank)) for ranking, weight in pairs for rank, key in enumerate(ranking, start=1))


def weighted_fusion(dense: Rankings, sparse: Rankings) -> dict[int, float]:
    """Return children by reciprocal rank with the weights of both retrievers, best first."""
    return reciprocal_rank([*dense, *sparse], [DENSE] * len(dense) + [SPARSE] * len(sparse))


def equal_fusion(dense: Rankings, sparse: Rankings) -> dict[int, float]:
    """Return children by reciprocal rank with the same weight for every ranking, best first."""
    return reciprocal_rank([*dense, *sparse], [1.0] * (len(dense) + len(sparse)))


def paper_fusion(dense: Rankings, sparse: Rankings) -> dict[int, float]:
    """Return children by weighted reciprocal rank, best first (Buriasco 2026, equation 5.1).

    The keyword weight rises for a child that both retrievers found, in whichever ranking.
    """
    in_dense = {key for ranking in dense for key in ranking}
    gains = [(key, DENSE / (RRF_K + rank)) for ranking in dense for rank, key in enumerate(ranking, start=1)]
    for ranking in sparse:
        weights = (BOTH if key in in_dense else SPARSE for key in ranking)
        gains += [
            (key, weight / (RRF_K + rank))
            for rank, (key, weight) in enumerate(zip(ranking, weights, strict=True), start=1)
        ]
    return _summed(gains)


PROFILES: Mapping[RetrievalProfile, Profile] = {
    "default": Profile(),
    "rrf": Profile(weighted_fusion),
    # Buriasco 2026, chapter 5.
    "paper": Profile(paper_fusion, as_published=True, keywords="spaces", dense="approximate", floor=0.35),
    # The structural layer of Prakash 2026.
    "statutes": Profile(equal_fusion, as_published=True, cascade=True),
}


def _summed(gains: Iterable[tuple[int, float]]) -> dict[int, float]:
    scores: dict[int, float] = {}
    for key, gain in gains:
        scores[key] = scores.get(key, 0.0) + gain
    return dict(sorted(scores.items(), key=lambda item: -item[1]))
