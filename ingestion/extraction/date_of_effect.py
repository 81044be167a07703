"""Date from which an act has effect, as its own text states it."""

from __future__ import annotations

from ingestion.extraction.date_patterns import written_dates
from ingestion.patterns import load_patterns

_PATTERNS = load_patterns("effect")
# How far behind the words their date begins, and how long it is at most.
_REACH, _LONGEST = 12, 40
# Words that follow a date in German and Turkish.
_BEHIND = 60


def stated_effect(text: str, published: str = "") -> str:
    """Return the first date on which an act says that it enters into force; empty for none.

    A date before the act was `published` is that of another.

    >>> stated_effect("This Regulation shall enter into force on 1 January 2022.")
    '2022-01-01'
    """
    for kind in ("own_act", "label", "around"):
        for clause in _PATTERNS[kind].finditer(text):
            found = next(iter(written_dates(text[clause.end() : clause.end() + _REACH + _LONGEST])), None)
            if found is None or found.start > _REACH or found.value < published:
                continue
            behind = text[clause.end() + found.end : clause.end() + found.end + _BEHIND]
            if kind != "around" or _PATTERNS["behind"].match(behind):
                return found.value
    return ""
