"""The two retrievers of a question, by meaning and by keywords; an unavailable one is reported."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from rag_engine.config import RankingWeights, RetrievalConfig
from rag_engine.errors import BackendError, SextantError
from rag_engine.filters import Filter, store_filter
from rag_engine.messages import Message
from rag_engine.protocols import Embedder, LoadReader, LoadReranker, SparseIndex, VectorIndex, Vectors
from rag_engine.retrieval.exact_search import nearest
from rag_engine.retrieval.fuse_ranks import POOL, PROFILES, Profile
from rag_engine.retrieval.tuning import DEPTH_PER_RESULT, EXACT_UP_TO, LONGEST_PIECE
from rag_engine.storage.snapshot import CollectionView
from rag_engine.text.analyzer import has_analyser
from rag_engine.text.sentences import sentence_spans
from rag_engine.types.evidence import QueryPlan


@dataclass(frozen=True, slots=True)
class Retrievers:
    """The backends that a search asks, each opened at its first use.

    If one is unavailable, the others still answer. `spaces` is the keyword index of words between spaces that a
    published recipe asks. `reranker` is a cross-encoder that a user names.
    """

    embedder: Callable[[], Embedder]
    dense: Callable[[], VectorIndex]
    sparse: Callable[[], SparseIndex]
    spaces: Callable[[], SparseIndex]
    reranker: LoadReranker
    reader: LoadReader


@dataclass(frozen=True, slots=True)
class Candidates:
    """Children that the retrievers found, best first.

    `dense` has a ranking for each vector, `sparse` one for each query variant. `queries` are the vectors of the
    variants: one each, several for a long variant. `variants` gives the variant of each vector (empty: one each).
    `keywords` are the searches for acronyms and quoted phrases. `ideals` are the BM25 that each variant could reach, 0
    if unknown.
    """

    queries: Vectors
    variants: tuple[int, ...] = ()
    dense: Sequence[Sequence[int]] = ()
    sparse: Sequence[Mapping[int, float]] = ()
    keywords: Sequence[Mapping[int, float]] = ()
    ideals: Sequence[float] = ()
    warnings: tuple[Message, ...] = ()
    seconds: Mapping[str, float] = field(default_factory=dict)

    def of_question(self) -> Vectors:
        """Return the vectors of the question itself: several for a long one, none without the encoder."""
        own = [at for at in range(len(self.queries)) if not self.variants or self.variants[at] == 0]
        vectors: Vectors = self.queries[own]
        return vectors

    def keys(self) -> set[int]:
        """Return every child that a retriever found."""
        return {key for part in (self.dense, self.sparse, self.keywords) for ranking in part for key in ranking}

    def dense_rank(self, key: int) -> int | None:
        """Return the child's best rank by meaning, from 1, or None."""
        return _best_rank(self.dense, key)

    def sparse_rank(self, key: int) -> int | None:
        """Return the child's best rank by keywords, from 1, or None."""
        return _best_rank([*self.sparse, *self.keywords], key)

    def bm25(self, key: int) -> float | None:
        """Return the child's best BM25, or None."""
        return max((found[key] for found in (*self.sparse, *self.keywords) if key in found), default=None)


def search(
    plan: QueryPlan,
    allowed: Collection[int] | None,
    view: CollectionView,
    retrievers: Retrievers,
    config: RetrievalConfig,
    wanted: Filter | None = None,
) -> Candidates:
    """Return the results of each retriever for each query variant in the allowed documents.

    None allows all.

    `wanted` is the filter that allows them, for a vector store that filters by itself.
    """
    profile, weights = PROFILES[config.profile], config.weights
    variants = plan.queries if _varied(plan, profile, weights) else plan.queries[:1]
    depth = POOL if profile.cascade else config.top_k * DEPTH_PER_RESULT
    if not profile.as_published:
        depth = max(depth, weights.candidates)
    found = sparse = Candidates(np.zeros((0, view.vectors.shape[1]), np.float32))
    if config.retrievers != "sparse" and (profile.fuse or weights.dense_weight > 0):
        found = _search_dense(
            plan, variants, allowed, view, retrievers, depth, wanted or {}, approximate=profile.dense == "approximate"
        )
    if config.retrievers != "dense" and (profile.fuse or weights.dense_weight < 1):
        sparse = _search_sparse(plan, variants, allowed, retrievers, config, depth)
    return replace(
        found,
        sparse=sparse.sparse,
        keywords=sparse.keywords,
        ideals=sparse.ideals,
        warnings=(*plan.warnings, *found.warnings, *sparse.warnings),
        seconds={**found.seconds, **sparse.seconds},
    )


