"""Numbers of sections: their patterns, and their values in the digits of any script."""

from __future__ import annotations

import re

from rag_engine.text.raised import RAISED

ROMAN = r"(?=[IVXLC])(?:C{0,3})(?:X[CL]|L?X{0,3})(?:I[XV]|V?I{0,3})"
_LATIN = r"bis|ter|quater|quinquies|sexies|septies|octies|novies|decies"
# The letters of inserted sections, in Latin, Greek and Cyrillic script.
_LETTER = "A-Za-zΑ-Ωα-ωА-Яа-я"
# 5, 5º, 12A, 12a, 55-A, 239AA, 117-bis, 21¹, 4.1.2, L. 110-1, II, VIIIa; never the start of a longer word or of 5(2).
NUMBER = (
    rf"(?:[LRDA]\.?\s?)?\d{{1,4}}(?:[.‑-]\d{{1,4}}(?!\d))*(?:\s?\.?[º°ª])?"
    rf"(?:\s?-?(?:{_LATIN})\b(?!\s+\d)|[‑-]?[{_LETTER}]{{1,2}}(?!\w)|[{RAISED}]{{1,3}}|\^\d{{1,2}})?(?!\w)"
    rf"|{ROMAN}(?:[a-z]|\s[a-z](?=\.))?(?!\w)"
)
_HAN = "〇零一二三四五六七八九十百千"
# What stands before the noun: 5, 5 a, 12/A, 12.a, 12-1, 12.¹, 十二, II. Tried at every figure,
# it has few parts.
NUMBER_FIRST = (
    rf"(?:\d{{1,4}}(?:[.‑-]\d{{1,4}}){{0,6}}(?:[./]?[^\W\d_{_HAN}条條조章节節编編장절편]{{1,2}}(?!\w)|\s[a-zåäö](?!\w)|\.?[{RAISED}]{{1,3}}|\^\d{{1,2}})?"
    rf"|[{_HAN}]{{1,9}}|{ROMAN}(?!\w))"
)
# What stands behind the noun of an inserted article: 第十二条の二, 제5조의2.
INSERTED = rf"[之の의]\s?(?:\d{{1,3}}|[{_HAN}]{{1,5}})"

_VALUES = {"i": 1, "v": 5, "x": 10, "l": 50, "c": 100}
_ROMAN_NUMBER = re.compile(rf"({ROMAN})\s?([a-z]?)", re.IGNORECASE)
_HAN_NUMBER = re.compile(rf"[{_HAN}]+")
_TENS = {"十": 10, "百": 100, "千": 1000}


def in_digits(number: str) -> str:
    """Return a number with the digits 0 to 9, from any script.

    >>> in_digits("١٢"), in_digits("第十二条"), in_digits("12a")
    ('12', '第12条', '12a')
    """
    western = "".join(str(int(letter)) if letter.isdecimal() else letter for letter in number)
    return _HAN_NUMBER.sub(lambda found: str(_han_value(found[0])), western)


def roman_value(number: str) -> str:
    """Return a Roman number in Arabic digits with its letter; empty for what is none.

    >>> roman_value("viii a")
    '8a'
    """
    roman = _ROMAN_NUMBER.fullmatch(number)
    if not roman or number in ("c", "l"):
        return ""
    values = [_VALUES[letter] for letter in roman[1].lower()]
    arabic = sum(-value if value < max(values[place:]) else value for place, value in enumerate(values))
    return f"{arabic}{roman[2]}"


def _han_value(numeral: str) -> int:
    """Return the value of a Chinese numeral: by tens, or digit by digit."""
    if not any(unit in numeral for unit in _TENS):
        return int("".join(str("〇一二三四五六七八九".index(one.replace("零", "〇"))) for one in numeral))
    total, digit = 0, 0
    for one in numeral:
        if one in _TENS:
            total, digit = total + max(digit, 1) * _TENS[one], 0
        elif one not in "〇零":
            digit = "一二三四五六七八九".index(one) + 1
    return total + digit
