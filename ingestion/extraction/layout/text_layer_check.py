"""Check of text layers against what the page shows: some fonts name other characters than they draw."""

from __future__ import annotations

import re
from functools import cache

from rag_engine.text.stopwords import listed_stopwords

_WORD = re.compile(r"[^\W\d_]{2,}")
# Fewer words could be a list of names, a table or a title page.
_ENOUGH_WORDS = 80
# Running text has a function word in every two to five words, in each of the languages that are listed; a form or a
# table of contents in every ten. Scrambled text meets one or two of them by chance, if often.
_LEAST_SHARE = 0.02
_LEAST_KINDS = 5


def is_scrambled(text: str) -> bool:
    """Return whether a longer text in Latin letters holds next to no function word of any language we know."""
    if _reads_well(text):
        return False
    words = [word.casefold() for word in _WORD.findall(text)]
    if len(words) < _ENOUGH_WORDS or not _is_latin("".join(words)):
        return False
    met = [word for word in words if word in _function_words()]
    return len(met) < _LEAST_SHARE * len(words) or len(set(met)) < _LEAST_KINDS


def _reads_well(text: str) -> bool:
    """Return whether plain words between spaces settle it already, as they do for nearly every page of running text."""
    tokens = text.lower().split()
    met = [token for token in tokens if token in _function_words()]
    return len(met) >= 4 * _LEAST_SHARE * len(tokens) and len(set(met)) >= _LEAST_KINDS


def _is_latin(letters: str) -> bool:
    """Return whether nearly all letters are of the Latin script, the only one whose function words are listed."""
    return sum(letter < "\u0250" for letter in letters) > 0.9 * len(letters)


@cache
def _function_words() -> frozenset[str]:
    return frozenset(word for words in listed_stopwords().values() for word in words if len(word) > 1)
