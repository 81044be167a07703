"""Passages on a question by rank, without those that hold what the question leaves out."""

from __future__ import annotations

from dataclasses import replace

from rag_engine.config import RetrievalConfig
from rag_engine.engine import Engine
from rag_engine.filters import Filter
from rag_engine.messages import Message
from rag_engine.passage_search.describe import describe_searched
from rag_engine.passage_search.find import sought_words
from rag_engine.text.words.key_words import leaves_out, wanted_words
from rag_engine.text.words.search_words import Without, read_search
from rag_engine.types.evidence import Evidence
from rag_engine.types.passage import Source

# Of what a question leaves out, so many times the passages are searched that are shown.
_DEPTH = 4


def search_evidence(engine: Engine, words: str, wanted: Filter, retrieval: RetrievalConfig) -> Evidence:
    """Return the evidence for a question without the passages that hold words it leaves out.

    The other operators choose no passage here, where they are ranked by meaning too: a warning says so.
    """
    search, plain = read_search(words), sought_words(words)
    if not search.operated:
        return engine.search(words, wanted, retrieval)
    left_out = any(isinstance(part, Without) for part in search.tree.parts)
    deeper = replace(retrieval, top_k=retrieval.top_k * _DEPTH) if left_out else retrieval
    evidence = engine.search(plain, wanted, deeper)
    documents = engine.collection.snapshot().documents.values()
    sought = wanted_words(words, evidence.plan.language, {document.metadata.language for document in documents})
    sources: list[Source] = []
    for source in evidence.sources:
        language = source.document.metadata.language
        if hits := tuple(hit for hit in source.hits if not leaves_out(hit.text, language, sought)):
            sources.append(replace(source, hits=hits))
    kept = sources[: retrieval.top_k]
    told = Message(
        "{searched} Passages need not contain the words, since meaning counts too.",
        searched=describe_searched(sought),
    )
    hits = tuple(source.hits[0] for source in kept if not source.index_context)
    return replace(evidence, hits=hits, sources=tuple(kept), warnings=(told, *evidence.warnings))
