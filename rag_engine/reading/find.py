"""Finding words in one document, whatever their case, accents and line breaks."""

from __future__ import annotations

import re
from dataclasses import dataclass

from rag_engine.reading.pages import PagedText
from rag_engine.storage.indexer import page_at
from rag_engine.text.folding import fold_in_place


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
    """Return the first so many places where the words stand one after the other, in reading order.

    "Uberprufung" finds "Überprüfung", and a space any white space, so that a phrase is found across lines.
    """
    # Split before it is folded: a sign such as "¨" alone folds to a blank.
    wanted = [re.escape(fold_in_place(word)) for word in words.split()]
    found = list(re.finditer(r"\s+".join(wanted), fold_in_place(document.text))) if wanted else []
    first = [one.span() for one in found[:limit]]
    return FoundWords(tuple(Occurrence(*span, page_at(document.lines, span[0])) for span in first), len(found))
