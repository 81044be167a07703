"""Documents that a search would find under any filter, so that the counts of facets follow the words."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from heapq import nsmallest

from rag_engine.calibration import languages_of
from rag_engine.engine import Engine
from rag_engine.passage_search.find import NEAREST, FoundPassages, PassageQuery, find_passages, worded_children
from rag_engine.retrieval.exact_search import nearest

# Of all passages, so many of the nearest in meaning are looked through for those that a filter leaves.
_DEPTH = 5_000


@dataclass(frozen=True, slots=True)
class DocumentHits:
    """Documents by key: those that hold all words, and of those near in meaning the places of their passages.

    A place counts passages without all of the words from the nearest in the collection, and is a document's own; a
    document has at most 20.
    """

    worded: frozenset[int]
    near: Mapping[int, tuple[int, ...]]

    def count(self, documents: Collection[int]) -> int:
        """Return in how many of the documents something is found where these alone are searched."""
        places = {place: key for key in documents for place in self.near.get(key, ())}
        return len(self.worded.intersection(documents).union(places[one] for one in nsmallest(NEAREST, places)))


def find_document_hits(engine: Engine, found: FoundPassages) -> DocumentHits:
    """Return the documents that the words of a search hit, whatever its filter; one search serves for each facet."""
    query, snapshot = found.query, engine.collection.snapshot()
    if not found.wanted:
        # A filter that allows no document ended the search before its words were read.
        found = find_passages(engine, PassageQuery(query.words))
    keys, _ = worded_children(engine, found.wanted, None, snapshot)
    worded = frozenset(snapshot.owner_of(key) for key in keys)
    return DocumentHits(worded, {} if query.words_only else _near(engine, found, set(keys)))


def _near(engine: Engine, found: FoundPassages, worded: Collection[int]) -> dict[int, tuple[int, ...]]:
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
