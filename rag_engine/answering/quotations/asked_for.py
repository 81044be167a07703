"""Kinds of answer that a question asks for: several things, a figure, a time, a definition."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from functools import cache
from typing import Literal

from rag_engine.answering.abstention import years_of
from rag_engine.config import DATA
from rag_engine.text.quantities import calendar_dates, quantities

Asked = Literal["list", "figure", "time", "definition"]

_FRACTION = re.compile(r"\b(?:half|third|quarter|tous|metà|terzo|hälfte|drittel|mitad|tercio|metade|terço|yarı)\b")
# Numbers that name something and count nothing: a paragraph at its beginning, a note, an act, a standard, an article.
_REFERENCE = re.compile(
    r"""^\W*(?:\d{1,3}|[a-z])[.)]\s | \[[^\]]{1,8}\] | \(\d{1,3}\) | \b\d+/[\w.]+(?:/\w+)*
      | \b[A-Z]{2,}(?:[\s-][A-Z]+){0,3}[\s-]\d[\d-]*
      | (?:§{1,2}|\b(?i:art(?:icle|ikel|icolo|ículo|igo|s)?\.?|paragraphs?|paras?\.?|párrafos?|absatz|abs\.|sections?
          |annex|decision|no\.?|nr\.?|table|figure))\s*\d+(?:\(\w+\)|[.,-]\d+)*
    """,
    re.VERBOSE,
)
_SEPARATED = re.compile(r"[;,、]|(?<=\s)[•–-](?=\s)")
_SEVERAL = 3


def asked_for(question: str, language: str) -> frozenset[Asked]:
    """Return what a question asks for, by its words; nothing in a language without patterns."""
    folded = question.strip().casefold()
    patterns = _tables()[0].get(language, {})
    return frozenset(kind for kind, pattern in patterns.items() if pattern.search(folded))


def gives(asked: frozenset[Asked], text: str, language: str, *, listed: bool) -> bool:
    """Return whether a text looks like something that is asked for; `listed` says that it is of a list or a table."""
    folded = text.casefold()
    defines = _tables()[1].get(language)
    return (
        ("list" in asked and (listed or len(_SEPARATED.findall(folded)) >= _SEVERAL))
        or ("time" in asked and _gives_time(text, language))
        or ("figure" in asked and _gives_figure(text, language))
        or ("definition" in asked and defines is not None and bool(defines.search(folded)))
    )


def _gives_figure(text: str, language: str) -> bool:
    """Whether a text has a number that counts or measures something, or says how often."""
    counted = _REFERENCE.sub(" ", text)
    return (
        bool(quantities(counted, language))
        or bool(_FRACTION.search(text.casefold()))
        or _says_how_often(text, language)
    )


def _gives_time(text: str, language: str) -> bool:
    """Whether a text has a date, a year or a number of days, months or years, or says how often."""
    dated = _REFERENCE.sub(" ", text)
    unit = _times()[1].get(language)
    lasts = unit is not None and bool(unit.search(dated.casefold())) and bool(quantities(dated, language))
    return lasts or bool(years_of(dated) or calendar_dates(dated, language)) or _says_how_often(text, language)


def _says_how_often(text: str, language: str) -> bool:
    often = _times()[0].get(language)
    return often is not None and bool(often.search(text.casefold()))


@cache
def _times() -> tuple[Mapping[str, re.Pattern[str]], Mapping[str, re.Pattern[str]]]:
    table = tomllib.loads((DATA / "asked_for.toml").read_text(encoding="utf-8"))
    often, units = (
        {language: re.compile(pattern) for language, pattern in table[name].items()}
        for name in ("often", "units_of_time")
    )
    return often, units


@cache
def _tables() -> tuple[Mapping[str, Mapping[Asked, re.Pattern[str]]], Mapping[str, re.Pattern[str]]]:
    table = tomllib.loads((DATA / "asked_for.toml").read_text(encoding="utf-8"))
    questions = {
        language: {kind: re.compile(pattern) for kind, pattern in kinds.items()}
        for language, kinds in table["questions"].items()
    }
    return questions, {language: re.compile(pattern) for language, pattern in table["defines"].items()}
