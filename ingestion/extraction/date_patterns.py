"""Dates as people write them in nine languages, found in a text."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date
from functools import lru_cache, partial
from typing import Literal

from ingestion.extraction.layout.numerals import roman, roman_value
from ingestion.patterns import load_words
from rag_engine.text.folding import fold

_WORDS = load_words("date_words")
_MONTHS = {word: number for number, words in enumerate(_WORDS["months"].split("|"), 1) for word in words.split()}
_NEEDS_DAY = frozenset(_WORDS["short"].split("|"))
_ROMAN_MONTHS = {roman(number).upper(): number for number in range(1, 13)}
_NUMBERS = {
    **{word: number for kind in ("cardinals", "ordinals") for number, word in enumerate(_WORDS[kind].split("|"))},
    **{word: 10 * number for kind in ("tens", "tenths") for number, word in enumerate(_WORDS[kind].split("|"), 2)},
}
_MONTHS_A_YEAR = 12
_GAP = r"[\s\u00a0]{1,3}"
_OF = r"(?:de|del|of|d)[\s\u00a0’']{1,2}"
_NAME = r"([^\W\d_]{3,12})"
_DAY_FIRST = re.compile(
    rf"(?<![\w/.,-])([0-3]?\d)(?:st|nd|rd|th|er|re|º|°|ª|\.)?(?:{_GAP}|-)(?:day{_GAP})?(?:{_OF})?{_NAME}"
    rf"[.,]?(?:{_GAP}|-)(?:{_OF})?(?:año{_GAP})?(\d{{4}})(?!\d)",
    re.IGNORECASE,
)
_MONTH_FIRST = re.compile(
    rf"(?<!\w){_NAME}\.?{_GAP}([0-3]?\d)(?:st|nd|rd|th)?(?:,{_GAP}|,|{_GAP})(\d{{4}})(?!\d)", re.IGNORECASE
)
_MONTH_ONLY = re.compile(rf"(?<!\w){_NAME}[.,]?(?:{_GAP}|-|/)(?:{_OF})?(\d{{4}})(?![\d])", re.IGNORECASE)
# How treaties are signed: "this twelfth day of December, two thousand and fifteen".
_SPELT = re.compile(
    rf"(?<!\w)([a-z]{{5,11}}(?:[ -][a-z]{{5,7}})?){_GAP}day{_GAP}of{_GAP}{_NAME},?{_GAP}(?:in the year |of )?"
    r"((?:one|two) thousand(?:,? (?:and )?[a-z]{3,9}(?:[ -][a-z]{3,9}){0,5})?)",
    re.IGNORECASE,
)
_ISO = re.compile(r"(?<![\d/.-])(\d{4})([-/.])(\d{1,2})\2(\d{1,2})(?![\d/]|[.-]\d)")
_ISO_MONTH = re.compile(r"(?<![\w/.-])((?:1[6-9]|20)\d\d)-(0[1-9]|1[0-2])(?![\w/-])")
_NUMERIC = re.compile(r"(?<![\w/.,-])(\d{1,2})([./-])\s?(\d{1,2})\2\s?(\d{4}|\d\d)(?![\d/]|[.-]\d)")
_ROMAN = re.compile(r"(?<![\w/.,-])([0-3]?\d)([ ./-])\s?([IVX]{1,4})\2\s?(\d{4})(?!\d)")
_ROMAN_YEAR = re.compile(r"(?<![\w.])(M[MCDLXVI]{3,14})(?![\w])")
_YEAR = re.compile(r"(?<![\w.,/:€$£№-])((?:1[7-9]|20)\d\d)(?![\w%/:€-]|[.,]\d)")
# Year, month and day; None for what is not written, and a date that is none where something is no number.
_Parts = tuple[int | str, int | str | None, int | str | None]
Precision = Literal["day", "month", "year"]
_NO_DATE: _Parts = ("", None, None)
_Reader = Callable[[re.Match[str]], _Parts]


@dataclass(frozen=True, slots=True)
class WrittenDate:
    """A date at [start, end) of a text; `value` is an ISO date or its prefix."""

    start: int
    end: int
    value: str

    @property
    def precision(self) -> Precision:
        """How much of it is written."""
        return "year" if len(self.value) == 4 else "month" if len(self.value) == 7 else "day"


def written_dates(text: str, *, month_first: bool | None = False, century: int = 2030) -> list[WrittenDate]:
    """Return the dates of a text in its order; of overlapping dates the most precise remains.

    Numbers are read day first, unless that is impossible or `month_first` says otherwise. None is for texts of either
    custom: 2/3/2022 then gives its year alone. Two digits mean a year before `century`.

    >>> [found.value for found in written_dates("Roma, 3 marzo 2022; aggiornato il 04/05/2023")]
    ['2022-03-03', '2023-05-04']
    """
    taken: list[WrittenDate] = []
    covered = bytearray(len(text))
    for found in _every(text, month_first, century):
        if not any(covered[found.start : found.end]):
            covered[found.start : found.end] = b"\x01" * (found.end - found.start)
            taken.append(found)
    return sorted(taken, key=lambda written: written.start)


def month_leads(language: str) -> bool | None:
    """Return whether dates in numbers begin with the month, by a language tag.

    None if that is not known.
    """
    primary, _, region = language.strip().lower().replace("_", "-").partition("-")
    if primary not in ("", "en"):
        return False
    return True if region == "us" else False if region else None


def numeric_order(text: str) -> bool | None:
    """Return whether a text writes the month first in dates of numbers, by its unambiguous dates.

    None if no date tells, or if they contradict each other.
    """
    orders = {
        int(match[3]) > _MONTHS_A_YEAR
        for match in _NUMERIC.finditer(text)
        if match[2] == "/" and (int(match[1]) > _MONTHS_A_YEAR) != (int(match[3]) > _MONTHS_A_YEAR)
    }
    return orders.pop() if len(orders) == 1 else None


def declared_date(value: str, *, month_first: bool | None = False) -> str:
    """Return the ISO date or prefix that a property holds in any of the usual writings; "" for none.

    >>> declared_date("D:20220307114500+01'00'")
    '2022-03-07'
    """
    value = value.strip()[:80]
    pdf = re.match(r"(?:D:)?(\d{4})(\d\d)?(\d\d)?(?:\d\d|[T Z+-]|$)", value)
    if pdf and (value.startswith("D:") or value[:8].isdigit()):
        return _checked(pdf[1], pdf[2], pdf[3]) or _checked(pdf[1], pdf[2], None) or _checked(pdf[1], None, None)
    iso = re.match(r"(\d{4})(?:-(\d\d))?(?:-(\d\d))?(?![\d/.])", value)
    if iso:
        return _checked(iso[1], iso[2], iso[3]) or _checked(iso[1], None, None)
    return next((found.value for found in written_dates(value, month_first=month_first)), "")


def _every(text: str, month_first: bool | None, century: int) -> Iterator[WrittenDate]:
    numeric: _Reader = partial(_numeric, month_first=month_first, century=century)
    for pattern, parts_of in (*_WORDED, (_NUMERIC, numeric), *_PARTIAL):
        for match in pattern.finditer(text):
            if value := _checked(*parts_of(match)):
                yield WrittenDate(match.start(), match.end(), value)


def _numeric(match: re.Match[str], *, month_first: bool | None, century: int) -> _Parts:
    first, sign, second, last = match.groups()
    # "5.4.10" is a section, "5-4-10" a number; people write 05.04.10 or 5/4/10.
    if len(last) == 2 and sign != "/" and (sign == "-" or len(first + second) < 4):
        return _NO_DATE
    year = int(last) if len(last) == 4 else century - century % 100 + int(last)
    year -= 100 if len(last) < 4 and year > century else 0
    if month_first is None and sign == "/" and first != second and max(int(first), int(second)) <= _MONTHS_A_YEAR:
        return (year, None, None)
    # Whoever puts the month first writes slashes.
    day, month = (second, first) if month_first and sign != "." else (first, second)
    return (year, month, day) if _checked(year, month, day) else (year, day, month)


def _day_first(match: re.Match[str]) -> _Parts:
    is_share = match[2].lower() == "out" and " of " in match[0].lower()
    return _NO_DATE if is_share else (match[3], _month(match[2]), match[1])


def _month_only(match: re.Match[str]) -> _Parts:
    needs_day = match[1].lower() in _NEEDS_DAY and match[1] != "May"
    return _NO_DATE if needs_day else (match[2], _month(match[1]), None)


def _roman_year(match: re.Match[str]) -> _Parts:
    year = roman_value(match[1])
    return (year, None, None) if 1700 <= year <= 2100 else _NO_DATE


def _checked(year: int | str, month: int | str | None, day: int | str | None) -> str:
    """Return the ISO form; "" if there is no such day."""
    try:
        whole = date(int(year), 1 if month is None else int(month), 1 if day is None else int(day))
    except ValueError:
        return ""
    return whole.isoformat()[: 4 if month is None else 7 if day is None else 10]


@lru_cache(4096)
def _month(word: str) -> int:
    return _MONTHS.get(fold(word), 0)


def _count(words: str) -> int:
    """Return the number that English words spell: twenty-first, two thousand and fifteen."""
    total = current = 0
    for word in re.split(r"[\s,-]+", words.lower()):
        if word in ("hundred", "thousand"):
            total += max(1, current) * (100 if word == "hundred" else 1_000)
            current = 0
        else:
            current += _NUMBERS.get(word, 0)
    return total + current


_WORDED: tuple[tuple[re.Pattern[str], _Reader], ...] = (
    (_DAY_FIRST, _day_first),
    (_SPELT, lambda match: (_count(match[3]), _month(match[2]), _count(match[1]))),
    (_MONTH_FIRST, lambda match: (match[3], _month(match[1]), match[2])),
    (_ISO, lambda match: (match[1], match[3], match[4])),
    (_ROMAN, lambda match: (match[4], _ROMAN_MONTHS.get(match[3], 0), match[1])),
)
_PARTIAL: tuple[tuple[re.Pattern[str], _Reader], ...] = (
    (_MONTH_ONLY, _month_only),
    (_ISO_MONTH, lambda match: (match[1], match[2], None)),
    (_YEAR, lambda match: (match[1], None, None)),
    (_ROMAN_YEAR, _roman_year),
)
