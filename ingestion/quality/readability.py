"""Readability of OCR: the share of a text that looks like words of its language."""

from __future__ import annotations

import re

from rag_engine.text.folding import fold
from rag_engine.text.letter_pairs import is_made_of, usual_pairs
from rag_engine.text.stopwords import stopwords

# What is between blanks, without the signs around it; its parts between hyphens, apostrophes, points and strokes.
_TOKEN = re.compile(r"\S+")
_EDGES = re.compile(r"^[\W_]+|[\W_]+$")
_WORD = re.compile(r"[^\W\d_]+")
_JOINTS = re.compile(r"[-‐‑–'’./&]")
# A word in capitals up to this length may be an acronym, which follows no rule: it counts half.
_ACRONYM = 5
_ENOUGH_LETTERS = 60
_LONGEST_WORD = 100
# Running text has a function word of three letters or more in every four to eight words, a form in every twelve.
_USUAL_SHARE = 0.08
_ENOUGH_WORDS = 80
# A sample from all over the text tells as much as the whole of it.
_SAMPLE = 200_000
_PIECES = 20


def readability(text: str, language: str) -> float:
    """Return share 0..1 of the letters that stand in words of the language: function words, or made of its usual pairs.

    Running text has .8 to .98, letters in a wrong order .2 to .45. A language without a table of pairs
    (data/letter_pairs.toml) is judged by its function words alone: 1 where they are as frequent as a form has them,
    less below. Without those too, and with few words, nothing is known, and that is 1.
    """
    sample = _sample(text)
    pairs = usual_pairs().get(language)
    functions = stopwords(language)
    if pairs is None:
        # Arabic joins its function words to the next word, so that they cannot be counted.
        return 1.0 if language == "ar" else _by_function_words(sample, functions)
    counted = good = 0.0
    for token in _TOKEN.findall(sample):
        bare = _EDGES.sub("", token[:_LONGEST_WORD])
        if not any(letter.isalpha() for letter in bare):
            continue
        for part in _JOINTS.split(bare):
            if part and not part.isdigit():
                counted += len(part)
                good += len(part) * _looks_right(part, pairs, functions)
    return round(good / counted, 3) if counted >= _ENOUGH_LETTERS else 1.0


def _by_function_words(sample: str, functions: frozenset[str]) -> float:
    words = [fold(word) for word in _WORD.findall(sample)]
    if not functions or len(words) < _ENOUGH_WORDS:
        return 1.0
    # Short ones come about by chance.
    share = sum(len(word) > 2 and word in functions for word in words) / len(words)
    return round(min(1.0, share / _USUAL_SHARE), 3)


def _sample(text: str) -> str:
    if len(text) <= _SAMPLE:
        return text
    step, size = len(text) // _PIECES, _SAMPLE // _PIECES
    return " ".join(text[start : start + size] for start in range(0, step * _PIECES, step))


def _looks_right(word: str, pairs: frozenset[str], functions: frozenset[str]) -> float:
    folded = fold(word)
    if folded in functions:
        return 1.0
    if word.isupper() and len(word) <= _ACRONYM:
        return 0.5
    return float(is_made_of(word, pairs))
