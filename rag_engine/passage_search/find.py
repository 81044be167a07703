"""Finding passages: all that hold the key words of a query, besides those nearest to it in meaning."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from heapq import nsmallest
from typing import Literal, get_args

import numpy as np

from rag_engine import filters
from rag_engine.calibration import languages_of
from rag_engine.engine import Engine
from rag_engine.errors import SextantError
from rag_engine.geography import load_gazetteer
from rag_engine.messages import Message
from rag_engine.planning.plan import plan_question
from rag_engine.protocols import Vectors
from rag_engine.retrieval.exact_search import nearest
from rag_engine.retrieval.ranking import Ranked, rank
from rag_engine.storage.collection import CollectionView
from rag_engine.storage.snapshot import Snapshot
from rag_engine.text.key_words import WantedWords, wanted_words
from rag_engine.types import DocumentRecord, QueryPlan

# Of passages that do not hold all of the words, at most so many are found by meaning: no score tells from where on they
# are about something else, and further down few are about the query.
NEAREST = 20

SortOrder = Literal["relevance", "date"]
SORT_ORDERS: tuple[SortOrder, ...] = get_args(SortOrder)

_WORDS, _SORT, _MATCH = "words", "sort", "match"
_ALL_WORDS = "words"
_FILTERS = (*filters.FACETS, filters.DOCUMENT, filters.AS_OF, filters.VERSIONS)

# Of all passages, so many of the nearest in meaning are looked through for those that a filter leaves.
_DEPTH = 5_000


@dataclass(frozen=True, slots=True)
class PassageMatch:
    """A passage that was found: its child's key, its place by relevance from 1, and whether it holds all key words."""

    key: int
    document: DocumentRecord
    rank: int
    worded: bool


@dataclass(frozen=True, slots=True)
class DocumentMatches:
    """Passages that were found in a document, the most relevant first."""

    document: DocumentRecord
    matches: tuple[PassageMatch, ...]

    @property
    def worded(self) -> int:
        """Number of passages that hold all key words."""
        return sum(match.worded for match in self.matches)


@dataclass(frozen=True, slots=True, eq=False)
class FoundPassages:
    """Result of a search: the documents in its order, each with the passages found in it.

    `allowed` is how many of the `held` documents the filter allows; `vector` the query's (1, dimension), without rows
    where it was not encoded. Without words a match is the first passage of a document.
    """

    query: PassageQuery
    documents: tuple[DocumentMatches, ...]
    allowed: int
    held: int
    language: str = ""
    wanted: WantedWords = field(default_factory=lambda: WantedWords({}))
    vector: Vectors = field(default_factory=lambda: np.zeros((0, 0), np.float32))
    warnings: tuple[Message, ...] = ()
    seconds: float = 0.0

    @property
    def matches(self) -> tuple[PassageMatch, ...]:
        """Every passage: by relevance, or for the order by date those of one document after the other."""
        listed = [match for group in self.documents for match in group.matches]
        return tuple(sorted(listed, key=lambda one: one.rank) if self.query.sort == "relevance" else listed)

    @property
    def worded(self) -> int:
        """Number of passages that hold all key words."""
        return sum(group.worded for group in self.documents)

    @property
    def matching(self) -> int:
        """Number of documents that match: those found by the words, without words those that the filter allows."""
        return len(self.documents) if self.query.words else self.allowed

    def __len__(self) -> int:
        return sum(len(group.matches) for group in self.documents)


