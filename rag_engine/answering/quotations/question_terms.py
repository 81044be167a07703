"""Words, places and kinds of answer of a question, and texts that say or give them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from rag_engine.answering.citations import words
from rag_engine.answering.refuse_answer import years_of
from rag_engine.geography import Gazetteer, find_places, place_mentions
from rag_engine.text.analyzer import analyse
from rag_engine.text.quantities import calendar_dates, quantities
from rag_engine.text.tables import read_table

_WORD = re.compile(r"\w+(?:[-'’.]\w+)*")
# In front of a place's English name, so that no word is taken for it.
_PLACE = "place:"

# The forms of a word or a place, any of which says it.
Term = frozenset[str]

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


def terms_of(question: str, language: str, gazetteer: Gazetteer) -> tuple[Term, ...]:
    """Return the places and the other words of a question, each once."""
    found: dict[Term, None] = {}
    taken: list[tuple[int, int]] = []
    for form, start, end in place_mentions(question, gazetteer, language):
        if names := frozenset(_PLACE + name for name in (*form.countries, *form.regions)):
            taken.append((start, end))
            found[names] = None
    for match in _WORD.finditer(question):
        forms = frozenset((*analyse(match[0], language), *words(match[0])))
        if forms and not any(start < match.end() and match.start() < end for start, end in taken):
            found[forms] = None
    return tuple(found)


def forms_in(text: str, language: str, gazetteer: Gazetteer) -> frozenset[str]:
    """Return every form that a text in this language says."""
    places = find_places(text, gazetteer, language, running=True)
    named = (_PLACE + name for name in (*places.countries, *places.regions))
    return frozenset((*words(text), *analyse(text, language), *named))


def shares_said(
    terms: Sequence[Term], texts: Sequence[AbstractSet[str]], lengths: Sequence[int]
) -> NDArray[np.float64]:
    """Return the share of the terms in each text; a term in fewer texts counts more.

    `texts` are the forms of each and `lengths` its words: a long text says many of them by chance. The name of a place
    is what tells one row of a table from the others.
    """
    found = np.array([[not term.isdisjoint(text) for term in terms] for text in texts], dtype=np.float64)
    found = found.reshape(len(texts), -1)
    rarity = np.log((len(texts) + 1) / (found.sum(axis=0) + 0.5))
    length = 1 + np.log1p(np.maximum(lengths, 1)) / 10
    result: NDArray[np.float64] = (found @ rarity) / (rarity.sum() or 1.0) / length
    return result


def asked_for(question: str, language: str) -> frozenset[Asked]:
    """Return the kinds of answer that a question asks for; none in a language without patterns."""
    folded = question.strip().casefold()
    patterns: dict[Asked, str] = read_table("asked_for")["questions"].get(language, {})
    return frozenset(kind for kind, pattern in patterns.items() if re.search(pattern, folded))


def gives(asked: frozenset[Asked], text: str, language: str, *, listed: bool) -> bool:
    """Return whether a text looks like something that is asked for.

    `listed` says that it is of a list or a table.
    """
    return (
        ("list" in asked and (listed or len(_SEPARATED.findall(text)) >= _SEVERAL))
        or ("time" in asked and _gives_time(text, language))
        or ("figure" in asked and _gives_figure(text, language))
        or ("definition" in asked and _matches("defines", text, language))
    )


def _gives_figure(text: str, language: str) -> bool:
    """Return whether a text has a number that counts or measures something, or says how often."""
    counts = quantities(_REFERENCE.sub(" ", text), language) or _FRACTION.search(text.casefold())
    return bool(counts) or _matches("often", text, language)


def _gives_time(text: str, language: str) -> bool:
    """Return whether a text has a date, a year or a number of days, months or years, or says how often."""
    dated = _REFERENCE.sub(" ", text)
    lasts = _matches("units_of_time", dated, language) and quantities(dated, language)
    return bool(lasts or years_of(dated) or calendar_dates(dated, language)) or _matches("often", text, language)


def _matches(table: str, text: str, language: str) -> bool:
    """Return whether a text has words of a table of data/asked_for.toml.

    A language without patterns has none.
    """
    pattern: str = read_table("asked_for")[table].get(language, "(?!)")
    return re.search(pattern, text.casefold()) is not None
