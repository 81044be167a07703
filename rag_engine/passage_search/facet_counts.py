"""Counts beside the values of a facet: the documents that a search would find with each of them."""

from __future__ import annotations

from rag_engine.answering_documents import FilterObstacle, filter_obstacles
from rag_engine.engine import Engine
from rag_engine.passage_search.find import FoundPassages, find_passages
from rag_engine.passage_search.passage_query import PassageQuery
from rag_engine.passage_search.worded import find_worded


def excluding_facets(engine: Engine, query: PassageQuery) -> tuple[FilterObstacle, ...]:
    """Return the facets of a filter that exclude every result, the largest number of documents first.

    If the filter allows no document, documents that the rest of the filter allows are counted. If it allows some and
    none holds the words, documents that hold the words are counted.
    """
    snapshot = engine.collection.snapshot()
    obstacles = filter_obstacles(query.wanted, snapshot.facets, snapshot.documents)
    if obstacles or not query.words:
        return obstacles
    found: list[FilterObstacle] = []
    for name, values in query.wanted.items():
        rest = query.without(name)
        if not filter_obstacles(rest.wanted, snapshot.facets, snapshot.documents) and (
            count := len(find_passages(engine, rest).documents)
        ):
            found.append(FilterObstacle(name, values, count))
    return tuple(sorted(found, key=lambda obstacle: -obstacle.documents))


def worded_documents(engine: Engine, found: FoundPassages) -> frozenset[int]:
    """Return the documents that the words of a search find under any filter.

    One search serves for each facet.
    """
    query, snapshot = found.query, engine.collection.snapshot()
    if not found.wanted:
        # A filter that allows no document ended the search before its words were read.
        found = find_passages(engine, PassageQuery(query.words, words_only=True))
    worded, _ = find_worded(engine, found.wanted, None, snapshot, anywhere=query.anywhere)
    return frozenset(snapshot.owner_of(key) for key in worded.passages)
