"""Questions to ranked documents, by each way of searching."""

from __future__ import annotations

from collections.abc import Sequence

from rag_engine import workspace as places
from rag_engine.backends.language import identify_language
from rag_engine.backends.rank_bm25 import PaperSparseIndex
from rag_engine.backends.tantivy import open_sparse_index
from rag_engine.backends.vectors import VectorStore
from rag_engine.encoder_note import read_note
from rag_engine.errors import BackendError, WorkspaceError
from rag_engine.evaluation.collections import Collection
from rag_engine.evaluation.configurations import Configuration
from rag_engine.evaluation.datasets import CorpusDocument
from rag_engine.evaluation.ranking import DEPTH, RankDocuments, best_of_documents
from rag_engine.geography import geographic_boost
from rag_engine.planning import plan_question
from rag_engine.protocols import SparseIndex, VectorIndex
from rag_engine.retrieval import Searchable, retrieve
from rag_engine.types import QueryPlan


def ranker(collection: Collection, documents: Sequence[CorpusDocument], configuration: Configuration) -> RankDocuments:
    """The function that ranks the collection's documents for a question as the configuration says.

    `documents` are those of the collection; the plan of a question is made by rules, never by a language model.
    """
    if configuration.keywords == "documents":
        return _by_whole_documents(documents)
    engine = collection.engine
    config = configuration.applied(engine.config)
    searchable = _searchable(collection, configuration)
    # All that is ranked counts here: a floor and a short list are for those who read.
    retrieval = engine.retrieval(**configuration.retrieval, top_k=DEPTH, multiplier=1, similarity_floor=0.0)

    def plan(question: str) -> QueryPlan:
        return plan_question(
            question, identify=identify_language, gazetteer=engine.gazetteer(), generator=None, config=config
        )

    def rank(question: str) -> list[tuple[str, float]]:
        hits = retrieve(plan(question), None, searchable, retrieval).hits
        return best_of_documents([(collection.names[hit.document.key], hit.fused) for hit in hits])

    return rank


def _by_whole_documents(documents: Sequence[CorpusDocument]) -> RankDocuments:
    index = PaperSparseIndex()
    index.add((place, place, document.language, document.whole) for place, document in enumerate(documents))
    index.commit()
    return lambda question: [(documents[place].id, score) for place, score in index.search(question, "", DEPTH)]


def _searchable(collection: Collection, configuration: Configuration) -> Searchable:
    engine = collection.engine
    note = read_note(engine.catalog.state("encoder"))
    if note is None:
        raise WorkspaceError("The collection of the evaluation is empty.", help="Give its documents a text.")
    store = VectorStore(places.vectors(engine.config.workspace), note.name, note.dimension)
    sparse = _sparse_index(collection, configuration)
    return Searchable(
        snapshot=engine.snapshot(),
        catalog=engine.catalog,
        vectors=store.all(),
        dense=_no_approximation,
        sparse=lambda: sparse,
        embedder=engine.embedder,
        calibration=note.calibration,
        boost=lambda plan, metadata: geographic_boost(
            plan.scope, metadata, engine.gazetteer(), engine.config.retrieval
        ),
    )


def _sparse_index(collection: Collection, configuration: Configuration) -> SparseIndex:
    engine = collection.engine
    if configuration.keywords == "index":
        folder = places.sparse_index(engine.config.workspace, engine.generation())
        return open_sparse_index(folder, writable=False)
    index = PaperSparseIndex()
    for record in engine.documents():
        children = engine.catalog.document_children(record.key)
        index.add((child.key, record.key, record.metadata.language, child.text) for child in children)
    index.commit()
    return index


def _no_approximation() -> VectorIndex:
    """Never; what an approximate index leaves out would be counted against the configuration."""
    raise BackendError("an evaluation compares every vector.")
