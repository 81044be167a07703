"""Protocols of the backends: models, network and disk come in through these alone."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from rag_engine.text.words.key_words import WantedWords
from rag_engine.types.language_model import Prompt
from rag_engine.types.passage import PassageReading

Vectors = NDArray[np.float32]
Keys = NDArray[np.int64]
# Metadata of a child; an empty value or None is unknown, and no filter finds it.
ChildFacets = Mapping[str, str | int | float | list[str] | None]
Scores = NDArray[np.float32]


@runtime_checkable
class Embedder(Protocol):
    """Text to unit vectors. `name` identifies model and weights, `execution` the runtime that computes."""

    name: str
    dimension: int
    prefixes: tuple[str, str]
    execution: str

    def encode_passages(self, texts: Sequence[str]) -> Vectors:
        """Return unit vectors of shape (len(texts), dimension)."""

    def encode_queries(self, texts: Sequence[str]) -> Vectors:
        """Return unit vectors of shape (len(texts), dimension)."""

    def count_tokens(self, text: str) -> int:
        """Count the tokens of the text under the model's tokenizer, special tokens included."""


# The children of some documents as (key, document key, language, text).
ChildrenOf = Callable[[Collection[int]], Iterable[tuple[int, int, str, str]]]


class VectorIndex(Protocol):
    """A vector store: derived, and rebuilt from the catalog and the vectors at any time.

    `facets` narrow to children that have for each facet one of its values, spelt as they are stored. `documents` narrow
    to the children of documents, by their keys. None allows all.
    """

    def __len__(self) -> int:
        """Return the number of children."""

    def add(self, keys: Keys, vectors: Vectors, texts: Sequence[str], facets: Sequence[ChildFacets]) -> None:
        """Store children with vectors (n, dimension), texts and facets, in place of the same keys."""

    def delete(self, keys: Keys) -> None:
        """Remove children; unknown keys are ignored."""

    def search(
        self,
        queries: Vectors,
        top_k: int,
        *,
        facets: Mapping[str, Sequence[str]] | None = None,
        documents: Collection[int] | None = None,
    ) -> list[tuple[Keys, Vectors]]:
        """Return for each query the keys and cosines of its nearest children, nearest first."""

    def filter(
        self, *, facets: Mapping[str, Sequence[str]] | None = None, documents: Collection[int] | None = None
    ) -> set[int]:
        """Return the keys of the children that facets and documents allow."""


class SparseIndex(Protocol):
    """The keyword index over the whole collection."""

    def add(self, rows: Iterable[tuple[int, int, str, str]]) -> None:
        """Add children as (key, document key, language, text); found after `commit`."""

    def delete_documents(self, documents: Collection[int]) -> None:
        """Remove the children of the documents; gone after `commit`."""

    def commit(self) -> None:
        """Make additions and deletions visible to searches."""

    def compact(self, children_of: ChildrenOf, *, at_most: int | None = None) -> int | None:
        """Write children again so that the words of deleted ones leave the disk, and return their number.

        If that is more than `at_most`, return None and do nothing.
        """

    def search(
        self, query: str, language: str, top_k: int, *, allowed: Collection[int] | None = None, exact: bool = False
    ) -> list[tuple[int, float]]:
        """Return child keys with their BM25, best first; only of the allowed documents where given.

        `exact` matches the surface form of words, as a phrase.
        """

    def holding(self, wanted: WantedWords, *, allowed: Collection[int] | None = None) -> list[tuple[int, float]]:
        """Return every child that holds what is wanted and nothing excluded, with its BM25, best first.

        Only children of the allowed documents are returned, where they are given; none for no words.
        """

    def ideal(self, query: str, language: str) -> float:
        """Return about the BM25 of a child with each of the query's rarest terms once; 0 if unknown."""

    def count(self) -> int:
        """Return the number of children that a search can find."""

    def keys(self) -> set[int]:
        """Return the keys of all children that a search can find."""


class StorageBackends(Protocol):
    """Opens the derived stores of one workspace, whose indexes come in numbered generations.

    Every method raises a SextantError while its store is unavailable.
    """

    def dense(self, generation: int, *, writable: bool = False) -> VectorIndex:
        """Return the dense index of a generation, and make it if it is missing.

        The writer waits for processes that read.
        """

    def sparse(self, generation: int, *, writable: bool = False) -> SparseIndex:
        """Return the keyword index of a generation; a writable one is made if it is missing."""

    def new_indexes(self, generation: int) -> tuple[VectorIndex, SparseIndex]:
        """Return two empty, writable indexes for a generation, even where the present ones are damaged."""

    def keep_only(self, *generations: int) -> None:
        """Remove the indexes of every other generation; the first one given answers."""

    def compact_dense(self, generation: int) -> None:
        """Remove deleted entries from the files of a dense index, if that takes seconds, and close it."""

    def close(self) -> None:
        """Release locks and connections."""


@runtime_checkable
class Reranker(Protocol):
    """Question and passage read together. `name` identifies model and weights, `execution` the runtime."""

    name: str
    execution: str

    def score(self, query: str, texts: Sequence[str]) -> Scores:
        """Return one score a text, of shape (len(texts),), higher for the better answer.

        BackendError if the reranker fails.
        """


class PassageReader(Protocol):
    """Says whether and where in a passage a question is answered; named as a Reranker is."""

    name: str
    execution: str

    def read(self, question: str, passages: Sequence[str]) -> list[PassageReading]:
        """Return the reading of each passage; BackendError if the reader fails."""


# Returns a model, or None where none is wanted; BackendError where it is unavailable.
LoadReranker = Callable[[], Reranker | None]
LoadReader = Callable[[], PassageReader | None]


class Generator(Protocol):
    """Words from a prompt."""

    name: str
    context_window: int

    def stream(self, prompt: Prompt) -> Iterator[str]:
        """Yield pieces of the answer as they come; BackendError when the model is unavailable or fails."""

    def complete_json(self, system: str, user: str, schema: dict[str, object], *, seconds: float) -> dict[str, object]:
        """Return one JSON object that follows the schema, at temperature 0.

        BackendError if there is none in time.
        """


@runtime_checkable
class IdentifiedModel(Protocol):
    """A model whose server tells the digest of its weights."""

    digest: str
