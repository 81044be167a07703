"""Values of cells as a spreadsheet shows them, by their number format (ECMA-376 part 1, 18.8.30)."""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction
from functools import lru_cache
from itertools import groupby
from locale import windows_locale

Value = str | int | float | bool | datetime.datetime | datetime.date | datetime.time | datetime.timedelta | None

GENERAL = "General"
# Each program shows these in the order of its own country, so that only the ISO form is sure.
_OF_THE_COUNTRY = frozenset({
    "mm-dd-yy", "m/d/yy h:mm", "mm/dd/yy", "yyyy-mm-dd", "yyyy-mm-dd h:mm:ss", "yyyy-mm-dd hh:mm:ss",
})  # fmt: skip
_TOKEN = re.compile(
    r"""
      (?P<quoted>"[^"]*"?) | \\(?P<escaped>.) | _(?P<space>.) | \*(?P<fill>.)
    | \[\$(?P<currency>[^\]-]*)(?:-(?P<country>[0-9A-Fa-f]*))?[^\]]*\]
    | \[(?P<condition>[<>=]{1,2})\s*(?P<limit>-?[\d.]+)\] | \[(?P<elapsed>h+|m+|s+)\] | (?P<bracket>\[[^\]]*\])
    | (?P<general>General) | (?P<half>AM/PM|A/P) | (?P<exponent>E[+-]) | (?P<date>y+|m+|d+|h+|s+(?:\.0+)?|e+)
    | (?P<digit>[0?\#]) | (?P<point>\.) | (?P<comma>,) | (?P<slash>/) | (?P<percent>%) | (?P<text>@)
    | (?P<other>.)
    """,
    re.VERBOSE | re.IGNORECASE | re.DOTALL,
)
# A number with at least one digit before the point and all places after it; places are single characters.
_PLAIN = re.compile(r"(?P<before>\0*)(?P<whole>0|#,##0)(?P<decimals>\.0+)?(?P<after>\0*)")
_LONGEST_CODE = 255
_TESTS: dict[str, Callable[[float, float], bool]] = {
    "<": float.__lt__, "<=": float.__le__, ">": float.__gt__, ">=": float.__ge__, "=": float.__eq__, "<>": float.__ne__,
}  # fmt: skip
_LARGEST = 1e15


@dataclass(frozen=True, slots=True)
class _Sign:
    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class _Plain:
    """A section that Python itself can write: literals around one number like 0, #,##0.00 or 0.0%."""

    before: str
    code: str
    after: str
    unit: Decimal
    times: int


@dataclass(frozen=True, slots=True)
class _Section:
    """One of the up to four parts of a code, with its condition and the country of its names."""

    tokens: tuple[_Sign, ...]
    condition: str = ""
    limit: float = 0.0
    country: str = ""
    plain: _Plain | None = None

    def has(self, *kinds: str) -> bool:
        """Return whether it has a token of these kinds."""
        return any(token.kind in kinds for token in self.tokens)

    def holds(self, number: float) -> bool:
        """Return whether its condition is true of a number."""
        return _TESTS[self.condition](number, self.limit)


def format_value(value: Value, code: str) -> str:
    """Return the text that a spreadsheet shows for a value with a number format.

    Names of months are English unless the format has a country; separators are English. Dates whose order is left to
    the reader's country are in ISO form. A text is shown as it is.

    >>> format_value(0.6530359342, "0%"), format_value(42, "00000"), format_value(1234567, '0.0,,"M"')
    ('65%', '00042', '1.2M')
    """
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).upper()
    if code == GENERAL or len(code) > _LONGEST_CODE:
        return general(value)
    sections = _sections(code)
    if isinstance(value, str):
        last = sections[-1]
        # The fourth part is for texts, and so is one with the sign for them.
        return _joined(last, value) if len(sections) == 4 or last.has("text") else value
    if not isinstance(value, int | float):
        return general(value) if code in _OF_THE_COUNTRY else _date(value, sections[0])
    return _number(float(value), value, sections)


def general(value: object) -> str:
    """Return the text of a value without a format.

    Whole numbers are in full, others have ten digits, and dates are in ISO form.

    >>> general(12.0), general(0.1 + 0.2), general(datetime.datetime(2024, 3, 1)), general(None)
    ('12', '0.3', '2024-03-01', '')
    """
    if value is None:
        return ""
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < _LARGEST else f"{value:.10g}".upper()
    if isinstance(value, datetime.datetime) and value.time() == datetime.time():
        return value.date().isoformat()
    return str(value)


