"""Words that a text has in common with one of another language: names and words of one origin."""

from __future__ import annotations

import re
from collections.abc import Collection

from rapidfuzz import fuzz, process

from rag_engine.text.analyzer import surface
from rag_engine.text.stopwords import stopwords

# From here on (of 100) two words of different languages count as one: gouvernement and government.
_ALIKE = 75.0
SHORTEST_ALIKE = 5
# Spellings of one sound, so that Warschau, Varşova and Varsavia meet Warsaw, and mekanizma mechanism.
_SOUNDS = {"sch": "s", "sh": "s", "ch": "c", "ph": "f", "th": "t", "qu": "c"}
_SOUNDS |= {"w": "v", "k": "c", "q": "c", "z": "s", "y": "i"}
_SPELLING = re.compile("|".join(_SOUNDS))
_DOUBLED = re.compile(r"(.)\1+")


def is_known(word: str, known: Collection[str]) -> bool:
    """Return whether a folded word is among those known, in another form or the spelling of another language too."""
    if word in known:
        return True
    if len(word) < SHORTEST_ALIKE:
        return False
    return process.extractOne(word, known, scorer=fuzz.ratio, score_cutoff=_ALIKE) is not None


def share_sounding_alike(question: str, language: str, text: str) -> float:
    """Return the share of a question's words that sound like one of a text in another language, 0 to 1.

    Short words and numbers have to be the same.
    """
    left_out = stopwords(language)
    words = {_sound(word) for word in surface(question) if word not in left_out}
    known = {_sound(word) for word in surface(text)}
    return sum(is_known(word, known) for word in words) / len(words) if words else 0.0


def _sound(word: str) -> str:
    """Return a folded word with one spelling for each sound and no doubled letter."""
    return _DOUBLED.sub(r"\1", _SPELLING.sub(lambda match: _SOUNDS[match.group()], word))
