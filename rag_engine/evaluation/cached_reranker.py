"""Cached reranker: reads no passage twice for a question, so that many configurations cost about as much as one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache

import numpy as np

from rag_engine.protocols import Reranker, Scores


class CachedReranker:
    """A Reranker that asks another only for what it was not asked before; times measured with it mean nothing."""

    def __init__(self, reranker: Reranker) -> None:
        self.name, self.execution, self.languages = reranker.name, reranker.execution, reranker.languages
        self._reranker = reranker
        self._scores: dict[tuple[str, str], float] = {}

    def score(self, query: str, texts: Sequence[str]) -> Scores:
        """Return one score a text, of shape (len(texts),)."""
        new = list(dict.fromkeys(text for text in texts if (query, text) not in self._scores))
        if new:
            read = self._reranker.score(query, new).tolist()
            self._scores |= {(query, text): score for text, score in zip(new, read, strict=True)}
        return np.array([self._scores[query, text] for text in texts])


def cached_loader(load: Callable[[], Reranker]) -> Callable[[], Reranker]:
    """Return a loader of one cached reranker; what cannot be loaded fails each time, as it would without it."""
    return cache(lambda: CachedReranker(load()))
