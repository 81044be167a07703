"""Greetings and thanks, which ask nothing."""

from __future__ import annotations

import re
from functools import cache

from rag_engine.text.folding import fold
from rag_engine.text.tables import read_table

_WORD = re.compile(r"[^\W_]+")


def is_greeting(text: str) -> bool:
    """Return whether a text is a greeting or thanks alone.

    >>> is_greeting("Guten Morgen!"), is_greeting("Morgen")
    (True, False)
    """
    words = set(map(fold, _WORD.findall(text)))
    return any(not words.isdisjoint(opening) and words <= opening | polite for opening, polite in _greetings())


@cache
def _greetings() -> tuple[tuple[frozenset[str], frozenset[str]], ...]:
    tables = read_table("mentions").values()
    return tuple(
        (frozenset(fold(table["greetings"]).split()), frozenset(fold(table["polite"]).split())) for table in tables
    )
