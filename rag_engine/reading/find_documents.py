"""Documents found by words in their titles, their descriptions and their texts."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from rag_engine.protocols import SparseIndex
from rag_engine.storage.snapshot import Snapshot
from rag_engine.text.analyzer import analyse
from rag_engine.text.folding import fold
from rag_engine.types import DocumentRecord


def find_documents(snapshot: Snapshot, sparse: SparseIndex, words: str) -> dict[int, tuple[str, ...]]:
    """Return the keys of the documents that hold every word, each with where: "title", "authority", "summary", "text".

    In a text a word is found in its other forms too, as the keyword search of the document's language has it; words
    that say nothing by themselves, as "the" and "of", count only where there is no other.
    """
    languages = sorted({record.metadata.language for record in snapshot.documents.values()})
    asked = list(dict.fromkeys(words.split()))
    telling = [word for word in asked if all(analyse(word, language) for language in languages)] or asked
    found: dict[int, set[str]] | None = None
    for word in telling:
        here = {key: _described(word, record) for key, record in snapshot.documents.items()}
        for key in _in_texts(word, languages, snapshot, sparse):
            # The index holds the title with every passage: a word of it says nothing of the text.
            here[key] |= set() if "title" in here[key] else {"text"}
        held = {key: places for key, places in here.items() if places}
        found = held if found is None else {key: found[key] | held[key] for key in found.keys() & held.keys()}
    order = ("title", "authority", "summary", "text")
    return {key: tuple(sorted(places, key=order.index)) for key, places in (found or {}).items()}


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