@lru_cache(maxsize=1_000)
def _sections(code: str) -> tuple[_Section, ...]:
    """Return the parts of a code, which semicolons part outside of quotation marks and brackets."""
    parts: list[list[re.Match[str]]] = [[]]
    for found in _TOKEN.finditer(code):
        if found.lastgroup == "other" and found[0] == ";":
            parts.append([])
        else:
            parts[-1].append(found)
    return tuple(map(_section, parts[:4]))


def _section(found: Sequence[re.Match[str]]) -> _Section:
    condition = next((one for one in found if one["condition"] in _TESTS), None)
    country = next((one["country"] for one in found if one["country"]), "")
    limit = float(condition["limit"]) if condition and condition["limit"].count(".") < 2 else 0.0
    tokens = tuple(token for one in found if (token := _token(one)).kind != "bracket")
    return _Section(tokens, condition["condition"] if condition else "", limit, country, _plain(tokens))


def _plain(tokens: Sequence[_Sign]) -> _Plain | None:
    """Return how Python writes a section; None if it has more than literals around one number."""
    written = "".join("\0" if token.kind in ("literal", "percent") else token.text for token in tokens)
    found = _PLAIN.fullmatch(written)
    if not found or any(token.kind in ("date", "elapsed", "text", "general") for token in tokens):
        return None
    before, after = (
        "".join(token.text for token in tokens[slice(*found.span(group))]) for group in ("before", "after")
    )
    decimals = len(found["decimals"] or ".") - 1
    code = f"{',' if ',' in found['whole'] else ''}.{decimals}f"
    times = 100 ** sum(token.kind == "percent" for token in tokens)
    return _Plain(before, code, after, Decimal(1).scaleb(-decimals), times)


def _token(found: re.Match[str]) -> _Sign:
    groups = found.groupdict()
    if groups["quoted"] is not None:
        return _Sign("literal", groups["quoted"].strip('"'))
    if groups["space"] is not None:
        # As wide as a character that is not shown.
        return _Sign("literal", " ")
    for kind in ("escaped", "currency", "other"):
        if groups[kind] is not None:
            return _Sign("literal", groups[kind])
    if groups["fill"] is not None or groups["condition"] is not None:
        return _Sign("bracket", "")
    kind = found.lastgroup or "literal"
    return _Sign(kind, found[kind])


def _number(number: float, value: int | float, sections: Sequence[_Section]) -> str:
    section, signed = _chosen(number, sections)
    if section.has("date", "elapsed"):
        return general(value)
    if not section.has("digit"):
        general_text = general(abs(value) if not signed else value)
        return _joined(section, general_text)
    try:
        shown = _fraction(number, section) if section.has("slash") else _decimal(number, section)
    except ArithmeticError:
        # Beyond the digits that anybody would read.
        return general(value)
    minus = "-" if signed and number < 0 and any(digit in shown for digit in "123456789") else ""
    return f"{minus}{' '.join(shown.split())}"


def _chosen(number: float, sections: Sequence[_Section]) -> tuple[_Section, bool]:
    """Return the section for a number, and whether a minus is written before it."""
    if any(section.condition for section in sections):
        fitting = (section for section in sections[:3] if not section.condition or section.holds(number))
        section = next(fitting, sections[0])
        return section, not (section.condition.startswith("<") and section.limit <= 0)
    if len(sections) == 1:
        return sections[0], True
    # With four parts the last is for texts; with two a zero is shown by the first.
    if number < 0:
        return sections[1], False
    return (sections[2] if number == 0 and len(sections) > 2 else sections[0]), True


def _joined(section: _Section, text: str) -> str:
    """Return the literals of a section with a text in place of its sign for one, or of the word "General"."""
    parts = (text if token.kind in ("text", "general") else token.text for token in section.tokens)
    return " ".join("".join(parts).split())


