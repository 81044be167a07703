"""What the engine asks of a backend. Models, network and disk come in through these alone."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from rag_engine.types import Prompt

Vectors = NDArray[np.float32]
Keys = NDArray[np.int64]
Scores = NDArray[np.float32]


@runtime_checkable
class Embedder(Protocol):
    """Text to unit vectors. `name` identifies model and weights, `execution` the runtime that computes."""

    @property
    def name(self) -> str: ...

    @property
    def dimension(self) -> int: ...

    @property
    def prefixes(self) -> tuple[str, str]:
        """What is put before a query and before a passage."""
        ...

    @property
    def execution(self) -> str: ...

    def encode_passages(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors of shape (len(texts), dimension)."""
        ...

    def encode_queries(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors of shape (len(texts), dimension)."""
        ...

    def count_tokens(self, text: str) -> int:
        """Tokens of the text under the model's tokenizer, special tokens included."""
        ...


# The children of some documents as (key, document key, language, text).
ChildrenOf = Callable[[Collection[int]], Iterable[tuple[int, int, str, str]]]


class VectorIndex(Protocol):
    """The dense index: derived, and rebuilt from the catalog and the vector store at any time."""

    def upsert(self, keys: Keys, vectors: Vectors, facets: Sequence[Mapping[str, str | int]]) -> None:
        """Puts children with their vectors (n, dimension) and what is said of each."""
        ...

    def delete(self, keys: Keys) -> None: ...

    def search(
        self, queries: Vectors, top_k: int, *, where: Mapping[str, object] | None = None
    ) -> list[tuple[Keys, Vectors]]:
        """For each query the keys and cosines of its nearest children, nearest first."""
        ...

    def keys(self) -> set[int]: ...


class SparseIndex(Protocol):
    """The keyword index over the whole collection."""

    def add(self, rows: Iterable[tuple[int, int, str, str]]) -> None:
        """Children as (key, document key, language, text); seen after `commit`."""
        ...

    def delete_documents(self, documents: Collection[int]) -> None: ...

    def commit(self) -> None: ...

    def compact(self, children_of: ChildrenOf, *, at_most: int | None = None) -> int | None:
        """Number of children written again so that the words of deleted ones leave the disk; None where that would
        be more than `at_most`, and nothing was done.
        """
        ...

    def search(
        self, query: str, language: str, top_k: int, *, allowed: Collection[int] | None = None, exact: bool = False
    ) -> list[tuple[int, float]]:
        """Child keys with their BM25, best first; only of the allowed documents where given.

        `exact` matches the surface form of words, as a phrase.
        """
        ...

    def ideal(self, query: str, language: str) -> float:
        """About the BM25 of a child that holds each of the query's rarest terms once; 0 where it cannot be told."""
        ...

    def keys(self) -> set[int]: ...


@runtime_checkable
class Reranker(Protocol):
    """Question and passage read together. `name` identifies model and weights, `execution` the runtime."""

    @property
    def name(self) -> str: ...

    @property
    def execution(self) -> str: ...

    @property
    def languages(self) -> frozenset[str] | None:
        """ISO 639-1 codes in which it was measured to help; None for a model that someone chose for all."""
        ...

    def score(self, query: str, texts: Sequence[str]) -> Scores:
        """One score a text, of shape (len(texts),), higher for the better answer; BackendError when it breaks off."""
        ...


class Generator(Protocol):
    """Words from a prompt. `quotes_only` is true for the extractive answerer, which has no model."""

    @property
    def name(self) -> str: ...

    @property
    def quotes_only(self) -> bool: ...

    @property
    def context_window(self) -> int:
        """Tokens the model can read and write together."""
        ...

    def stream(self, prompt: Prompt) -> Iterator[str]:
        """Pieces of the answer as they come; BackendError when the model is away or breaks off."""
        ...

    def complete_json(self, system: str, user: str, schema: dict[str, object], *, seconds: float) -> dict[str, object]:
        """One JSON object that follows the schema, at temperature 0; BackendError when there is none in time."""
        ...
