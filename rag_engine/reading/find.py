"""Finding words in one document, whatever their case, accents and line breaks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from rag_engine.reading.pages import PagedText
from rag_engine.storage.indexer import page_at
from rag_engine.text.folding import fold_in_place


@dataclass(frozen=True, slots=True)
class Occurrence:
    """Characters [start, end) of a document's text that hold the words that were sought, and their page."""

    start: int
    end: int
    page: int


def find_words(document: PagedText, words: str, limit: int) -> tuple[Occurrence, ...]:
    """Return the first so many places where the words stand one after the other, in reading order.

    "Uberprufung" finds "Überprüfung", and a space any white space, so that a phrase is found across lines.
    """
    return tuple(islice(_occurrences(document, words), limit))


def _occurrences(document: PagedText, words: str) -> Iterator[Occurrence]:
    # Split before it is folded: a sign such as "¨" alone folds to a blank.
    wanted = [re.escape(fold_in_place(word)) for word in words.split()]
    if wanted:
        for match in re.finditer(r"\s+".join(wanted), fold_in_place(document.text)):
            yield Occurrence(match.start(), match.end(), page_at(document.lines, match.start()))
