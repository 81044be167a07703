"""The cascade for statutes: of a pool by reciprocal rank, what a cross-encoder and provenance prefer, diversified.

As published (Prakash 2026, Algorithm 1 and Table 4.2), where a better order of ours has not been looked for.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rag_engine.protocols import Vectors
from rag_engine.retrieval.diversity import Floats, mmr
from rag_engine.retrieval.profiles import PROVENANCE
from rag_engine.retrieval.scores import scaled_to_best

_RELEVANCE = 0.5


@dataclass(frozen=True, slots=True)
class Selected:
    """Positions in the pool in the order of their choice, and the final score of each of them."""

    order: tuple[int, ...]
    scores: Floats


def select(fused: Floats, read: Floats | None, phi: Floats, vectors: Vectors, top_k: int) -> Selected:
    """Return the `top_k` of a pool by .5 x (score + .15 x phi) - .5 x the largest cosine to those chosen before.

    The score is the reranker's as `read` (equation 3.5 scales nothing); without one it is the fused rank's share of the
    best. `vectors` are unit vectors, (pool, dimension).
    """
    scores = scaled_to_best(fused) if read is None else read
    final = scores + PROVENANCE * phi
    # By score first: ties are decided by the better rank.
    by_score = np.lexsort((np.arange(len(final)), -final))
    chosen = mmr(final[by_score], vectors[by_score], lambda_=_RELEVANCE, top_k=top_k, rescale=False)
    order = by_score[chosen]
    return Selected(tuple(order.tolist()), final[order])
