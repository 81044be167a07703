"""Numbers, dates, durations and counts as the language of the interface writes them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, date, datetime
from typing import Any

from babel import Locale, dates, numbers

from pages._shared.interface_language import interface_language, ngettext

# English with the day before the month, as the documents have it.
_REGIONS = {"en": "en_GB", "it": "it_IT", "fr": "fr_FR", "es": "es_ES"}

# How a date is typed and shown in an input: the day before the month in each of the languages.
DATE_FORMAT = "DD/MM/YYYY"


def number(value: float, decimals: int = 0) -> str:
    """Return a number with its thousands separated, rounded to `decimals`.

    >>> number(1234.56, 1)
    '1,234.6'
    """
    pattern = f"#,##0.{'0' * decimals}" if decimals else "#,##0"
    return str(numbers.format_decimal(value, format=pattern, locale=_locale()))


def signed(value: float, decimals: int) -> str:
    """Return a difference with its sign, rounded to `decimals`."""
    digits = f"#,##0.{'0' * decimals}"
    return str(numbers.format_decimal(value, format=f"+{digits};-{digits}", locale=_locale()))


def vega_numbers() -> Mapping[str, Any]:
    """Return what has a chart write its numbers so."""
    decimal, thousands = numbers.get_decimal_symbol(_locale()), numbers.get_group_symbol(_locale())
    written = {"decimal": decimal, "thousands": thousands, "grouping": [3], "currency": ["", ""]}
    return {"embedOptions": {"formatLocale": written}}


def percent(share: float) -> str:
    """Return a share of 1 in whole percent."""
    return str(numbers.format_percent(share, locale=_locale()))


def counted(one: str, many: str, n: int, **values: object) -> str:
    """Return the message that goes with a number, with the number as {n} and the values by their names."""
    return ngettext(one, many, n).format(n=number(n), **values)


def day(when: str | date) -> str:
    """Return a day, or the day of a moment in ISO form, as in 5 Nov 2026."""
    return str(dates.format_date(_local(when), "medium", _locale()))


def long_day(when: str | date) -> str:
    """Return the same with the month in full, as in 5 November 2026."""
    return str(dates.format_date(_local(when), "long", _locale()))


def known_date(written: str) -> str:
    """Return a document's date as known: 5 Nov 2026 or Nov 2026; a year and other text as written.

    >>> known_date("2026-11")
    'Nov 2026'
    """
    with suppress(ValueError):
        if re.fullmatch(r"\d{4}-\d\d-\d\d", written):
            return day(date.fromisoformat(written))
        if re.fullmatch(r"\d{4}-\d\d", written):
            return str(dates.format_skeleton("yMMM", date.fromisoformat(f"{written}-01"), locale=_locale()))
    return written


def moment(when: str | datetime, *, seconds: bool = False) -> str:
    """Return a moment by the clock of this machine, as in 5 Nov 2026, 14:02."""
    local = datetime.fromisoformat(when) if isinstance(when, str) else when
    clock = dates.format_time(local.astimezone().time(), "medium" if seconds else "short", locale=_locale())
    return f"{day(local)}, {clock}"


def universal_moment(when: str) -> str:
    """Return a moment in UTC, for a file that leaves this machine: 5 Nov 2026, 13:02 UTC."""
    universal = datetime.fromisoformat(when)
    universal = universal.replace(tzinfo=universal.tzinfo or UTC).astimezone(UTC)
    clock = dates.format_time(universal.time(), "short", locale=_locale())
    return f"{day(universal.date())}, {clock} UTC"


def duration(seconds: float) -> str:
    """Return a duration in one unit: 40 s, 12 min, 1.5 h.

    >>> duration(5500)
    '1.5 h'
    """
    if seconds < 60:
        return f"{number(seconds)} s"
    return f"{number(seconds / 60)} min" if seconds < 5400 else f"{number(seconds / 3600, 1)} h"


def _local(when: str | date) -> date:
    """Return a moment by the clock of this machine; a day stays the day that it is."""
    parsed = datetime.fromisoformat(when) if isinstance(when, str) else when
    return parsed.astimezone() if isinstance(parsed, datetime) else parsed


def _locale() -> Locale:
    return Locale.parse(_REGIONS[interface_language()])
