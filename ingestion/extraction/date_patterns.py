"""Dates as people write them in nine languages, found in a text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from typing import Literal

from rag_engine.text.folding import fold

# Without accents and dots, as `fold` leaves them: the writing of capitals and of old machines varies.
_MONTHS = (
    "january january janv janvier januar januari janeiro enero gennaio ocak jan ene gen oca",
    "february fevrier fevr februar februari fevereiro febrero febbraio subat feb fev febr sub",
    "march mars marz maerz maart marco marzo mart mar mrt mrz",
    "april avril abril aprile nisan apr avr abr nis",
    "may mai mei mayo maio maggio mayis mag maj",
    "june juin juni junho junio giugno haziran jun giu haz",
    "july juillet juil juli julho julio luglio temmuz jul lug tem",
    "august aout augustus agosto agustos aug ago agu",
    "september septembre septembro septiembre setiembre settembre setembro eylul sept sep sett set eyl",
    "october octobre oktober outubro octubre ottobre ekim oct okt ott out eki",
    "november novembre novembro noviembre kasim nov kas",
    "december decembre dezember desember dezembro diciembre dicembre aralik dec dez des dic ara",
)
_NUMBER = {word: number for number, words in enumerate(_MONTHS, 1) for word in words.split()}
# Words of other meanings, too short to be a month without a day beside them.
_SHORT = "gen ene set out ago ara tem mag sub mar des haz kas eki nis oca eyl agu may sep"
_NEEDS_DAY = frozenset(_SHORT.split())
_NUMERALS = "I II III IV V VI VII VIII IX X XI XII"
_ROMAN_MONTH = {name: number for number, name in enumerate(_NUMERALS.split(), 1)}

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
_ONES = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen"
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
_NTH = "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth"
_COUNT = {
    **{word: number for number, word in enumerate((_ONES + " seventeen eighteen nineteen").split())},
    **{f"{word}th": number for number, word in enumerate((_ONES + " seventeen eighteen nineteen").split())},
    **{word: number for number, word in enumerate(_NTH.split(), 1)},
    **{word: 10 * number for number, word in enumerate(_TENS.split(), 2)},
    **{word[:-1] + "ieth": 10 * number for number, word in enumerate(_TENS.split(), 2)},
}
_ISO = re.compile(r"(?<![\d/.-])(\d{4})([-/.])(\d{1,2})\2(\d{1,2})(?![\d/]|[.-]\d)")
_ISO_MONTH = re.compile(r"(?<![\w/.-])((?:1[6-9]|20)\d\d)-(0[1-9]|1[0-2])(?![\w/-])")
_NUMERIC = re.compile(r"(?<![\w/.,-])(\d{1,2})([./-])\s?(\d{1,2})\2\s?(\d{4}|\d\d)(?![\d/]|[.-]\d)")
_ROMAN = re.compile(r"(?<![\w/.,-])([0-3]?\d)([ ./-])\s?([IVX]{1,4})\2\s?(\d{4})(?!\d)")
_ROMAN_YEAR = re.compile(r"(?<![\w.])(M[MCDLXVI]{3,14})(?![\w])")
_YEAR = re.compile(r"(?<![\w.,/:€$£№-])((?:1[7-9]|20)\d\d)(?![\w%/:€-]|[.,]\d)")
_ROMAN_DIGIT = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100, "D": 500, "M": 1000}

Precision = Literal["day", "month", "year"]


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


def written_dates(text: str, *, month_first: bool = False, century: int = 2030) -> list[WrittenDate]:
    """Return the dates of a text in its order; of those that overlap the most precise stands.

    Numbers are read day first unless that is impossible or `month_first` says otherwise. Two digits mean a year
    before `century`.
    """
    taken: list[WrittenDate] = []
    covered = bytearray(len(text))
    for found in _every(text, month_first, century):
        if not any(covered[found.start : found.end]):
            covered[found.start : found.end] = b"\x01" * (found.end - found.start)
            taken.append(found)
    return sorted(taken, key=lambda written: written.start)


def declared_date(value: str) -> str:
    """Return the ISO date or prefix that a property holds in any of the usual writings; "" for none."""
    value = value.strip()[:80]
    pdf = re.match(r"(?:D:)?(\d{4})(\d\d)?(\d\d)?(?:\d\d|[T Z+-]|$)", value)
    if pdf and (value.startswith("D:") or value[:8].isdigit()):
        return _checked(pdf[1], pdf[2], pdf[3]) or _checked(pdf[1], pdf[2], None) or _checked(pdf[1], None, None)
    iso = re.match(r"(\d{4})(?:-(\d\d))?(?:-(\d\d))?(?![\d/.])", value)
    if iso:
        return _checked(iso[1], iso[2], iso[3]) or _checked(iso[1], None, None)
    return next((found.value for found in written_dates(value)), "")


def _every(text: str, month_first: bool, century: int) -> Iterator[WrittenDate]:
    for match in _DAY_FIRST.finditer(text):
        if match[2].lower() == "out" and " of " in match[0].lower():
            continue
        yield from _found(match, match[3], _month(match[2]), match[1])
    for match in _SPELT.finditer(text):
        yield from _found(match, _count(match[3]), _month(match[2]), _count(match[1]))
    for match in _MONTH_FIRST.finditer(text):
        yield from _found(match, match[3], _month(match[1]), match[2])
    for match in _ISO.finditer(text):
        yield from _found(match, match[1], match[3], match[4])
    for match in _ROMAN.finditer(text):
        yield from _found(match, match[4], _ROMAN_MONTH.get(match[3], 0), match[1])
    for match in _NUMERIC.finditer(text):
        # "5.4.10" is a section, "5-4-10" a number; people write 05.04.10 or 5/4/10.
        if len(match[4]) == 2 and match[2] != "/" and (match[2] == "-" or len(match[1] + match[3]) < 4):
            continue
        year = int(match[4]) if len(match[4]) == 4 else _full_year(int(match[4]), century)
        day, month = (match[3], match[1]) if month_first else (match[1], match[3])
        yield from _found(match, year, month, day) or _found(match, year, day, month)
    for match in _MONTH_ONLY.finditer(text):
        if match[1].lower() not in _NEEDS_DAY or match[1] == "May":
            yield from _found(match, match[2], _month(match[1]))
    for match in _ISO_MONTH.finditer(text):
        yield from _found(match, match[1], match[2])
    for match in _YEAR.finditer(text):
        yield from _found(match, match[1])
    for match in _ROMAN_YEAR.finditer(text):
        if 1700 <= (year := _roman(match[1])) <= 2100:
            yield from _found(match, year)


def _found(
    match: re.Match[str], year: int | str, month: int | str | None = None, day: int | str | None = None
) -> tuple[WrittenDate, ...]:
    value = _checked(year, month, day)
    return (WrittenDate(match.start(), match.end(), value),) if value else ()


def _checked(year: int | str, month: int | str | None, day: int | str | None) -> str:
    """Return the ISO form; "" when there is no such day."""
    try:
        whole = date(int(year), 1 if month is None else int(month), 1 if day is None else int(day))
    except ValueError:
        return ""
    return whole.isoformat()[: 4 if month is None else 7 if day is None else 10]


@lru_cache(4096)
def _month(word: str) -> int:
    return _NUMBER.get(fold(word), 0)


def _count(words: str) -> int:
    """Return the number that English words spell: twenty-first, two thousand and fifteen."""
    total = current = 0
    for word in re.split(r"[\s,-]+", words.lower()):
        if word in ("hundred", "thousand"):
            total += max(1, current) * (100 if word == "hundred" else 1_000)
            current = 0
        else:
            current += _COUNT.get(word, 0)
    return total + current


def _full_year(two: int, century: int) -> int:
    year = century - century % 100 + two
    return year if year <= century else year - 100


def _roman(digits: str) -> int:
    values = [_ROMAN_DIGIT[digit] for digit in digits]
    return sum(-value if value < after else value for value, after in zip(values, [*values[1:], 0], strict=True))
