"""Numbers and dates of a text in one form for every language.

1,000 is 1 000 and "mille"; 14.11. is 14 November.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

from rag_engine.text.folding import fold, fold_in_place
from rag_engine.text.tables import read_table

_SPACES = "\u00a0\u2009\u202f "
_DIGITS = (
    rf"(?<![^\W_])(?:\d{{1,3}}(?:[{_SPACES}]\d{{3}})+(?!\d)(?:[.,]\d+)?|\d{{1,3}}(?:['’]\d{{3}})+"
    # Section 12A has a name; 12 is the name of another.
    r"|\d++(?:(?:[.,]\d++)++|(?![A-Z](?!\w))))"
)
_TOKEN = re.compile(rf"(?P<digits>{_DIGITS})|(?P<word>[^\W\d_]+)")
_THOUSANDS = re.compile(r"\d{1,3}([.,])\d{3}(?:\1\d{3})*")
_BESIDE = re.compile(r"[\s-]{1,3}")
_DAY_FIRST = re.compile(r"(?<![\d.,/-])(\d{1,2})([./-])(\d{1,2})\2(\d{4})?(?!\d)")
_YEAR_FIRST = re.compile(r"(?<![\d-])(\d{4})-(\d{1,2})-(\d{1,2})(?![\d-])")
# The signs between day, month and year: "14th of", "1er", "15 de", "14.", ", ".
_GAP = r"(?:º|°|er|st|nd|rd|th)?[.,]?\s{0,2}(?:(?:de|del|of)\s|dell?['’])?\s?"
_TURKISH_COPULA = re.compile(r"[dt][iu]r$")
_LONGEST_WORD = 60


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number as a text writes it, and the values that it may have: 1.000 is a thousand or one."""

    text: str
    values: frozenset[float]


@dataclass(frozen=True, slots=True)
class CalendarDate:
    """A month with its day and its year where a text gives them, as the text writes it."""

    text: str
    day: int | None
    month: int
    year: int | None

    def agrees(self, other: CalendarDate) -> bool:
        """Return whether both may be the same date: the parts that both give are equal."""
        pairs = ((self.day, other.day), (self.month, other.month), (self.year, other.year))
        return all(one is None or another is None or one == another for one, another in pairs)


@dataclass(frozen=True, slots=True)
class _Numerals:
    """The folded words of one language that state numbers and months."""

    values: Mapping[str, int]
    ordinals: Mapping[str, int]
    joiners: frozenset[str]
    percent: re.Pattern[str] | None
    fractions: tuple[tuple[float, re.Pattern[str]], ...]
    months: Mapping[str, int]
    dates: tuple[re.Pattern[str], ...]


@dataclass(frozen=True, slots=True)
class _Token:
    """A part of a number.

    It is a number in digits or an ordinal with its possible values, a word with its numerals, or an "and".
    """

    start: int
    end: int
    digits: frozenset[float] = frozenset()
    atoms: tuple[int, ...] = ()
    joins: bool = False


def quantities(text: str, language: str) -> list[Quantity]:
    """Return the numbers of a text, in digits and in words.

    Words are read in the languages of data/quantities.toml. Percentages, the parts of a date and the number of an
    article are numbers like any other. One and zero count in digits alone: in words they are articles and pronouns. An
    outline number (6.3.1) is read as its digits.
    """
    found: list[Quantity] = []
    numerals = _numerals(language)
    text = numerals.percent.sub("%", text) if numerals.percent else text
    for value, pattern in numerals.fractions:
        found += (Quantity(match.group(), frozenset({value})) for match in pattern.finditer(text))
        text = pattern.sub("|", text)
    found += (_quantity(text, group) for group in _groups(text, numerals))
    return [quantity for quantity in found if quantity.text[0].isdigit() or not quantity.values <= {0.0, 1.0}]


