"""Numbers from a thousand on, grouped as languages group digits: 10,000, 10.000, 10 000 and 10'000."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_GROUP = "[ \u00a0\u2009\u202f'’.,\u066c]\\d{3}"
_DECIMALS = "[.,\u066b]\\d+"
GROUPED = re.compile(rf"(?<![\w.,])\d{{1,3}}(?:{_GROUP})+(?:{_DECIMALS})?(?!\w|[.,]\d)")
_PLAIN = re.compile(rf"\d{{4,}}(?:{_DECIMALS})?")
_DIGITS = re.compile(r"\d+")
# Where a point stands before decimals and a comma groups. In the last ones it differs by country.
_POINT = frozenset(("en", "ga", "cy", "mt", "he", "hi", "ja", "ko", "ms", "ne", "ta", "th", "zh"))
_EITHER = frozenset(("es", "ar", "fa", ""))


@dataclass(frozen=True, slots=True)
class GroupedNumber:
    """A number with grouped digits, its place in a text, and the values it may have in the language."""

    start: int
    end: int
    values: frozenset[str]


def grouped_numbers(text: str, language: str) -> Iterator[GroupedNumber]:
    """Yield the numbers of a text with grouped digits.

    >>> [sorted(one.values) for one in grouped_numbers("1.500 m, 12 500 t", "en")]
    [['1.5'], ['12500']]
    """
    for match in GROUPED.finditer(text):
        yield GroupedNumber(match.start(), match.end(), _values(match[0], language))


def typed_number(word: str) -> tuple[frozenset[str], tuple[tuple[str, ...], ...]]:
    """Return the values of a number that is typed, and the words in sequence as which texts hold it.

    Both are empty for anything else, and for a number below a thousand.

    >>> typed_number("10'000")[1]
    (('10', '000'), ('10000',))
    """
    digits = tuple(str(int(one)).zfill(len(one)) for one in _DIGITS.findall(word))
    if GROUPED.fullmatch(word):
        decimals = digits[-1:] if _has_decimals(word) else ()
        whole = "".join(digits[: len(digits) - len(decimals)])
        return _values(word, ""), (digits, (whole, *decimals))
    if _PLAIN.fullmatch(word):
        whole, *rest = digits
        first = len(whole) % 3 or 3
        groups = (whole[:first], *(whole[at : at + 3] for at in range(first, len(whole), 3)))
        return frozenset({_value(whole, *rest)}), ((*groups, *rest), (whole, *rest))
    return frozenset(), ()


def _has_decimals(number: str) -> bool:
    """Return whether the last sign of a grouped number precedes decimals, as it differs from the first."""
    signs = [sign for sign in number if not sign.isdecimal()]
    return len(signs) > 1 and signs[-1] != signs[0]


def _values(number: str, language: str) -> frozenset[str]:
    digits = _DIGITS.findall(number)
    if _has_decimals(number):
        return frozenset({_value("".join(digits[:-1]), digits[-1])})
    grouped, sign = _value("".join(digits)), number[len(digits[0])]
    if len(digits) > 2 or sign not in ".,":
        return frozenset({grouped})
    decimal = _value(*digits)
    # Nobody measures to three zeros.
    if language in _EITHER or digits[1] == "000":
        return frozenset({grouped, decimal})
    return frozenset({grouped if (sign == ",") == (language in _POINT) else decimal})


def _value(whole: str, decimals: str = "") -> str:
    return f"{int(whole)}.{decimals}".rstrip("0").rstrip(".") if decimals else str(int(whole))
