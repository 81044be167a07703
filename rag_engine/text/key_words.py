"""Key words of a search: stems, phrases, and the places where a text has them."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from rag_engine.text.analyzer import cited_words, has_long_words, located_words, stems_of, surface
from rag_engine.text.excerpt import merged_spans
from rag_engine.text.sentences import Span

_PHRASE = re.compile('"([^"\n]{2,200})"|“([^”\n]{2,200})”|„([^“”\n]{2,200})[“”]|«\\s*([^»\n]{2,200}?)\\s*»')
# In a language of long words a stem this long also matches the words that begin with it.
_LEAST_OPENING = 4


@dataclass(frozen=True, slots=True)
class WantedWords:
    """The words that a passage must have, all of them: stems by language, and phrases.

    `stems` leaves out a language in which every word is a stop word. Without stems the phrases are all.
    """

    stems: Mapping[str, tuple[str, ...]]
    phrases: tuple[tuple[str, ...], ...] = ()

    def __bool__(self) -> bool:
        return bool(self.stems or self.phrases)


def wanted_words(text: str, language: str, languages: Collection[str]) -> WantedWords:
    """Return the key words of a query, for passages of several languages.

    `language` is the query's, "" where it is not known; its stop words are left out. Words between quotation marks are
    a phrase.
    """
    phrases = tuple(tuple(surface(next(filter(None, match.groups())))) for match in _PHRASE.finditer(text))
    cited = cited_words(_PHRASE.sub(" ", text), language)
    # As they are found: in a word of two scripts each script is a word.
    words = [
        piece for word in cited for _, _, piece in located_words(word) if not language or stems_of(piece, language)
    ]
    stems = {one: tuple(dict.fromkeys(stem for word in words for stem in stems_of(word, one))) for one in languages}
    return WantedWords({one: some for one, some in stems.items() if some}, tuple(filter(None, phrases)))


def stands_for_longer(stem: str, language: str) -> bool:
    """Return whether the stem also matches longer words: Hochwasser for Hochwasserschutz."""
    return has_long_words(language) and len(stem) >= _LEAST_OPENING and stem.isalpha()


def find_key_words(text: str, language: str, wanted: WantedWords) -> tuple[Span, ...]:
    """Return the places [start, end) of the wanted words and phrases in a text.

    They are in order and do not overlap.
    """
    words = list(located_words(text))
    stems = wanted.stems.get(language, ())
    exact, opening = frozenset(stems), tuple(stem for stem in stems if stands_for_longer(stem, language))
    found = [
        (start, end)
        for start, end, word in words
        if any(term in exact or (opening and term.startswith(opening)) for term in stems_of(word, language))
    ]
    sequence = [(start, end, piece) for start, end, word in words for piece in surface(word)]
    for phrase in wanted.phrases:
        for first in range(len(sequence) - len(phrase) + 1):
            some = sequence[first : first + len(phrase)]
            if tuple(piece for _, _, piece in some) == phrase:
                found.append((some[0][0], some[-1][1]))
    return tuple(merged_spans(found))