def find_passages(engine: Engine, query: PassageQuery) -> FoundPassages:
    """Return every passage that holds the key words of a query, and up to 20 others that are near in meaning.

    No language model is asked, and no passage is reranked. Without words, the first passage of every document that the
    filter allows. A value of the filter that no document has allows none; InputError for a filter that there is not.
    """
    started = time.perf_counter()
    snapshot = engine.collection.snapshot()
    allowed = filters.answering_documents(query.wanted, snapshot.facets, snapshot.documents, strict=False)
    count = len(snapshot.documents if allowed is None else allowed)
    if not count or engine.collection.manifest() is None:
        return FoundPassages(query, (), count, len(snapshot.documents))
    if not query.words:
        groups = _browsed(snapshot, snapshot.documents if allowed is None else allowed)
        return FoundPassages(query, groups, count, len(snapshot.documents), seconds=time.perf_counter() - started)
    plan = plan_question(
        query.words, identify=engine.language_of, gazetteer=load_gazetteer(), generator=None, config=engine.config
    )
    languages = {document.metadata.language for document in snapshot.documents.values()}
    wanted = wanted_words(query.words, plan.language, languages)
    worded, warnings = worded_children(engine, wanted, allowed, snapshot)
    view = engine.collection.view()
    settings = engine.retrieval(rerank=False)
    ranked = rank(plan, allowed, view, engine.retrievers(), settings, query.wanted)
    holding = set(worded)
    near = _near(ranked, plan, view, holding, settings.similarity_floor, 0 if query.words_only else NEAREST)
    first = set(near)
    matches = _matches([*near, *(key for key in worded if key not in first)], holding, view.snapshot)
    return FoundPassages(
        query,
        _grouped(matches, query),
        count,
        len(snapshot.documents),
        language=plan.language,
        wanted=wanted,
        vector=ranked.found.queries[:1],
        warnings=tuple(dict.fromkeys((*warnings, *ranked.warnings))),
        seconds=time.perf_counter() - started,
    )


def worded_children(
    engine: Engine, wanted: WantedWords, allowed: Collection[int] | None, snapshot: Snapshot
) -> tuple[list[int], tuple[Message, ...]]:
    """Return the visible children that hold the words, by BM25; none with a warning where the index is unavailable."""
    try:
        found = [key for key, _ in engine.collection.sparse().holding(wanted, allowed=allowed)]
    except SextantError as error:
        return [], (Message("Searched by meaning only: {error}", error=error),)
    visible = set(snapshot.keys[snapshot.positions(np.array(found, np.int64))].tolist())
    return [key for key in found if key in visible], ()


def _near(
    ranked: Ranked, plan: QueryPlan, view: CollectionView, worded: Collection[int], floor: float, nearest: int
) -> list[int]:
    """Return the ranked children that hold the words or are among the nearest in meaning, in their order."""
    documents, calibration = view.snapshot.documents, view.manifest.calibration
    near: list[tuple[float, int]] = []
    rows = zip(ranked.keys.tolist(), ranked.owners.tolist(), ranked.cosines.tolist(), strict=True)
    for key, owner, cosine in rows:
        # Without the encoder nothing is known of meaning, and what holds some of the words is no match.
        if key not in worded and ranked.found.queries.size:
            pair = languages_of(plan.language, documents[owner].metadata.language)
            if calibration.similarity(cosine, pair) >= floor:
                near.append((-cosine, key))
    kept = {key for _, key in nsmallest(nearest, near)}.union(worded)
    return [key for key in ranked.keys.tolist() if key in kept]


def _matches(keys: Sequence[int], worded: Collection[int], snapshot: Snapshot) -> Iterator[PassageMatch]:
    """Yield the visible ones of the children, in the order given."""
    sought = np.array(keys, np.int64)
    places = np.minimum(np.searchsorted(snapshot.keys, sought), len(snapshot) - 1)
    visible = snapshot.keys[places] == sought
    pairs = zip(sought[visible].tolist(), snapshot.owners[places[visible]].tolist(), strict=True)
    for rank_, (key, owner) in enumerate(pairs, start=1):
        yield PassageMatch(key, snapshot.documents[owner], rank_, key in worded)


def _browsed(snapshot: Snapshot, allowed: Collection[int]) -> tuple[DocumentMatches, ...]:
    """Return the allowed documents, the latest first, each with its first passage."""
    # Keys ascend in reading order, and a child's first place in the array is its document's beginning.
    owners, firsts = np.unique(snapshot.owners, return_index=True)
    first = dict(zip(owners.tolist(), snapshot.keys[firsts].tolist(), strict=True))
    records = [snapshot.documents[key] for key in allowed if key in first and key in snapshot.documents]
    listed = sorted(records, key=lambda one: (_date(one), one.key), reverse=True)
    return tuple(
        DocumentMatches(record, (PassageMatch(first[record.key], record, rank_, worded=False),))
        for rank_, record in enumerate(listed, start=1)
    )


def in_order(found: FoundPassages, query: PassageQuery) -> FoundPassages:
    """Return what was found for a query that differs in its order alone."""
    return replace(found, query=query, documents=_sorted(found.documents, query) if query.words else found.documents)


