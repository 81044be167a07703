"""A ranking: children in their order, with what put them there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from rag_engine.protocols import Keys, Vectors
from rag_engine.retrieval.book_index_boost import Listed
from rag_engine.retrieval.diversity import Floats
from rag_engine.retrieval.search import Candidates
from rag_engine.types import AbsentSection


@dataclass(frozen=True, slots=True)
class Ranked:
    """Children, best first, with what put them there.

    `keys`, `owners` (document keys), `scores` (1 for the best that the retrievers alone found) and `cosines` (the best
    over the query variants, 0 without the encoder) have one entry a child. `named` are the parents of the sections that
    the question names, which stand first, `absent` the sections that it names and that are not there.
    """

    keys: Keys
    owners: Keys
    scores: Floats
    cosines: Vectors
    found: Candidates
    boosts: Mapping[int, float]
    listed: Listed
    named: frozenset[int] = frozenset()
    absent: tuple[AbsentSection, ...] = ()
    provenance: Mapping[int, float] = field(default_factory=dict)
    reranked: Mapping[int, float] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    seconds: Mapping[str, float] = field(default_factory=dict)

    def by(self, scores: Floats) -> Ranked:
        """Return the children ordered by other scores; ties by key, so that the order depends on nothing else."""
        return replace(self, scores=scores).taken(np.lexsort((self.keys, -scores)))

    def taken(self, order: Keys) -> Ranked:
        """Return the children at these positions, in this order."""
        return replace(
            self,
            keys=self.keys[order],
            owners=self.owners[order],
            scores=self.scores[order],
            cosines=self.cosines[order],
        )
