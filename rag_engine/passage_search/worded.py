"""Passages that hold the words of a search: all in one passage, or anywhere in a document."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from rag_engine.engine import Engine
from rag_engine.errors import SextantError
from rag_engine.messages import Message
from rag_engine.storage.catalog import portions
from rag_engine.storage.snapshot import Snapshot
from rag_engine.text.words.key_words import WantedWord, WantedWords, holds_words, words_held
from rag_engine.text.words.search_words import Every, all_leaves, holds

# Up to so many words, documents that have them in several passages are told of. Long questions are in no one's way.
_TOLD_UP_TO = 6

# Keys of children with their BM25, best first.
Bm25Scores = Mapping[int, float]


@dataclass(frozen=True, slots=True)
class Worded:
    """Keys of the passages that the words found, best first.

    `parts` are those that hold some of the words, in a document of all. `scattered` is the number of further documents
    that have the words, but not in one passage.
    """

    passages: tuple[int, ...] = ()
    parts: frozenset[int] = frozenset()
    scattered: int = 0


def find_worded(
    engine: Engine, wanted: WantedWords, allowed: Collection[int] | None, snapshot: Snapshot, *, anywhere: bool
) -> tuple[Worded, tuple[Message, ...]]:
    """Return the visible passages that hold what is wanted.

    `anywhere` finds the passages with one of the words in each document that has them all, in its title too. If the
    index is unavailable, return none and a warning.
    """
    try:
        whole = _holding(engine, wanted, allowed, snapshot)
        if not anywhere and not 1 < len(wanted.words) <= _TOLD_UP_TO:
            return Worded(tuple(whole)), ()
        words = list(all_leaves(wanted.tree))
        found = [_holding(engine, WantedWords(Every((word,))), allowed, snapshot) for word in words]
    except SextantError as error:
        return Worded(), (Message("Searched by meaning only: {error}", error=error),)
    documents = _documents(wanted, words, found, snapshot)
    if not anywhere:
        return Worded(tuple(whole), scattered=len(documents - {snapshot.owner_of(key) for key in whole})), ()
    sought = set(map(id, wanted.words))
    held = [scores for word, scores in zip(words, found, strict=True) if id(word) in sought]
    passages = tuple(_in_turn(held, documents, snapshot))
    return Worded(passages, frozenset(passages) - whole.keys()), ()


def _holding(engine: Engine, wanted: WantedWords, allowed: Collection[int] | None, snapshot: Snapshot) -> Bm25Scores:
    """Return the visible children that hold what is wanted; numbers are looked at in the text."""
    found = dict(engine.collection.sparse().holding(wanted, allowed=allowed))
    visible = snapshot.keys[snapshot.positions(np.array(list(found), np.int64))].tolist()
    if any(word.values for word in wanted.words):
        documents = snapshot.documents
        visible = [
            key
            for some in portions(visible)
            for key, record in engine.catalog.children(some).items()
            if holds_words(record.text, documents[snapshot.owner_of(key)].metadata.language, wanted)
        ]
    kept = set(visible)
    return {key: score for key, score in found.items() if key in kept}


def _documents(
    wanted: WantedWords, words: Sequence[WantedWord], found: Sequence[Bm25Scores], snapshot: Snapshot
) -> frozenset[int]:
    """Return the documents that have what is wanted in their passages and their title."""
    having = [{snapshot.owner_of(key) for key in scores} for scores in found]
    met = set[int]()
    for document in frozenset().union(*having):
        metadata = snapshot.documents[document].metadata
        titled = words_held(metadata.title, metadata.language, words)
        there = {
            id(word) for word, title, owners in zip(words, titled, having, strict=True) if title or document in owners
        }
        if holds(wanted.tree, lambda word, there=there: id(word) in there):  # type: ignore[misc]
            met.add(document)
    return frozenset(met)


def _in_turn(held: Sequence[Bm25Scores], documents: Collection[int], snapshot: Snapshot) -> Iterator[int]:
    """Yield passages, the best document first: the best passage with each word, then the other ones."""
    by_document: defaultdict[int, list[Bm25Scores]] = defaultdict(list)
    for scores in held:
        grouped: defaultdict[int, dict[int, float]] = defaultdict(dict)
        for key, score in scores.items():
            if (owner := snapshot.owner_of(key)) in documents:
                grouped[owner][key] = score
        for owner, own in grouped.items():
            by_document[owner].append(own)
    firsts = {owner: [next(iter(own.items())) for own in several] for owner, several in by_document.items()}
    for owner in sorted(firsts, key=lambda one: (-sum(score for _, score in firsts[one]), one)):
        rest = sorted(
            (item for own in by_document[owner] for item in own.items()), key=lambda item: (-item[1], item[0])
        )
        yield from dict.fromkeys(key for key, _ in (*firsts[owner], *rest))