def _varied(plan: QueryPlan, profile: Profile, weights: RankingWeights) -> bool:
    """Return whether variants of the question are searched too.

    A published recipe searches only the variants that a model made.
    """
    reworded = plan.planner != "rules" or weights.rule_variants
    if profile.as_published:
        return reworded and not profile.cascade
    return profile.fuse is not None or (reworded and weights.variant_weight > 0)


def _search_dense(
    plan: QueryPlan,
    variants: Sequence[str],
    allowed: Collection[int] | None,
    view: CollectionView,
    retrievers: Retrievers,
    depth: int,
    wanted: Filter,
    *,
    approximate: bool,
) -> Candidates:
    started = time.perf_counter()
    pieces = [(number, piece) for number, query in enumerate(variants) for piece in _pieces(query, plan.language)]
    try:
        queries = retrievers.embedder().encode_queries([piece for _, piece in pieces])
    except BackendError as error:
        nothing = np.zeros((0, view.vectors.shape[1]), np.float32)
        return Candidates(nothing, warnings=(Message("Searched by keywords only: {error}", error=error),))
    encoded = time.perf_counter()
    warnings: tuple[Message, ...] = ()
    found = None
    if approximate or (allowed is None and len(view.snapshot) > EXACT_UP_TO):
        try:
            facets, documents = store_filter(wanted, view.snapshot.facets, allowed)
            found = retrievers.dense().search(queries, depth, facets=facets, documents=documents)
        except SextantError as error:
            warnings = (
                Message("The dense index is unavailable, so every vector was compared instead: {error}", error=error),
            )
    if found is None:
        found = nearest(view.snapshot, view.vectors, queries, depth, allowed)
    return Candidates(
        queries,
        tuple(number for number, _ in pieces),
        dense=[keys.tolist() for keys, _ in found],
        warnings=warnings,
        seconds={"encode": encoded - started, "dense": time.perf_counter() - encoded},
    )


def _search_sparse(
    plan: QueryPlan,
    variants: Sequence[str],
    allowed: Collection[int] | None,
    retrievers: Retrievers,
    config: RetrievalConfig,
    depth: int,
) -> Candidates:
    started = time.perf_counter()
    warnings = []
    if not has_analyser(plan.language):
        warnings.append(
            Message(
                "The question is in {language!r}, for which there is no stemmer: "
                "its keywords are matched as they are written.",
                language=plan.language,
            )
            if plan.language
            else Message("The question is in no language that we know: its keywords are matched as they are written.")
        )
    found = Candidates(np.zeros((0, 0), np.float32))
    try:
        index = retrievers.spaces() if PROFILES[config.profile].keywords == "spaces" else retrievers.sparse()
        found = replace(
            found,
            ideals=[index.ideal(query, plan.language) for query in variants],
            sparse=[dict(index.search(query, plan.language, depth, allowed=allowed)) for query in variants],
            keywords=[
                dict(index.search(term, plan.language, config.top_k, allowed=allowed, exact=True))
                for term in plan.keywords
            ],
        )
    except SextantError as error:
        warnings.append(Message("Searched by meaning only: {error}", error=error))
    return replace(found, warnings=tuple(warnings), seconds={"sparse": time.perf_counter() - started})


def _pieces(query: str, language: str) -> list[str]:
    """Split a query between sentences into pieces that an encoder reads to the end.

    Nearly always there is one piece. The facts of a case fill pages, and a passage may answer any of them.
    """
    if len(query) <= LONGEST_PIECE:
        return [query]
    pieces: list[str] = []
    start = end = 0
    for first, beyond in sentence_spans(query, language):
        if end > start and beyond - start > LONGEST_PIECE:
            pieces.append(query[start:end])
            start = first
        end = beyond
    return [*pieces, query[start:end]]


def _best_rank(rankings: Sequence[Sequence[int] | Mapping[int, float]], key: int) -> int | None:
    return min((list(ranking).index(key) + 1 for ranking in rankings if key in ranking), default=None)
