"""The searches behind a question: by meaning and by words. A leg that is away is said, and the rest goes on."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from rag_engine.calibration import Calibration
from rag_engine.config import RetrievalConfig
from rag_engine.errors import BackendError, SextantError
from rag_engine.filters import chroma_where
from rag_engine.protocols import Embedder, Reranker, SparseIndex, VectorIndex, Vectors
from rag_engine.retrieval.book_index_boost import NamedPlaces
from rag_engine.retrieval.language_scale import LanguageSamples
from rag_engine.storage.catalog import Catalog
from rag_engine.storage.snapshot import Snapshot, nearest
from rag_engine.text.analyzer import has_analyser
from rag_engine.text.sentences import sentence_spans
from rag_engine.types import Metadata, QueryPlan

# Approximate search only pays where a scan of every vector takes longer than an answer may: above this many.
EXACT_UP_TO = 500_000
# In characters; an encoder of 512 tokens reads about three times as many of most languages.
_LONGEST_PIECE = 1_200


@dataclass(frozen=True, slots=True)
class Searchable:
    """One state of the collection and all that searches it. Encoder, indexes and reranker are opened when
    they are called, so that one that is away is missed by its leg alone. `sentences` gives the packed vectors of the
    sentences of passages, by the row of the passage's vector; `listed` the children that an
    index lists under a term of the question, with its entries.
    """

    snapshot: Snapshot
    catalog: Catalog
    vectors: Vectors
    sentences: Callable[[Sequence[int]], Mapping[int, bytes]]
    dense: Callable[[], VectorIndex]
    sparse: Callable[[], SparseIndex]
    embedder: Callable[[], Embedder]
    reranker: Callable[[], Reranker]
    calibration: Calibration
    samples: Callable[[], LanguageSamples]
    listed: Callable[[QueryPlan], NamedPlaces]
    boost: Callable[[QueryPlan, Metadata], float]


@dataclass(slots=True)
class Candidates:
    """What the legs found, best first: by meaning for each vector, by words for each query variant.

    `queries` are the vectors of the variants, one each but for a long one, which has several; `variants` says whose
    each is (empty: one each). `ideals` are the BM25 that each variant could reach, 0 where that is not known.
    """

    queries: Vectors
    variants: tuple[int, ...] = ()
    dense: list[list[int]] = field(default_factory=list)
    sparse: list[dict[int, float]] = field(default_factory=list)
    keywords: list[dict[int, float]] = field(default_factory=list)
    ideals: list[float] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    seconds: dict[str, float] = field(default_factory=dict)

    def keys(self) -> set[int]:
        """Every child that a leg found."""
        return {key for part in (self.dense, self.sparse, self.keywords) for ranking in part for key in ranking}

    def dense_rank(self, key: int) -> int | None:
        """The child's best rank by meaning, from 1; None where no variant found it."""
        return _best_rank(self.dense, key)

    def sparse_rank(self, key: int) -> int | None:
        """The child's best rank by words, from 1; None where no search found it."""
        return _best_rank([*self.sparse, *self.keywords], key)

    def bm25(self, key: int) -> float | None:
        """The child's best BM25, None where no search found it."""
        return max((found[key] for found in (*self.sparse, *self.keywords) if key in found), default=None)


def search_legs(
    plan: QueryPlan, allowed: Collection[int] | None, searchable: Searchable, config: RetrievalConfig
) -> Candidates:
    """What each leg finds for each query variant in the allowed documents (None allows all)."""
    found = Candidates(np.zeros((0, searchable.vectors.shape[1]), np.float32), warnings=list(plan.warnings))
    reworded = plan.planner != "rules" or config.rule_variants
    varied = config.fusion != "convex" or (reworded and config.variant_weight)
    variants = plan.queries if varied else plan.queries[:1]
    depth = config.top_k * config.multiplier
    if config.fusion != "paper":
        depth = max(depth, config.candidates)
    if config.legs != "sparse":
        _search_dense(variants, plan.language, allowed, searchable, config, depth, found)
    if config.legs != "dense":
        _search_sparse(plan, variants, allowed, searchable, config, depth, found)
    return found


def _search_dense(
    variants: Sequence[str],
    language: str,
    allowed: Collection[int] | None,
    searchable: Searchable,
    config: RetrievalConfig,
    depth: int,
    into: Candidates,
) -> None:
    step = time.perf_counter()
    pieces = [(number, piece) for number, query in enumerate(variants) for piece in _pieces(query, language)]
    try:
        into.queries = searchable.embedder().encode_queries([piece for _, piece in pieces])
        into.variants = tuple(number for number, _ in pieces)
    except BackendError as error:
        into.warnings.append(f"Searched by keywords only: {error}")
        return
    into.seconds["encode"] = time.perf_counter() - step
    step = time.perf_counter()
    found = None
    # Nothing is allowed: Chroma refuses an empty list, and there is nothing to ask it.
    approximate = config.fusion == "paper" or (allowed is None and len(searchable.snapshot) > EXACT_UP_TO)
    if approximate and (allowed is None or allowed):
        where = chroma_where(None if allowed is None else frozenset(allowed))
        try:
            found = searchable.dense().search(into.queries, depth, where=where)
        except SextantError as error:
            into.warnings.append(f"The dense index is away, so every vector was compared instead: {error}")
    if found is None:
        found = nearest(searchable.snapshot, searchable.vectors, into.queries, depth, allowed)
    into.dense = [keys.tolist() for keys, _ in found]
    into.seconds["dense"] = time.perf_counter() - step


def _search_sparse(
    plan: QueryPlan,
    variants: Sequence[str],
    allowed: Collection[int] | None,
    searchable: Searchable,
    config: RetrievalConfig,
    depth: int,
    into: Candidates,
) -> None:
    step = time.perf_counter()
    if not has_analyser(plan.language):
        spoken = f"{plan.language!r}, for which there is no stemmer" if plan.language else "no language that we know"
        into.warnings.append(f"The question is in {spoken}: its keywords are matched as they are written.")
    try:
        index = searchable.sparse()
        search = index.search
        into.ideals = [index.ideal(query, plan.language) for query in variants]
        into.sparse = [dict(search(query, plan.language, depth, allowed=allowed)) for query in variants]
        into.keywords = [
            dict(search(term, plan.language, config.top_k, allowed=allowed, exact=True)) for term in plan.keywords
        ]
    except SextantError as error:
        into.sparse, into.keywords, into.ideals = [], [], []
        into.warnings.append(f"Searched by meaning only: {error}")
    into.seconds["sparse"] = time.perf_counter() - step


def _pieces(query: str, language: str) -> list[str]:
    """A query in pieces that an encoder reads to the end, cut between sentences; nearly always the query itself.

    The facts of a case fill pages, and each of them may be what a passage answers.
    """
    if len(query) <= _LONGEST_PIECE:
        return [query]
    pieces: list[str] = []
    start = end = 0
    for first, beyond in sentence_spans(query, language):
        if end > start and beyond - start > _LONGEST_PIECE:
            pieces.append(query[start:end])
            start = first
        end = beyond
    return [*pieces, query[start:end]]


def _best_rank(rankings: Sequence[Sequence[int] | Mapping[int, float]], key: int) -> int | None:
    return min((list(ranking).index(key) + 1 for ranking in rankings if key in ranking), default=None)
