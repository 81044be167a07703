"""Finding passages: all with the key words of a query, and the nearest ones in meaning."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from heapq import nsmallest

import numpy as np

from rag_engine.answering_documents import answering_documents, narrowed
from rag_engine.calibration import languages_of
from rag_engine.engine import Engine
from rag_engine.errors import InputError
from rag_engine.geography import load_gazetteer
from rag_engine.messages import Message
from rag_engine.passage_search.passage_query import PassageQuery
from rag_engine.passage_search.struck import StruckMatch, find_struck
from rag_engine.passage_search.worded import Worded, find_worded
from rag_engine.planning.plan import plan_question
from rag_engine.protocols import Vectors
from rag_engine.retrieval.ranking import Ranked, rank
from rag_engine.storage.snapshot import CollectionView, Snapshot
from rag_engine.text.words.key_words import WantedWords, leaves_out, wanted_words
from rag_engine.text.words.search_words import Without, read_search
from rag_engine.types.document import DocumentRecord
from rag_engine.types.evidence import QueryPlan

# The most passages without all of the words that are found by meaning. No score tells where other subjects begin, and
# further down few passages are about the query.
NEAREST = 20
# The similarity to which chance seldom comes (rag_engine/calibration.py).
_MODERATE = 0.5


@dataclass(frozen=True, slots=True)
class PassageMatch:
    """A passage that was found.

    `key` is the key of its child, `rank` its place by relevance from 1, and `worded` whether the words found it. It is
    not `whole` if the words were found in several passages of the document.
    """

    key: int
    document: DocumentRecord
    rank: int
    worded: bool
    whole: bool = True

    @property
    def all_words(self) -> bool:
        """Whether the passage itself holds all that is wanted."""
        return self.worded and self.whole


@dataclass(frozen=True, slots=True)
class DocumentMatches:
    """Passages that were found in a document, the most relevant first."""

    document: DocumentRecord
    matches: tuple[PassageMatch, ...]

    @property
    def worded(self) -> int:
        """Number of passages that the words found."""
        return sum(match.worded for match in self.matches)


@dataclass(frozen=True, slots=True, eq=False)
class FoundPassages:
    """Result of a search: the documents in its order, each with the passages found in it by words.

    `near` are the passages that are only near in meaning. `allowed` is how many of the `held` documents the filter
    allows. `vector` is the query's (1, dimension), without rows if it was not encoded. Without words a match is the
    first passage of a document. `scattered` is the number of documents that have the words in no single passage, if
    the words have to be in one.
    """

    query: PassageQuery
    documents: tuple[DocumentMatches, ...]
    allowed: int
    held: int
    language: str = ""
    wanted: WantedWords = field(default_factory=WantedWords)
    vector: Vectors = field(default_factory=lambda: np.zeros((0, 0), np.float32))
    warnings: tuple[Message, ...] = ()
    seconds: float = 0.0
    struck: tuple[StruckMatch, ...] = ()
    near: tuple[DocumentMatches, ...] = ()
    scattered: int = 0

    @property
    def groups(self) -> tuple[DocumentMatches, ...]:
        """The documents found by words, and after them what is near in meaning, by document."""
        return (*self.documents, *self.near)

    @property
    def matches(self) -> tuple[PassageMatch, ...]:
        """Every passage by relevance, or document by document if sorted by date, the near ones last."""
        listed = [match for group in self.groups for match in group.matches]
        return tuple(sorted(listed, key=lambda one: one.rank) if self.query.sort == "relevance" else listed)

    @property
    def worded(self) -> int:
        """Number of passages that the words found."""
        return sum(group.worded for group in self.documents)

    @property
    def matching(self) -> int:
        """Number of documents found by the words; without words, of documents that the filter allows."""
        return len(self.documents) if self.query.words else self.allowed

    def __len__(self) -> int:
        return sum(len(group.matches) for group in self.groups)


def find_passages(engine: Engine, query: PassageQuery) -> FoundPassages:
    """Return every passage that holds the key words of a query, and up to 20 others near in meaning.

    No language model is asked, and no passage is reranked. Struck words are found if the query includes them. Without
    words, the first passage of every allowed document is returned. A filter value that no document has allows none;
    InputError for an unknown filter, or if words are only left out.
    """
    started = time.perf_counter()
    snapshot = engine.collection.snapshot()
    allowed = answering_documents(query.wanted, snapshot.facets, snapshot.documents, strict=False)
    allowed = narrowed(query.words, allowed, snapshot.documents)
    count = len(snapshot.documents if allowed is None else allowed)
    if not count or engine.collection.manifest() is None:
        return FoundPassages(query, (), count, len(snapshot.documents))
    if not query.words:
        groups = _browsed(snapshot, snapshot.documents if allowed is None else allowed)
        return FoundPassages(query, groups, count, len(snapshot.documents), seconds=time.perf_counter() - started)
    plain = sought_words(query.words)
    plan = plan_question(
        plain, identify=engine.language_of, gazetteer=load_gazetteer(), generator=None, config=engine.config
    )
    languages = {document.metadata.language for document in snapshot.documents.values()}
    wanted = wanted_words(query.words, plan.language, languages)
    worded, warnings = find_worded(engine, wanted, allowed, snapshot, anywhere=query.anywhere)
    view = engine.collection.view()
    settings = engine.retrieval(rerank=False)
    ranked = rank(plan, allowed, view, engine.retrievers(), settings, query.wanted)
    order = {key: place for place, key in enumerate(ranked.keys.tolist())}
    # Ranked ones first; in several passages of a document the words are sought one by one.
    held = worded.passages if query.anywhere else sorted(worded.passages, key=lambda key: order.get(key, len(order)))
    near = [] if query.by_words else _near(ranked, plan, view, worded, wanted, settings.similarity_floor)
    matches = list(_matches([*held, *near], worded, view.snapshot))
    return FoundPassages(
        query,
        _grouped((match for match in matches if match.worded), query),
        count,
        len(snapshot.documents),
        language=plan.language,
        wanted=wanted,
        vector=ranked.found.queries[:1],
        warnings=tuple(dict.fromkeys((*warnings, *ranked.warnings))),
        seconds=time.perf_counter() - started,
        struck=find_struck(engine.catalog, view.snapshot, wanted, allowed) if query.struck else (),
        near=_grouped((match for match in matches if not match.worded), query),
        scattered=worded.scattered,
    )


def sought_words(words: str) -> str:
    """Return the words of a search to be found by meaning; InputError if words are only left out."""
    search = read_search(words)
    if search.operated and not search.plain:
        raise InputError("Nothing is left to search for.", help="Give a word that passages have to contain.")
    return search.plain


def _near(
    ranked: Ranked, plan: QueryPlan, view: CollectionView, worded: Worded, wanted: WantedWords, floor: float
) -> list[int]:
    """Return the ranked children without the words that are nearest to them in meaning, in their order.

    Where the words found passages, chance must not bring the others so near.
    """
    documents, calibration = view.snapshot.documents, view.manifest.calibration
    held = set(worded.passages)
    floor = max(floor, _MODERATE) if held else floor
    # In another language, words that are left out are not known.
    one_language = plan.language if any(isinstance(part, Without) for part in wanted.tree.parts) else ""
    near: list[tuple[float, int]] = []
    rows = zip(ranked.keys.tolist(), ranked.owners.tolist(), ranked.cosines.tolist(), strict=True)
    for key, owner, cosine in rows:
        # Without the encoder meaning is unknown, and a passage with some of the words is no match.
        written = documents[owner].metadata.language
        if key not in held and ranked.found.queries.size and one_language in ("", written):
            pair = languages_of(plan.language, written)
            if calibration.similarity(cosine, pair) >= floor:
                near.append((-cosine, key))
    kept = set(nsmallest(NEAREST, near))
    records = view.catalog.children([key for _, key in kept])
    forbidden = {
        key
        for key, record in records.items()
        if leaves_out(record.text, documents[record.parent.document_key].metadata.language, wanted)
    }
    allowed = records.keys() - forbidden
    return [key for key in ranked.keys.tolist() if key in allowed]


def _matches(keys: Sequence[int], worded: Worded, snapshot: Snapshot) -> Iterator[PassageMatch]:
    """Yield the visible ones of the children, in the order given."""
    positions, held = snapshot.positions(np.array(keys, np.int64)), set(worded.passages)
    pairs = zip(snapshot.keys[positions].tolist(), snapshot.owners[positions].tolist(), strict=True)
    for rank_, (key, owner) in enumerate(pairs, start=1):
        yield PassageMatch(key, snapshot.documents[owner], rank_, key in held, key not in worded.parts)


def _browsed(snapshot: Snapshot, allowed: Collection[int]) -> tuple[DocumentMatches, ...]:
    """Return the allowed documents, the latest first, each with its first passage."""
    # Keys ascend in reading order, and a child's first place in the array is its document's beginning.
    owners, firsts = np.unique(snapshot.owners, return_index=True)
    first = dict(zip(owners.tolist(), snapshot.keys[firsts].tolist(), strict=True))
    records = [snapshot.documents[key] for key in allowed if key in first and key in snapshot.documents]
    listed = sorted(records, key=lambda document: (_date(document), document.key), reverse=True)
    return tuple(
        DocumentMatches(record, (PassageMatch(first[record.key], record, rank_, worded=False),))
        for rank_, record in enumerate(listed, start=1)
    )


def in_order(found: FoundPassages, query: PassageQuery) -> FoundPassages:
    """Return the results in the order of a query that differs in its order alone."""
    if not query.words:
        return replace(found, query=query)
    documents, near = (_sorted(groups, query) for groups in (found.documents, found.near))
    return replace(found, query=query, documents=documents, near=near)


def _grouped(matches: Iterable[PassageMatch], query: PassageQuery) -> tuple[DocumentMatches, ...]:
    groups: dict[int, list[PassageMatch]] = {}
    for match in matches:
        groups.setdefault(match.document.key, []).append(match)
    return _sorted([DocumentMatches(group[0].document, tuple(group)) for group in groups.values()], query)


def _sorted(groups: Iterable[DocumentMatches], query: PassageQuery) -> tuple[DocumentMatches, ...]:
    listed = sorted(groups, key=lambda group: group.matches[0].rank)
    if query.sort == "date":
        # Sorting is stable: documents of one date keep the order of relevance.
        listed.sort(key=lambda one: _date(one.document), reverse=True)
    return tuple(listed)


def _date(document: DocumentRecord) -> str:
    """Return the date by which a document is sorted, or ""."""
    metadata = document.metadata
    return metadata.date or str(metadata.year or "")
