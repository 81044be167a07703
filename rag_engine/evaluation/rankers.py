"""Questions to ranked documents and to evidence, by each way of searching."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from benchmarks.published_bm25 import published_bm25
from rag_engine.backends.rank_bm25 import PaperSparseIndex
from rag_engine.config import RetrievalConfig
from rag_engine.errors import BackendError
from rag_engine.evaluation.configurations import Configuration
from rag_engine.evaluation.datasets import CorpusDocument
from rag_engine.evaluation.metrics import DEPTH, RankDocuments, best_of_documents
from rag_engine.evaluation.temporary_collection import Collection
from rag_engine.planning.plan import plan_question
from rag_engine.protocols import Reranker, VectorIndex
from rag_engine.retrieval.ranking import rank
from rag_engine.retrieval.retrieve import retrieve
from rag_engine.retrieval.scores import Signals, pool_of, read_signals
from rag_engine.retrieval.search import Searchable, search_legs
from rag_engine.types import Evidence, QueryPlan

# The one warning that is wanted: the approximate index is away from every evaluation.
_NEVER = "An evaluation compares every vector."


def ranker(
    collection: Collection,
    configuration: Configuration,
    said: Counter[str],
    *,
    reranker: Callable[[], Reranker] | None = None,
) -> RankDocuments:
    """The function that ranks the collection's documents for a question as the configuration says.

    `said` counts what the search warned of: a leg that was away, a reranker that broke off. `reranker` stands in for
    the configured one.
    """
    searchable, planned = _searchable(collection, configuration), _planner(collection, configuration)
    searchable = replace(searchable, reranker=reranker or searchable.reranker)
    retrieval = _retrieval(collection, configuration)

    def ranked(question: str) -> list[tuple[str, float]]:
        children = rank(planned(question), None, searchable, retrieval)
        said.update(warning for warning in children.found.warnings if _NEVER not in warning)
        pairs = zip(children.owners.tolist(), children.scores.tolist(), strict=True)
        return best_of_documents([(collection.names[owner], score) for owner, score in pairs])[:DEPTH]

    return ranked


def planned_signals(
    collection: Collection, configuration: Configuration
) -> Callable[[str], tuple[NDArray[np.str_], Signals]]:
    """The function that gives for a question the document of each child that was found, and the child's signals."""
    searchable, planned = _searchable(collection, configuration), _planner(collection, configuration)
    # Everything is read, so that any weights can be tried on it.
    config = replace(configuration.applied(collection.engine.config).retrieval, rule_variants=True, variant_weight=1.0)
    config = replace(config, sentence_share=0.5)
    names = collection.names

    def read(question: str) -> tuple[NDArray[np.str_], Signals]:
        plan = planned(question)
        pool = pool_of(search_legs(plan, None, searchable, config), (), searchable)
        documents = np.array([names[owner] for owner in pool.owners.tolist()])
        return documents, read_signals(plan, pool, searchable, config)

    return read


def searcher(
    collection: Collection,
    configuration: Configuration,
    said: Counter[str],
    *,
    reranker: Callable[[], Reranker] | None = None,
) -> Callable[[str], Evidence]:
    """The function that finds the evidence for a question as the configuration says, without a floor of similarity.

    With a floor a configuration that finds less would be the more precise one. For `said` and `reranker` see `ranker`.
    """
    searchable, planned = _searchable(collection, configuration), _planner(collection, configuration)
    searchable = replace(searchable, reranker=reranker or searchable.reranker)
    retrieval = replace(_retrieval(collection, configuration), similarity_floor=0.0)

    def searched(question: str) -> Evidence:
        evidence = retrieve(planned(question), None, searchable, retrieval)
        said.update(warning for warning in evidence.warnings if _NEVER not in warning)
        return evidence

    return searched


def whole_documents(documents: Sequence[CorpusDocument], configuration: Configuration) -> RankDocuments:
    """The function that ranks whole documents by BM25: the published one, or over words between spaces, the paper's
    keyword leg.
    """
    if configuration.keywords == "lucene":
        return published_bm25(documents)
    index = PaperSparseIndex()
    index.add((place, place, document.language, document.whole) for place, document in enumerate(documents))
    index.commit()
    return lambda question: [(documents[place].id, score) for place, score in index.search(question, "", DEPTH)]


def _retrieval(collection: Collection, configuration: Configuration) -> RetrievalConfig:
    """The configuration's settings; a reranker has all the time it needs, or a busy machine would change figures."""
    return replace(configuration.applied(collection.engine.config).retrieval, rerank_seconds=math.inf)


def _planner(collection: Collection, configuration: Configuration) -> Callable[[str], QueryPlan]:
    """The plan of a question is made by rules, never by a language model, so that a run can be repeated."""
    engine = collection.engine

    def planned(question: str) -> QueryPlan:
        plan = plan_question(
            question, identify=engine.language_of, gazetteer=engine.gazetteer(), generator=None, config=engine.config
        )
        return replace(plan, queries=plan.queries[: configuration.queries])

    return planned


def _searchable(collection: Collection, configuration: Configuration) -> Searchable:
    searchable = replace(collection.engine.searchable(), dense=_no_approximation)
    if configuration.keywords == "index":
        return searchable
    index = PaperSparseIndex()
    for record in collection.engine.documents():
        children = collection.engine.catalog.document_children(record.key)
        index.add((child.key, record.key, record.metadata.language, child.text) for child in children)
    index.commit()
    return replace(searchable, sparse=lambda: index)


def _no_approximation() -> VectorIndex:
    """Never; what an approximate index leaves out would be counted against the configuration."""
    raise BackendError(_NEVER)