def _grouped(matches: Iterator[PassageMatch], query: PassageQuery) -> tuple[DocumentMatches, ...]:
    groups: dict[int, list[PassageMatch]] = {}
    for match in matches:
        groups.setdefault(match.document.key, []).append(match)
    return _sorted([DocumentMatches(group[0].document, tuple(group)) for group in groups.values()], query)


def _sorted(groups: Iterable[DocumentMatches], query: PassageQuery) -> tuple[DocumentMatches, ...]:
    listed = sorted(groups, key=lambda group: group.matches[0].rank)
    if query.sort == "date":
        # Sorting is stable: documents of one date keep the order of relevance. What is only near in meaning comes last,
        # or a recent document about something else would be in front.
        listed.sort(key=lambda one: (one.worded > 0, _date(one.document)), reverse=True)
    return tuple(listed)


def _date(document: DocumentRecord) -> str:
    """Return the date by which a document is sorted, "" where none is known."""
    metadata = document.metadata
    return metadata.date or str(metadata.year or "")


def excluding_facets(engine: Engine, query: PassageQuery) -> tuple[filters.FilterObstacle, ...]:
    """Return the facets of a filter that exclude all that would be found without one of them, the most first.

    They count documents: those that the rest of the filter allows, or where the filter allows some and none holds the
    words, those that hold them.
    """
    snapshot = engine.collection.snapshot()
    obstacles = filters.filter_obstacles(query.wanted, snapshot.facets, snapshot.documents)
    if obstacles or not query.words:
        return obstacles
    found: list[filters.FilterObstacle] = []
    for name, values in query.wanted.items():
        rest = query.without(name)
        if not filters.filter_obstacles(rest.wanted, snapshot.facets, snapshot.documents) and (
            count := len(find_passages(engine, rest).documents)
        ):
            found.append(filters.FilterObstacle(name, values, count))
    return tuple(sorted(found, key=lambda one: -one.documents))


@dataclass(frozen=True, slots=True)
class PassageQuery:
    """Words to search for, the filter and the order; without words, the documents that the filter allows.

    With `words_only` a passage has to hold the words, however near it is in meaning.
    """

    words: str = ""
    wanted: filters.Filter = field(default_factory=dict)
    sort: SortOrder = "relevance"
    words_only: bool = False

    def __bool__(self) -> bool:
        return bool(self.words or self.wanted)

    def parameters(self) -> dict[str, list[str]]:
        """Return the parameters of the address that reproduces the search; what is usual is left out."""
        named: dict[str, list[str]] = {
            _WORDS: [self.words] if self.words else [],
            _SORT: [self.sort] if self.sort != "relevance" else [],
        }
        named |= {_MATCH: [_ALL_WORDS] if self.words_only else []}
        named |= {name: list(self.wanted[name]) for name in _FILTERS if name in self.wanted}
        return {name: values for name, values in named.items() if values}

    def without(self, name: str) -> PassageQuery:
        """Return the query without one of the facets of its filter."""
        return replace(self, wanted=filters.without(self.wanted, name))

    def toggled(self, name: str, value: str) -> PassageQuery:
        """Return the query with a value of a facet chosen, or without it where it was."""
        before = self.wanted.get(name, ())
        after = tuple(one for one in before if one != value) if value in before else (*before, value)
        return self.with_values(name, after)

    def with_values(self, name: str, values: Sequence[str]) -> PassageQuery:
        """Return the query with these values of a facet; none leave it out."""
        rest = filters.without(self.wanted, name)
        return replace(self, wanted={**rest, name: tuple(values)} if values else rest)


def read_query(parameters: Mapping[str, Sequence[str]]) -> PassageQuery:
    """Return the query that the parameters of an address name; what cannot be read counts as not named."""
    words = " ".join(" ".join(parameters.get(_WORDS, ())).split())
    sort = next((one for one in SORT_ORDERS if one in parameters.get(_SORT, ())), SORT_ORDERS[0])
    named = {name: tuple(dict.fromkeys(filter(None, parameters.get(name, ())))) for name in _FILTERS}
    named[filters.AS_OF] = tuple(filter(filters.is_date, named[filters.AS_OF]))
    words_only = _ALL_WORDS in parameters.get(_MATCH, ())
    return PassageQuery(words, {name: values for name, values in named.items() if values}, sort, words_only)


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
