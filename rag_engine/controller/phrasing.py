"""Words of the parts of a question in each language, from data/sub_questions.toml."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from rag_engine.text.tables import read_table


@dataclass(frozen=True, slots=True)
class PartWords:
    """The words of one language that join the parts of a question or open one, ready to use.

    `join` matches a comma, a semicolon or a joining word between two parts, with a group `word` where there is one;
    `gap` all that may stand between two items of a list; `asks` the start of a part that asks (or, with `anywhere`, an
    asking word); `prepositions` and `determiner` what opens an item of a list; `undivided` the words after which a list
    is one thing ("the difference between"), `auxiliaries` those after which it is a subject, whose verb follows.
    """

    join: re.Pattern[str]
    gap: re.Pattern[str]
    asks: re.Pattern[str]
    anywhere: bool
    prepositions: tuple[re.Pattern[str], ...]
    determiner: re.Pattern[str]
    undivided: re.Pattern[str]
    auxiliaries: tuple[re.Pattern[str], ...]
    negations: frozenset[str]


@cache
def part_words(language: str) -> PartWords | None:
    """Return the words of a language; None for one that the table does not have."""
    table = read_table("sub_questions").get(language)
    if table is None:
        return None
    joins = _any_of(table["joins"])
    prepositions = [_any_of(row) for row in table["prepositions"]]
    before = rf"(?:(?:{'|'.join(prepositions)})\s*)?" if prepositions else ""
    openers = "|".join([*prepositions, _any_of(table["determiners"])])
    asks = rf"[¿\s]*{before}(?:{'|'.join(table['asks'])})(?![\w])"
    anywhere = bool(table.get("anywhere"))
    return PartWords(
        join=_compile(rf"\s*[,;]\s*(?:(?P<word>{joins})\s+)?|\s+(?P<alone>{joins})\s+"),
        # A word may stand for the noun of the last item: "la Costituzione italiana e quella tedesca".
        gap=_compile(rf"(?:\s*[,;]\s*(?:{joins}\s+)?|\s+{joins}\s+)(?:(?:{openers})\s*){{0,3}}(?:[\w'’]{{1,6}}\s+)?"),
        asks=_compile(rf"(?<!\w)(?:{'|'.join(table['asks'])})(?!\w)" if anywhere else asks),
        anywhere=anywhere,
        prepositions=tuple(_compile(rf"(?<![\w'’]){one}") for one in prepositions),
        determiner=_compile(rf"(?<![\w'’]){_any_of(table['determiners'])}"),
        undivided=_compile(rf"(?<!\w){_any_of(table['undivided'])}"),
        auxiliaries=tuple(_compile(_any_of([word])) for word in table.get("auxiliaries", ())),
        negations=frozenset(table["negations"]),
    )


def _any_of(words: Sequence[str]) -> str:
    """Return a pattern of these words, which matches nothing without any; an apostrophe at their end needs no blank."""
    patterns = [
        re.escape(word[:-1]) + "['’]" if word.endswith("'") else rf"{re.escape(word)}(?![\w'’])"
        for word in sorted(words, key=len, reverse=True)
    ]
    return f"(?:{'|'.join(patterns) or '(?!)'})"


def _compile(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)