def _decimal(number: float, section: _Section) -> str:
    """Return a number, without a sign, in the places for digits of a section."""
    if plain := section.plain:
        exact = (abs(Decimal(repr(number))) * plain.times).quantize(plain.unit, ROUND_HALF_UP)
        return f"{plain.before}{exact:{plain.code}}{plain.after}"
    tokens = section.tokens
    point = next((at for at, token in enumerate(tokens) if token.kind == "point"), len(tokens))
    power = next((at for at, token in enumerate(tokens) if token.kind == "exponent"), len(tokens))
    point = min(point, power)
    whole, after = tokens[:point], tokens[point:power]
    places = [at for at, token in enumerate(whole) if token.kind == "digit"]
    last = places[-1] if places else -1
    # Commas after the last digit, before the point or after it, divide by a thousand each.
    scaling = sum(token.kind == "comma" for token in (*whole[last + 1 :], *after))
    grouped = any(token.kind == "comma" for token in whole[: last + 1])
    value = abs(Decimal(repr(number))) * 100 ** sum(token.kind == "percent" for token in tokens) / 1000**scaling
    exponent = _exponent(value, len(places)) if power < len(tokens) else 0
    decimals = sum(token.kind == "digit" for token in after)
    rounded = (value.scaleb(-exponent)).quantize(Decimal(1).scaleb(-decimals), ROUND_HALF_UP)
    digits, _, fraction = f"{rounded:f}".partition(".")
    shown = _whole(whole, digits.lstrip("0"), grouped) + _after(after, fraction)
    return shown + _power(tokens[power:], exponent)


def _exponent(value: Decimal, places: int) -> int:
    """Return the power of ten of a number, a multiple of the number of places if there are several."""
    exponent = value.adjusted() if value else 0
    return exponent - exponent % places if places > 1 else exponent


def _whole(tokens: Sequence[_Sign], digits: str, grouped: bool) -> str:
    """Return the digits before the point in their places; the first place takes all that are left."""
    first = next((at for at, token in enumerate(tokens) if token.kind == "digit"), -1)
    parts: list[str] = []
    written = 0
    for at in range(len(tokens) - 1, -1, -1):
        token = tokens[at]
        if token.kind != "digit":
            parts.append("" if token.kind == "comma" else token.text)
            continue
        taken, digits = (digits, "") if at == first else (digits[-1:], digits[:-1])
        for digit in reversed(taken or {"0": "0", "?": " "}.get(token.text, "")):
            parts.append("," if grouped and written and written % 3 == 0 and digit.isdigit() else "")
            parts.append(digit)
            written += 1
    return "".join(reversed(parts))


def _after(tokens: Sequence[_Sign], digits: str) -> str:
    """Return the point and the digits after it; a place that needs none shows no zero at the end."""
    places = [token.text for token in tokens if token.kind == "digit"]
    needed = next((at for at in range(len(places), 0, -1) if places[at - 1] == "0" or digits[at - 1] != "0"), 0)
    waiting = iter(digits)
    parts = []
    for at, token in enumerate(tokens):
        if token.kind == "digit":
            digit = next(waiting)
            parts.append(digit if sum(one.kind == "digit" for one in tokens[:at]) < needed else "")
        elif token.kind == "point":
            parts.append("." if needed else "")
        elif token.kind != "comma":
            parts.append(token.text)
    return "".join(parts)


def _power(tokens: Sequence[_Sign], exponent: int) -> str:
    """Return the power of ten in the places after its sign, and the literals after it."""
    if not tokens:
        return ""
    places = sum(token.kind == "digit" for token in tokens)
    sign = "-" if exponent < 0 else "+" if tokens[0].text.endswith("+") else ""
    rest = "".join(token.text for token in tokens[1:] if token.kind not in ("digit", "comma", "point"))
    return f"E{sign}{abs(exponent):0{places}d}{rest}"


