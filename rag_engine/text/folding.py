"""Folding of letters: one spelling for each word, without capitals and accents."""

from __future__ import annotations

import re
import unicodedata

# Accents of Latin, Greek and Cyrillic letters; the vowel signs of other scripts are letters and stay.
_ACCENTS = re.compile(r"[\u0300-\u036f]+")
# Letters that do not come apart into a plain letter and an accent; casefold makes ß ss.
_LETTERS = str.maketrans({"ı": "i", "ø": "o", "æ": "ae", "œ": "oe", "ł": "l", "đ": "d", "ð": "d"})
_SIGNS = re.compile(r"[^\w./-]+|_")
_LOOSE = re.compile(r"(?<!\d)[./-]|[./-](?!\d)")
_LONGEST_TITLE = 500
# Signs that folding in place makes one.
_SAME_SIGN = dict.fromkeys("’‘ʼ´", "'") | dict.fromkeys("‐‑‒–—−", "-")


def fold(text: str) -> str:
    """Return the text in lower case, without accents and in compatibility form.

    Łódź and LODZ are both lodz.

    >>> fold("Łódź")
    'lodz'
    """
    if text.isascii():
        return text.lower()
    plain = _ACCENTS.sub("", unicodedata.normalize("NFKD", text.casefold()).casefold())
    return unicodedata.normalize("NFC", plain).translate(_LETTERS)


def fold_title(title: str) -> str:
    """Return a title folded and without signs; points, slashes and hyphens stay between digits."""
    return " ".join(_LOOSE.sub(" ", _SIGNS.sub(" ", fold(title[:_LONGEST_TITLE]))).split())


def fold_case(text: str) -> str:
    """Return the text in lower case with its accents, which short names need.

    Dotted and dotless i are one.
    """
    return unicodedata.normalize("NFC", text).replace("İ", "i").casefold().replace("ı", "i")


def fold_in_place(text: str) -> str:
    """Return the text folded character by character, so that every position stays.

    A letter that folds to two (ß, æ) stays one. Dashes and apostrophes of all kinds become - and '.
    """
    return text.translate(_in_place)


class _FoldedCharacters(dict[int, str]):
    """The folded form of each character, computed when it is first met."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        folded = _SAME_SIGN.get(character) or fold(character)
        if len(folded) != 1:
            folded = unicodedata.normalize("NFKD", character)[:1].lower()[:1] or character
        self[code] = folded
        return folded


_in_place = _FoldedCharacters()
