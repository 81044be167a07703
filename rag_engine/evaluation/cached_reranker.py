"""Cached models: each reads a passage only once for a question."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache

import numpy as np

from rag_engine.protocols import PassageReader, Reranker, Scores
from rag_engine.retrieval.search import Retrievers
from rag_engine.types.passage import PassageReading


class CachedReranker:
    """A Reranker that asks another only for new pairs of question and passage.

    Times measured with it mean nothing.
    """

    def __init__(self, reranker: Reranker) -> None:
        self.name, self.execution, self._reranker = reranker.name, reranker.execution, reranker
        self._scores: dict[tuple[str, str], float] = {}

    def score(self, query: str, texts: Sequence[str]) -> Scores:
        """Return one score a text, of shape (len(texts),)."""
        new = list(dict.fromkeys(text for text in texts if (query, text) not in self._scores))
        if new:
            read = self._reranker.score(query, new).tolist()
            self._scores |= {(query, text): score for text, score in zip(new, read, strict=True)}
        return np.array([self._scores[query, text] for text in texts])


class CachedReader(CachedReranker):
    """A PassageReader that asks another only for new pairs of question and passage."""

    def __init__(self, reader: PassageReader) -> None:
        super().__init__(reader)
        self._reader = reader
        self._readings: dict[tuple[str, str], PassageReading] = {}

    def score(self, query: str, texts: Sequence[str]) -> Scores:
        """Return one score a text, of shape (len(texts),)."""
        return np.array([one.relevance for one in self.read(query, texts)])

    def read(self, question: str, passages: Sequence[str]) -> list[PassageReading]:
        """Return a reading of each passage."""
        new = list(dict.fromkeys(text for text in passages if (question, text) not in self._readings))
        readings = self._reader.read(question, new)
        self._readings |= {(question, text): reading for text, reading in zip(new, readings, strict=True)}
        return [self._readings[question, text] for text in passages]


def cached(retrievers: Retrievers) -> Retrievers:
    """Return the retrievers with cached reader and reranker.

    A model that cannot be loaded fails each time, as it would without the cache.
    """

    @cache
    def reader() -> PassageReader | None:
        loaded = retrievers.reader()
        return loaded and CachedReader(loaded)

    @cache
    def reranker() -> Reranker | None:
        loaded = retrievers.reranker()
        return reader() if isinstance(loaded, PassageReader) else loaded and CachedReranker(loaded)

    return replace(retrievers, reader=reader, reranker=reranker)