def _fraction(number: float, section: _Section) -> str:
    """Return a number as a fraction: "1 1/2" for the code "# ?/?"."""
    runs = [(kind, list(run)) for kind, run in groupby(section.tokens, key=lambda token: token.kind)]
    slash = next(at for at, (kind, _) in enumerate(runs) if kind == "slash")
    below = runs[slash + 1][1] if slash + 1 < len(runs) else []
    stated = "".join(token.text for token in below).strip()
    value = Fraction(abs(number))
    if stated.isdigit() and int(stated):
        part = Fraction(round(value * int(stated)), int(stated))
        over = int(stated)
    else:
        part = value.limit_denominator(10 ** max(1, len(stated)) - 1)
        over = part.denominator
    # Digits before the two of the fraction are for the whole.
    mixed = sum(kind == "digit" for kind, _ in runs[:slash]) > 1
    count = int(part * over)
    whole, count = divmod(count, over) if mixed else (0, count)
    pieces = [str(whole)] * bool(whole or (mixed and not count)) + [f"{count}/{over}"] * bool(count or not mixed)
    literals = [run for kind, run in runs[slash + 2 :] if kind == "literal"]
    return f"{' '.join(pieces)}{''.join(token.text for run in literals for token in run)}"


def _date(value: datetime.date | datetime.time | datetime.timedelta, section: _Section) -> str:
    """Return a date, a time of day or a duration by the letters of a section."""
    if not section.has("date", "elapsed"):
        return general(value)
    seconds = _seconds(value)
    moment = _moment(value)
    parts = []
    for at, token in enumerate(section.tokens):
        if token.kind == "elapsed":
            unit = {"h": 3600, "m": 60, "s": 1}[token.text[0].lower()]
            parts.append(f"{int(abs(seconds) // unit):0{len(token.text)}d}")
        elif token.kind == "half":
            parts.append("AM" if moment.hour < 12 else "PM")
        elif token.kind == "date":
            parts.append(_date_part(token.text.lower(), moment, section, at))
        elif token.kind == "digit":
            parts.append("")
        else:
            parts.append(token.text)
    return " ".join(("-" * (seconds < 0) + "".join(parts)).split())


def _seconds(value: datetime.date | datetime.time | datetime.timedelta) -> float:
    if isinstance(value, datetime.timedelta):
        return value.total_seconds()
    if isinstance(value, datetime.time):
        return value.hour * 3600.0 + value.minute * 60 + value.second
    return 0.0


def _moment(value: datetime.date | datetime.time | datetime.timedelta) -> datetime.datetime:
    if isinstance(value, datetime.datetime):
        return value
    if isinstance(value, datetime.date):
        return datetime.datetime.combine(value, datetime.time())
    day = datetime.datetime(1899, 12, 31)
    if isinstance(value, datetime.timedelta):
        return day + abs(value) % datetime.timedelta(days=1)
    return datetime.datetime.combine(day, value)


def _date_part(letters: str, moment: datetime.datetime, section: _Section, at: int) -> str:
    number = len(letters)
    match letters[0]:
        case "y" | "e":
            return f"{moment.year % 100:02d}" if letters in ("y", "yy") else f"{moment.year:04d}"
        case "d":
            return f"{moment.day:0{number}d}" if number < 3 else _name("days", moment, number == 3, section.country)
        case "h":
            hour = (moment.hour - 1) % 12 + 1 if section.has("half") else moment.hour
            return f"{hour:0{min(number, 2)}d}"
        case "s":
            whole, point, fraction = letters.partition(".")
            parts = f"{moment.microsecond:06d}"[: len(fraction)]
            return f"{moment.second:0{min(len(whole), 2)}d}{point}{parts}"
    if number < 3 and _are_minutes(section.tokens, at):
        return f"{moment.minute:0{number}d}"
    if number < 3:
        return f"{moment.month:0{number}d}"
    name = _name("months", moment, number == 3, section.country)
    return name[:1] if number == 5 else name


def _are_minutes(tokens: Sequence[_Sign], at: int) -> bool:
    """Return whether an "m" is of minutes: after an hour, or before seconds."""
    times = [(place, token.text[0].lower()) for place, token in enumerate(tokens) if token.kind in ("date", "elapsed")]
    here = times.index((at, "m"))
    return (here > 0 and times[here - 1][1] == "h") or (here + 1 < len(times) and times[here + 1][1] == "s")


def _name(kind: str, moment: datetime.datetime, short: bool, country: str) -> str:
    """Return the name of a month or day in the language of a country by its Windows number."""
    from babel import Locale

    # The last four digits are the language; before them are calendars and kinds of digits.
    code = windows_locale.get(int(country[-4:], 16) if country else 0, "en_US")
    names = getattr(Locale.parse(code), kind)["format"]["abbreviated" if short else "wide"]
    return str(names[moment.month if kind == "months" else moment.weekday()])
