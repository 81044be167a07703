"""A reader that reads a passage only once for a question."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache

from rag_engine.protocols import PassageReader
from rag_engine.retrieval.search import Retrievers
from rag_engine.types.passage import PassageReading


class CachedReader:
    """A PassageReader that asks another only for new pairs of question and passage.

    Times measured with it mean nothing.
    """

    def __init__(self, reader: PassageReader) -> None:
        self.name, self.execution, self._reader = reader.name, reader.execution, reader
        self._readings: dict[tuple[str, str], PassageReading] = {}

    def read(self, question: str, passages: Sequence[str]) -> list[PassageReading]:
        """Return a reading of each passage."""
        new = list(dict.fromkeys(text for text in passages if (question, text) not in self._readings))
        readings = self._reader.read(question, new)
        self._readings |= {(question, text): reading for text, reading in zip(new, readings, strict=True)}
        return [self._readings[question, text] for text in passages]


def cached(retrievers: Retrievers) -> Retrievers:
    """Return the retrievers with a cached reader.

    A model that cannot be loaded fails each time, as it would without the cache.
    """

    @cache
    def reader() -> PassageReader | None:
        loaded = retrievers.reader()
        return loaded and CachedReader(loaded)

    return replace(retrievers, reader=reader)
