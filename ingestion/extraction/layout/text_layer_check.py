"""Check of text layers against the drawn page: some fonts name other characters than they draw."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, lru_cache
from typing import Any

from rag_engine.text.letter_pairs import is_made_of, usual_pairs
from rag_engine.text.stop_words import listed_stopwords

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
# By the letter that is left, what the glyph may be.
_LIGATURES: Mapping[str, tuple[str, ...]] = {
    "i": ("fi", "ffi", "tti", "ti", "Ti"),
    "l": ("fl", "ffl"),
    "f": ("ff",),
    "h": ("Th", "fh"),
    "t": ("tt", "ft", "ct", "st"),
    "j": ("fj",),
}
_PARTS = frozenset("".join(_LIGATURES)).union(*(one for several in _LIGATURES.values() for one in several))
# Every language that has so many f has some of these pairs among them.
_MANY, _PAIRS = 20, re.compile("f[fil]")
_FEWEST_PAIRS = 1 / 30
_FEWEST = 3
_PAGES_WITHOUT = 2
# By chance a page of fewer f has few pairs, in a document that has enough.
_SURELY_MANY = 60
# How much wider than the letter the glyph is at least, and how near it comes to its letters together: set as one they
# stand a little closer.
_WIDER = 1.45
_CLOSER, _FARTHER = 0.86, 1.03
Spans = Sequence[dict[str, Any]]


def is_scrambled(lines: Iterable[str]) -> bool:
    """Return whether lines in Latin or Greek letters are no language, for much of the page or all.

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
    """Return the characters of words, of what looks like words, and of lines with next to none."""
    counts = [_word_letters(line) for line in lines]
    return (
        sum(count for count, _ in counts),
        sum(good for _, good in counts),
        sum(count for count, good in counts if count >= _LINE_LETTERS and good < _WORDLESS * count),
    )


def _word_letters(line: str) -> tuple[float, float]:
    """Return the numbers of characters in a line's words, and in its likely words."""
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
    """Return 1 for what could be a word made of these pairs, .5 for an acronym, 0 for anything else."""
    if word.isupper() and len(word) <= _ACRONYM:
        return 0.5
    if word.casefold() in _function_words():
        return 1.0
    accented = sum(letter > "\x7f" for letter in word)
    return float(accented <= 0.4 * len(word) and is_made_of(word, pairs))


def _word_share(text: str) -> float:
    """Return the share of letters in words of the language with the largest share."""
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
    """Return the pairs that are usual in one of our languages.

    Exchanged letters have others in all of them.
    """
    return frozenset().union(*usual_pairs().values())


class LigatureSearch:
    """Search for lost ligatures in a document, given up where several suspicious pages have none."""

    def __init__(self) -> None:
        self._left = _PAGES_WITHOUT
        self._many = self._pairs = 0

    def is_due(self, text: str) -> bool:
        """Return whether the glyphs of the document's next page, with this text, are to be looked at."""
        # How many f a text has, and how many of the pairs with f that language has.
        many, pairs = text.count("f"), len(_PAIRS.findall(text))
        self._many += many
        self._pairs += pairs
        suspicious = _are_few(many, pairs) and (many >= _SURELY_MANY or _are_few(self._many, self._pairs))
        return self._left > 0 and suspicious

    def spell(self, spans: Spans) -> bool:
        """Spell the ligatures of a page's raw spans; return whether there were any."""
        lost = spell_ligatures(spans) > 0
        self._left = _PAGES_WITHOUT if lost else self._left - 1
        return lost


def _are_few(many: int, pairs: int) -> bool:
    return many >= _MANY and pairs < many * _FEWEST_PAIRS


def spell_ligatures(spans: Spans) -> int:
    """Give the raw spans of a page a text in which lost ligatures are spelled; return how many there were.

    A raw span has "chars", each with "c" and "bbox", and the "font" and "size" that they are set in.
    """
    widths: dict[str, dict[str, Counter[float]]] = defaultdict(lambda: defaultdict(Counter))
    for span in spans:
        size, found = span["size"], widths[span["font"]]
        for char in span["chars"]:
            if char["c"] in _PARTS:
                found[char["c"]][_width(char, size)] += 1
    if not any(
        max(one) >= _WIDER * _narrowest(one)
        for found in widths.values()
        for letter, one in found.items()
        if letter in _LIGATURES
    ):
        return 0
    usual = {font: {letter: _narrowest(found) for letter, found in letters.items()} for font, letters in widths.items()}
    spelled = [_spelled(span, usual[span["font"]]) for span in spans]
    lost = sum(count for _, count in spelled)
    # Fewer may be letters that were set wide.
    for span, (text, _) in zip(spans, spelled, strict=True):
        span["text"] = text if lost >= _FEWEST else "".join(char["c"] for char in span["chars"])
    return lost if lost >= _FEWEST else 0


def _narrowest(widths: Counter[float]) -> float:
    """Return the width of the letter itself.

    Of a letter that is nearly always a ligature it is not the commonest.
    """
    found = [width for width, count in widths.items() if count > 1 and width > 0]
    return min(found, default=widths.most_common(1)[0][0])


def _spelled(span: Mapping[str, Any], usual: Mapping[str, float]) -> tuple[str, int]:
    """Return the text of a raw span and how many ligatures were spelled in it."""
    parts: list[str] = []
    lost = 0
    chars = span["chars"]
    for place, char in enumerate(chars):
        letter, before = char["c"], chars[place - 1]["c"] if place else " "
        following = _width(chars[place + 1], span["size"]) if place + 1 < len(chars) else 1.0
        # Where a glyph has its letters already, the first has all its width and the next none.
        meant = _meant(letter, _width(char, span["size"]), usual) if following > 0 else letter
        if meant[0].isupper() and letter.islower() and before.isalpha():
            meant = letter
        lost += meant != letter
        parts.append(meant)
    return "".join(parts), lost


def _meant(letter: str, width: float, usual: Mapping[str, float]) -> str:
    """Return the letters that a glyph of this width shows."""
    if letter not in _LIGATURES or width < _WIDER * usual[letter]:
        return letter
    # The first that fits is the commonest.
    known = (ligature for ligature in _LIGATURES[letter] if all(usual.get(part) for part in ligature))
    fitting = (one for one in known if _CLOSER <= width / sum(usual[part] for part in one) <= _FARTHER)
    return next(fitting, letter)


def _width(char: Mapping[str, Any], size: float) -> float:
    x0, _, x1, _ = char["bbox"]
    return round(float(x1 - x0) / (size or 1.0), 2)


def reads_better(seen: Sequence[str], shown: Sequence[str]) -> bool:
    """Return whether OCR saw more than a scanty text layer has, or language where the text layer has none."""
    if is_scrambled(shown):
        # With all its letters, or it is a head that could be read.
        return not is_scrambled(seen) and sum(map(len, seen)) > 0.5 * sum(map(len, shown))
    return sum(map(len, seen)) > sum(map(len, shown))
