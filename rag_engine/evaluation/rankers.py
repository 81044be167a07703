"""Questions to ranked documents and to evidence, by each way of searching."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeVar

from rag_engine.config import RetrievalConfig, changed
from rag_engine.disk_backends import paper_keywords
from rag_engine.errors import BackendError
from rag_engine.evaluation.configurations import Configuration
from rag_engine.evaluation.datasets import CorpusDocument
from rag_engine.evaluation.metric import DEPTH, RankDocuments, best_of_documents
from rag_engine.evaluation.published_bm25 import published_bm25
from rag_engine.evaluation.temporary_collection import IndexedCorpus
from rag_engine.geography import load_gazetteer
from rag_engine.planning.plan import plan_question
from rag_engine.protocols import VectorIndex
from rag_engine.retrieval.ranking import Ranked, rank
from rag_engine.retrieval.search import Retrievers
from rag_engine.storage.snapshot import CollectionView
from rag_engine.types.evidence import Evidence, QueryPlan

# The one warning that is expected: no evaluation asks the approximate index.
_NEVER = "An evaluation compares every vector."


_Answer = TypeVar("_Answer", Ranked, Evidence)


def ranker(
    corpus: IndexedCorpus,
    configuration: Configuration,
    warned: Counter[str],
    *,
    retrievers: Retrievers | None = None,
    planned: Callable[[str], QueryPlan] | None = None,
) -> RankDocuments:
    """Return the function that ranks the corpus's documents for a question as the configuration says.

    `warned` counts the search's warnings: a retriever that was unavailable, a reranker that broke off. `retrievers`
    replace the corpus's own, `planned` the planner by rules.
    """
    search = searching(rank, corpus, configuration, warned, retrievers, planned)

    def ranked(question: str) -> list[tuple[str, float]]:
        children = search(question)
        pairs = zip(children.owners.tolist(), children.scores.tolist(), strict=True)
        return best_of_documents([(corpus.names[owner], score) for owner, score in pairs])[:DEPTH]

    return ranked


def searching(
    way: Callable[[QueryPlan, None, CollectionView, Retrievers, RetrievalConfig], _Answer],
    corpus: IndexedCorpus,
    configuration: Configuration,
    warned: Counter[str],
    retrievers: Retrievers | None,
    planned: Callable[[str], QueryPlan] | None = None,
    **changes: float,
) -> Callable[[str], _Answer]:
    """Return the function that searches the corpus in a way.

    `changes` are further changes of the configuration's settings.
    """
    view, planned = corpus.engine.collection.view(), planned or planner(corpus, configuration)
    retrievers = _exact(retrievers or corpus.engine.retrievers(), configuration)
    settings = changed(configuration.applied(corpus.engine.config).retrieval, **changes)

    def search(question: str) -> _Answer:
        found = way(planned(question), None, view, retrievers, settings)
        warned.update(warning for warning in found.warnings if _NEVER not in warning)
        return found

    return search


def whole_documents(documents: Sequence[CorpusDocument], configuration: Configuration) -> RankDocuments:
    """Return the function that ranks whole documents by BM25.

    It is the published BM25, or the one over words between spaces.
    """
    if configuration.keywords == "lucene":
        return published_bm25(documents)
    index = paper_keywords()
    index.add((place, place, document.language, document.whole) for place, document in enumerate(documents))
    index.commit()
    return lambda question: [(documents[place].id, score) for place, score in index.search(question, "", DEPTH)]


def planner(corpus: IndexedCorpus, configuration: Configuration) -> Callable[[str], QueryPlan]:
    """Return the planner of questions by rules.

    It asks no language model, so that a run can be repeated.
    """
    engine = corpus.engine

    def planned(question: str) -> QueryPlan:
        plan = plan_question(
            question, identify=engine.language_of, gazetteer=load_gazetteer(), generator=None, config=engine.config
        )
        return replace(plan, queries=plan.queries[: configuration.queries])

    return planned


def _exact(retrievers: Retrievers, configuration: Configuration) -> Retrievers:
    retrievers = replace(retrievers, dense=_no_approximation)
    # A recipe's own choice is measured under "spaces"; its fusion with the index on disk is a configuration too.
    if configuration.keywords == "index":
        return replace(retrievers, spaces=retrievers.sparse)
    return retrievers


def _no_approximation() -> VectorIndex:
    """Raise: passages that an approximate index leaves out would count against the configuration."""
    raise BackendError(_NEVER)