def calendar_dates(text: str, language: str) -> list[CalendarDate]:
    """Return the dates of a text that name a month.

    Examples: 14.11.2022, 2022-07-30, July 2022, 10 Mart 2019, 24 de julho.

    >>> calendar_dates("Adopted in July 2022.", "en")
    [CalendarDate(text='July 2022', day=None, month=7, year=2022)]
    """
    found = [
        CalendarDate(match[0], int(match[3]), int(match[2]), int(match[1])) for match in _YEAR_FIRST.finditer(text)
    ]
    found += (
        CalendarDate(match[0], int(match[1]), int(match[3]), int(match[4]) if match[4] else None)
        for match in _DAY_FIRST.finditer(text)
    )
    numerals, folded = _numerals(language), fold_in_place(text)
    taken = bytearray(len(folded))
    for pattern in numerals.dates:
        for match in pattern.finditer(folded):
            here = slice(*match.span())
            if any(taken[here]):
                continue
            taken[here] = b"\1" * len(match[0])
            parts = match.groupdict()
            day, year = parts.get("day"), parts.get("year")
            month = numerals.months[match["month"]]
            written = text[match.start() : match.end()]
            found.append(CalendarDate(written, int(day) if day else None, month, int(year) if year else None))
    return [date for date in found if (date.day is None or 1 <= date.day <= 31) and 1 <= date.month <= 12]


def _groups(text: str, numerals: _Numerals) -> Iterator[list[_Token]]:
    """Yield the tokens of each number of a text: "50 million", "two hundred and four", "quatre-vingt-dix"."""
    group: list[_Token] = []
    for match in _TOKEN.finditer(text):
        token = _token(match, numerals)
        if group and _BESIDE.fullmatch(text, group[-1].end, token.start) and _continues(group, token):
            group.append(token)
            continue
        if group:
            yield group
        group = [token] if token.digits or token.atoms else []
    if group:
        yield group


def _token(match: re.Match[str], numerals: _Numerals) -> _Token:
    if match["digits"]:
        return _Token(match.start(), match.end(), digits=_readings(match["digits"]))
    word = fold(match["word"])
    if word in numerals.joiners:
        return _Token(match.start(), match.end(), joins=True)
    ordinal = numerals.ordinals.get(word)
    if ordinal:
        return _Token(match.start(), match.end(), digits=frozenset({float(ordinal)}))
    return _Token(match.start(), match.end(), atoms=_atoms(word, numerals))


def _continues(group: Sequence[_Token], token: _Token) -> bool:
    """Return whether a token next to the last one of a number belongs to it."""
    if group[0].digits:
        return len(group) == 1 and len(token.atoms) == 1 and token.atoms[0] >= 1000
    before = [atom for one in group for atom in one.atoms][-1]
    return token.joins or (bool(token.atoms) and _joins(before, token.atoms[0], joined=group[-1].joins))


def _quantity(text: str, group: Sequence[_Token]) -> Quantity:
    end = max(token.end for token in group if not token.joins)
    atoms = [atom for token in group for atom in token.atoms]
    values = frozenset({float(_combined(atoms))}) if atoms else frozenset()
    if group[0].digits:
        values = frozenset(value * (atoms[0] if atoms else 1) for value in group[0].digits)
    return Quantity(text[group[0].start : end], values)


def _readings(digits: str) -> frozenset[float]:
    """Return the values that a number in digits may have.

    A mark before three digits is of thousands or of decimals.
    """
    plain = re.sub(rf"[{_SPACES}'’]", "", digits)
    readings = set()
    marks = re.findall("[.,]", plain)
    if not marks:
        readings.add(float(plain))
    elif len(marks) == 1:
        readings.add(float(plain.replace(",", ".")))
    if _THOUSANDS.fullmatch(plain):
        readings.add(float(re.sub("[.,]", "", plain)))
    elif len(marks) > 1:
        whole, _, last = plain.rpartition(marks[-1])
        decimals = last if len(set(marks)) == 2 else ""
        readings.add(float(f"{re.sub('[.,]', '', whole if decimals else plain)}.{decimals or 0}"))
    # Two numbers side by side look like one whose thousands are set apart by a blank.
    if plain != digits and not marks:
        readings.update(float(part) for part in re.split(rf"[{_SPACES}]", digits) if part.isdigit() and part[0] != "0")
    return frozenset(readings)


