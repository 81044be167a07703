"""Finding words in one document, and documents by their titles, descriptions and texts."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from rag_engine.protocols import SparseIndex
from rag_engine.storage.indexer import page_at
from rag_engine.storage.snapshot import Snapshot
from rag_engine.text.analyzer import analyse
from rag_engine.text.folding import fold, fold_in_place
from rag_engine.types.document import DocumentRecord
from rag_engine.viewer.pages import PagedText


@dataclass(frozen=True, slots=True)
class Occurrence:
    """Characters [start, end) of a document's text that hold the words that were sought, and their page."""

    start: int
    end: int
    page: int


@dataclass(frozen=True, slots=True)
class FoundWords:
    """The first places in a document that hold the words that were sought, and how many there are in all."""

    first: tuple[Occurrence, ...]
    total: int


def find_words(document: PagedText, words: str, limit: int) -> FoundWords:
    r"""Return the first `limit` places where the words follow each other, in reading order.

    "Uberprufung" finds "Überprüfung". A space matches any white space, so that a phrase is found across lines.

    >>> find_words(PagedText("Überprüfung\nder Deiche", (), (), pages=1), "uberprufung der", limit=5).first
    (Occurrence(start=0, end=15, page=1),)
    """
    # Split before it is folded: a sign such as "¨" alone folds to a blank.
    wanted = [re.escape(fold_in_place(word)) for word in words.split()]
    found = list(re.finditer(r"\s+".join(wanted), fold_in_place(document.text))) if wanted else []
    first = [match.span() for match in found[:limit]]
    return FoundWords(tuple(Occurrence(*span, page_at(document.lines, span[0])) for span in first), len(found))


def find_documents(snapshot: Snapshot, sparse: SparseIndex, words: str) -> dict[int, tuple[str, ...]]:
    """Return the keys of the documents that hold every word, each with the places of the words.

    The places are "title", "authority", "summary" and "text". In a text other forms of a word count too, by the keyword
    search of the document's language. Function words such as "the" and "of" count only if there are no others.
    """
    languages = sorted({record.metadata.language for record in snapshot.documents.values()})
    asked = list(dict.fromkeys(words.split()))
    telling = [word for word in asked if all(analyse(word, language) for language in languages)] or asked
    found: dict[int, set[str]] = {key: set() for key in snapshot.documents}
    for word in telling:
        here = {key: _described(word, record) for key, record in snapshot.documents.items()}
        for key in _in_texts(word, languages, snapshot, sparse):
            # The index holds the title with every passage: a word of it says nothing of the text.
            here[key] |= set() if "title" in here[key] else {"text"}
        found = {key: places | here[key] for key, places in found.items() if here[key]}
    order = ("title", "authority", "summary", "text")
    return {key: tuple(sorted(places, key=order.index)) for key, places in found.items()}


def _described(word: str, record: DocumentRecord) -> set[str]:
    metadata, wanted = record.metadata, fold(word)
    texts = {
        "title": f"{metadata.title} {record.file}",
        "authority": metadata.authority,
        "summary": f"{metadata.description} {metadata.target}",
    }
    return {place for place, text in texts.items() if wanted in fold(text)}


def _in_texts(word: str, languages: Iterable[str], snapshot: Snapshot, sparse: SparseIndex) -> set[int]:
    """Return the keys of the documents whose text has the word, in one of its forms."""
    hits = (key for language in ("", *languages) for key, _ in sparse.search(word, language, max(1, len(snapshot))))
    keys = np.fromiter(dict.fromkeys(hits), np.int64)
    return set(snapshot.owners[snapshot.positions(np.sort(keys))].tolist())
