"""Counts beside the values of a facet: the documents that a search would find with each of them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from heapq import nsmallest

from rag_engine.answering_documents import FilterObstacle, filter_obstacles
from rag_engine.calibration import languages_of
from rag_engine.engine import Engine
from rag_engine.passage_search.find import NEAREST, FoundPassages, find_passages, worded_children
from rag_engine.passage_search.passage_query import PassageQuery
from rag_engine.retrieval.exact_search import nearest

# The number of nearest passages that are searched for the ones that a filter leaves.
_DEPTH = 5_000


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


@dataclass(frozen=True, slots=True)
class DocumentHits:
    """Documents by key: documents that hold all words, and the near passages of the others.

    A near passage is given by its place among the nearest passages of the collection that lack a word. A document has
    at most 20.
    """

    worded: frozenset[int]
    near: Mapping[int, tuple[int, ...]]

    def count(self, documents: Collection[int]) -> int:
        """Return how many of the documents a search finds if it searches these alone."""
        places = {place: key for key in documents for place in self.near.get(key, ())}
        return len(self.worded.intersection(documents).union(places[one] for one in nsmallest(NEAREST, places)))


def find_document_hits(engine: Engine, found: FoundPassages) -> DocumentHits:
    """Return the documents that the words of a search hit under any filter.

    One search serves for each facet.
    """
    query, snapshot = found.query, engine.collection.snapshot()
    if not found.wanted:
        # A filter that allows no document ended the search before its words were read.
        found = find_passages(engine, PassageQuery(query.words))
    keys, _ = worded_children(engine, found.wanted, None, snapshot)
    worded = frozenset(snapshot.owner_of(key) for key in keys)
    return DocumentHits(worded, {} if query.words_only else _near_places(engine, found, set(keys)))


def _near_places(engine: Engine, found: FoundPassages, worded: Collection[int]) -> dict[int, tuple[int, ...]]:
    if not found.vector.size:
        return {}
    view = engine.collection.view()
    documents, calibration = view.snapshot.documents, view.manifest.calibration
    floor = engine.config.retrieval.similarity_floor
    [(keys, cosines)] = nearest(view.snapshot, view.vectors, found.vector, _DEPTH, None)
    places: dict[int, list[int]] = {}
    for place, (key, cosine) in enumerate(zip(keys.tolist(), cosines.tolist(), strict=True)):
        owner = view.snapshot.owner_of(key)
        pair = languages_of(found.language, documents[owner].metadata.language)
        if key not in worded and calibration.similarity(cosine, pair) >= floor:
            kept = places.setdefault(owner, [])
            if len(kept) < NEAREST:
                kept.append(place)
    return {key: tuple(kept) for key, kept in places.items()}