def _joins(before: int, after: int, *, joined: bool) -> bool:
    """Return whether a part of a number may follow another: two hundred, twenty four.

    French adds four twenties and ten seven. After "and" only parts below a hundred belong to the same number.
    """
    multiplies = not joined and (after >= 100 or (before, after) == (4, 20))
    adds = (before >= 100 and after < before) or (before >= 20 and after < 20) or (before == 10 > after)
    return multiplies or (adds and not (joined and after >= 100))


def _combined(atoms: Sequence[int]) -> int:
    """Return the value of the parts of a number: 2 100 4 is 204, 4 20 is 80, 3 1000 is 3000."""
    total = current = 0
    for before, atom in pairwise([0, *atoms]):
        if atom >= 1000:
            total, current = total + max(current, 1) * atom, 0
        elif atom == 100 or (before, atom) == (4, 20):
            current = max(current, 1) * atom
        else:
            current += atom
    return total + current


def _atoms(word: str, numerals: _Numerals) -> tuple[int, ...]:
    """Return the values that a folded word is made of; none for a word that states no number."""
    if len(word) > _LONGEST_WORD:
        return ()
    for candidate in dict.fromkeys((word, _TURKISH_COPULA.sub("", word))):
        atoms = list(_split(candidate, numerals))
        if atoms and None not in atoms and atoms != [1]:
            return tuple(atom for atom in atoms if atom is not None)
    return ()


def _split(word: str, numerals: _Numerals) -> Iterator[int | None]:
    """Yield the values of the numerals in a compound, 0 for a joiner and None for anything else.

    The longest numeral is tried first.
    """
    while word:
        part = next((value for value in numerals.values if word.startswith(value)), None)
        if part is None:
            yield None
            return
        yield numerals.values[part]
        word = word[len(part) :]


@cache
def _numerals(language: str) -> _Numerals:
    """Return the words of a language that state numbers; none without a table."""
    tables: dict[str, dict[str, str | list[str]]] = read_table("quantities")
    table = tables.get(language, {})
    joiners = frozenset(map(fold, _text(table, "joiners").split()))
    values = {**_valued(_text(table, "numbers")), **_valued(_text(table, "scales"))}
    # German writes the joiner inside the word: vierundzwanzig.
    values |= dict.fromkeys(joiners if language == "de" else (), 0)
    months = {
        fold(name): number
        for number, names in enumerate(_text(table, "months").split(), start=1)
        for name in names.split(",")
    }
    fractions, percent = table.get("fractions", []), _text(table, "percent")
    return _Numerals(
        values=dict(sorted(values.items(), key=lambda one: -len(one[0]))),
        ordinals=_valued(_text(table, "ordinals")),
        joiners=joiners,
        percent=re.compile(rf"\b{percent}\b", re.IGNORECASE) if percent else None,
        fractions=tuple(_fraction(fraction) for fraction in fractions if isinstance(fractions, list)),
        months=months,
        dates=_date_patterns(months) if months else (),
    )


def _text(table: Mapping[str, str | list[str]], name: str) -> str:
    value = table.get(name, "")
    return value if isinstance(value, str) else " ".join(value)


def _valued(listed: str) -> dict[str, int]:
    return {fold(word): int(value) for word, _, value in (one.partition("=") for one in listed.split())}


def _fraction(listed: str) -> tuple[float, re.Pattern[str]]:
    value, _, pattern = listed.partition("=")
    above, _, below = value.partition("/")
    return int(above) / int(below), re.compile(rf"\b{pattern}\b", re.IGNORECASE)


def _date_patterns(months: Mapping[str, int]) -> tuple[re.Pattern[str], ...]:
    """Return patterns for a day before its month, a day after it, and a month with its year alone."""
    month = rf"(?P<month>{'|'.join(sorted(months, key=len, reverse=True))})\b"
    year = r"(?P<year>[12]\d{3})(?!\d)"
    return (
        re.compile(rf"(?<![\d.,])(?P<day>\d{{1,2}}){_GAP}\b{month}(?:{_GAP}{year})?"),
        re.compile(rf"\b{month}\.?\s(?P<day>\d{{1,2}})(?:st|nd|rd|th)?(?!\d)(?:,?\s{year})?"),
        re.compile(rf"\b{month}{_GAP}{year}"),
    )
