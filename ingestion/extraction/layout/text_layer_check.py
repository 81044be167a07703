"""Check of text layers against what the page shows: some fonts name other characters than they draw."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache, lru_cache

from rag_engine.text.letter_pairs import is_made_of, usual_pairs
from rag_engine.text.stopwords import listed_stopwords

# Words, codes and what is left of scrambled words; a part without a letter says nothing.
_PART = re.compile(r"[^\s\-‐‑–—'’./&_|,;:()\[\]\"“”«»„]*[^\W\d_][^\s\-‐‑–—'’./&_|,;:()\[\]\"“”«»„]*")
# What prose, tables and formulas have little of; lines of dots and dashes lead from a heading to its page.
_SIGN = re.compile(r"[!\"#$%&'()+,/:;<=>?@\\^`{}~¡-¿]")
_ACRONYM = 5
# Fewer letters could be a drawing with its measures, a list of codes or a title page.
_ENOUGH_LETTERS = 150
# Letters in words made of the usual pairs of one language: .33 to 1 in some thirty languages, lists of names and of
# references; below .25 for nearly every exchange of letters. With the pairs of all languages twice that. In between,
# a page that has next to no function word is no language either.
_WORDLESS = 0.3
_FEW_WORDS = 0.5
_SURELY_WORDS = 0.75
_CLEARLY_WORDS = 0.9
_SAMPLED = 3
_ENOUGH_LINES = 8
# A line of text has two function words or more, and one in every four words or so; more words need not be looked at.
_WORDS_A_FUNCTION_WORD = 4
# Some of a page's fonts may be in order: lines of so many letters count alone, and so many of them spoil the page.
_LINE_LETTERS = 12
_SPOILT = 0.4
# Running text has a function word in every two to five words, a form or a table of contents in every ten. Scrambled
# text meets one or two of them by chance, if often; a list may have none among fewer words.
_WORD = re.compile(r"[^\W\d_]{2,}")
_ENOUGH_WORDS = 80
_LEAST_SHARE = 0.02
_LEAST_KINDS = 5
_LATIN = re.compile("[A-Za-zÀ-ɏḀ-ỿ]")
_GREEK = re.compile("[Ͱ-Ͽἀ-῿]")


def is_scrambled(lines: Iterable[str]) -> bool:
    """Return whether the lines of a page in Latin or Greek letters are no language, for much of the page or all of it.

    They are not where they hold next to no word that is made as words of a language are, or more signs than letters.
    """
    lines = list(lines)
    # Where lines all over the page are in order, no two fifths of it are spoilt.
    total, right, spoilt = _counted(lines[:: max(_SAMPLED, len(lines) // _ENOUGH_LINES)])
    if total >= _ENOUGH_LETTERS and right >= _CLEARLY_WORDS * total and not spoilt:
        return False
    total, right, spoilt = _counted(lines)
    in_part = spoilt > _SPOILT * total and spoilt >= 2 * _ENOUGH_LETTERS
    if right >= _SURELY_WORDS * total and total >= _ENOUGH_LETTERS and not in_part:
        return False
    text = " ".join(lines)
    shown = len(text.replace(" ", ""))
    if shown >= _ENOUGH_LETTERS and len(_SIGN.findall(text)) > 0.5 * shown:
        return True
    letters = sum(map(str.isalpha, text))
    if len(_LATIN.findall(text)) <= 0.9 * letters:
        # Text in Greek letters can be English in a font of symbols; other scripts are not judged.
        return len(_GREEK.findall(text)) > 0.9 * letters and _lacks_function_words(text)
    if total < _ENOUGH_LETTERS:
        return False
    share = _word_share(text)
    return in_part or share < _WORDLESS or (share < _FEW_WORDS and _lacks_function_words(text))


def _counted(lines: Iterable[str]) -> tuple[float, float, float]:
    """Return how many characters words have, those of what looks like words, and those of lines with next to none."""
    counts = [_word_letters(line) for line in lines]
    return (
        sum(count for count, _ in counts),
        sum(good for _, good in counts),
        sum(count for count, good in counts if count >= _LINE_LETTERS and good < _WORDLESS * count),
    )


def _word_letters(line: str) -> tuple[float, float]:
    """Return how many characters the words of a line have, and how many of them stand in words that look like words."""
    tokens = line.split()
    functions = _function_words()
    met = {token for token in tokens if token in functions}
    if len(met) > 1 and _WORDS_A_FUNCTION_WORD * len(met) >= len(tokens):
        return len(line), len(line)
    counts = [_token_letters(token) for token in tokens]
    return sum(count for count, _ in counts), sum(right for _, right in counts)


@lru_cache(maxsize=50_000)
def _token_letters(token: str) -> tuple[int, float]:
    words = _PART.findall(token)
    return sum(map(len, words)), sum(len(word) * _looks_right(word, _any_pairs()) for word in words)


def _looks_right(word: str, pairs: frozenset[str]) -> float:
    """Return 1 for what could be a word made of these pairs, .5 for what could be an acronym, 0 for anything else."""
    if word.isupper() and len(word) <= _ACRONYM:
        return 0.5
    if word.casefold() in _function_words():
        return 1.0
    accented = sum(letter > "\x7f" for letter in word)
    return float(accented <= 0.4 * len(word) and is_made_of(word, pairs))


def _word_share(text: str) -> float:
    """Return the share of letters in words made as those of one language are, in the language that has most."""
    words = _PART.findall(text)
    right = (sum(len(word) * _looks_right(word, pairs) for word in words) for pairs in usual_pairs().values())
    return max(right) / sum(map(len, words))


def _lacks_function_words(text: str) -> bool:
    """Return whether a longer text holds next to no function word of any language we know."""
    words = [word.casefold() for word in _WORD.findall(text)]
    met = [word for word in words if word in _function_words()]
    return len(words) >= _ENOUGH_WORDS and (len(met) < _LEAST_SHARE * len(words) or len(set(met)) < _LEAST_KINDS)


@cache
def _function_words() -> frozenset[str]:
    # Those of two letters come about by chance in scrambled text.
    return frozenset(word for words in listed_stopwords().values() for word in words if len(word) > 2)


@cache
def _any_pairs() -> frozenset[str]:
    """Return the pairs that are usual in one of our languages: exchanged letters have others in all of them."""
    return frozenset().union(*usual_pairs().values())
