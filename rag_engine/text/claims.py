"""Numbers, dates, names, negations and universal words that a text claims.

The words are those of data/support_words.toml, without accents and capitals.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cache

from rag_engine.text.analyzer import analyse, shared_terms
from rag_engine.text.folding import fold
from rag_engine.text.quantities import CalendarDate, calendar_dates, quantities
from rag_engine.text.tables import read_table

# In words these are articles and pronouns, so that another text need not have them in digits.
_ARTICLES = frozenset({0.0, 1.0})
# The digits of COVID-19, 2021/1119 and 1/CP.21 name something.
_NAMED_BY_DIGITS = re.compile(r"(?<![\w./-])(?=[\w./-]*\d)[\w.]*[/-][\w./-]*")
# 40m, 14th: a number with its unit or ending.
_NUMBER = re.compile(r"\d+[^\W\dA-Z]*")
_WORD = re.compile(r"\w+")
# These write every noun with a capital, so that one tells nothing of a name.
_NOUNS_IN_CAPITALS = frozenset({"de", "lb"})

# Words that join two clauses.
CONJUNCTIONS = "and|but|e|ma|et|mais|y|pero|und|aber|sondern|mas|ve|ama|ancak"
_CLAUSE = re.compile(rf"[.;:,!?()–—](?=\s|$)|[;:()–—]|(?<!\w)(?:{CONJUNCTIONS})(?!\w)")
# The verb that a negation belongs to ends the clause; one further up denies a part of it alone ("ödemeyen malik").
PREDICATE_LAST = frozenset({"tr"})
_SENTENCE = re.compile(r"[.;!?](?=\s|$)")
_DIGIT = re.compile(r"\d")
_HEADING = re.compile(r"\s*(?:#{1,6}\s.*|\*\*[^*]+\*\*:?\s*)")
_LONGEST_INTRODUCTION = 14

# Between a negation and what it denies: "not be deemed", "non è", "neither cognizable nor".
_BETWEEN = (
    r"(?:(?:be|been|being|a|an|the|is|are|deemed|considered|e|sono|es|son|sao|etre)\s+){0,3}"
    r"(?:\w+\s+(?:or|nor|ni|ne|oder|noch|o|ou)\s+)?"
)
# In Turkish the negation follows. "Bailable: No": a cell under the name of its column, or an answer of a form.
_DENIED_AFTER = re.compile(r"\W+(?:degil|olmayan)|\s*[:=]\s*(?:no|not|nein|non|nao|hayir|degil)(?!\w)")


@dataclass(frozen=True, slots=True)
class PolarClause:
    """A part of a sentence, folded, and whether something in it is denied."""

    text: str
    denied: bool


def numbers(text: str, language: str) -> dict[str, float]:
    """Return the numbers of a text, as it writes them, with their likeliest values: 1.107 with a thousand.

    Without a language, only those in digits are read.
    """
    return {quantity.text: max(quantity.values) for quantity in quantities(text, language)}


def own_numbers(text: str, language: str) -> set[float]:
    """Return the values of a text's numbers, without those in the name of something (COVID-19, 2021/1119)."""
    return set(numbers(_NAMED_BY_DIGITS.sub(" ", text), language).values())


def number_readings(text: str, language: str) -> frozenset[float]:
    """Return every value that a number of a text may have, other than one and zero."""
    return frozenset().union(*(quantity.values for quantity in quantities(text, language))) - _ARTICLES


def missing_numbers(text: str, language: str, readings: Collection[float]) -> list[str]:
    """Return the numbers of a text, as it writes them, that are in no reading of another text."""
    return [
        quantity.text
        for quantity in quantities(text, language)
        if not quantity.values <= _ARTICLES and quantity.values.isdisjoint(readings)
    ]


def missing_dates(text: str, language: str, dates: Sequence[CalendarDate]) -> list[str]:
    """Return the dates of a text, as it writes them, that agree with no date of another text."""
    return [date.text for date in calendar_dates(text, language) if not any(map(date.agrees, dates))]


def names_in(text: str, language: str) -> list[str]:
    """Return the names and abbreviations of a text, each once.

    Where every noun has a capital, only abbreviations are returned.

    >>> names_in("Die Daten des DWD", "de")
    ['DWD']
    """
    parts = (part for term in shared_terms(text) for part in _WORD.findall(term) if not _NUMBER.fullmatch(part))
    return list(dict.fromkeys(part for part in parts if language not in _NOUNS_IN_CAPITALS or not part[1:].islower()))


def clauses(text: str, language: str) -> list[PolarClause]:
    """Return the clauses of a text, cut at its signs and at "and" and "but"."""
    parts = [part for part in _CLAUSE.split(_without("no_negation", text, language)) if part and part.strip()]
    ends = [" ".join(part.split()[-2:]) if language in PREDICATE_LAST else part for part in parts]
    return [PolarClause(part, denies(end, language)) for part, end in zip(parts, ends, strict=True)]


def negations(text: str, language: str) -> int:
    """Return how often a text denies or prohibits; words that deny together ("ne ... pas") count once."""
    plain = _without("no_negation", text, language)
    together = _pattern("together", language).search(plain) is not None
    return together + len(_pattern("negation", language).findall(plain))


def denies(text: str, language: str) -> bool:
    """Return whether anything in a text is denied or prohibited."""
    return negations(text, language) > 0


def denies_throughout(text: str, language: str) -> bool:
    """Return whether something is denied in each sentence of a text."""
    parts = [part for part in _SENTENCE.split(text) if len(part.split()) > 2]
    return bool(parts) and all(denies(part, language) for part in parts)


def limits(text: str, language: str) -> bool:
    """Return whether a word of a text says the same with or without negation: only, at most, unless."""
    return _pattern("limits", language).search(fold(text)) is not None


def universals(text: str, language: str) -> dict[str, str]:
    """Return the universal words of a text, one for times ("always") and one for things ("all")."""
    folded = _without("no_universal", text, language)
    found = {kind: _pattern(kind, language).search(folded) for kind in ("always", "all")}
    return {kind: match.group() for kind, match in found.items() if match}


def stated_values(attribute: str, passage: str) -> frozenset[bool]:
    """Return the truth values that a passage states of an attribute: one, both or none.

    For "bailable", the words "non-bailable", "not bailable" and "bailable: no" are denials, in any language.
    """
    term = r"[\s-]+".join(re.escape(part) for part in re.split(r"[\W_]+", fold(attribute)) if part)
    text = fold(passage)
    found = re.finditer(rf"(?<!\w)(?:non)?(?P<term>{term})(?!\w)", text) if term else ()
    return frozenset(
        not (_denied_before().search(text, max(0, start - 60), start) or _DENIED_AFTER.match(text, end))
        for start, end in (match.span("term") for match in found)
    )


def states_nothing(sentence: str, language: str) -> bool:
    """Return whether a sentence is a heading, an introduction, or about the sources alone.

    A sentence that says that the sources are silent on something is one of these: no passage can bear it out.
    """
    if _HEADING.fullmatch(sentence) or _pattern("absent", language).search(fold(sentence)):
        return True
    introduces = sentence.rstrip(" *_").endswith((":", "：")) and len(sentence.split()) <= _LONGEST_INTRODUCTION
    if _DIGIT.search(sentence):
        return False
    about = analyse(read_table("support_words").get(language, {}).get("about", ""), language)
    return introduces or set(about).issuperset(analyse(sentence, language))


@cache
def _denied_before() -> re.Pattern[str]:
    """Return a pattern for what ends in a negation, of all languages whose predicate follows it."""
    tables = [words for language, words in read_table("support_words").items() if language not in PREDICATE_LAST]
    listed = "|".join(word for words in tables for word in (*words["negation"], *words["together"]))
    return re.compile(rf"(?:(?<!\w)(?:{listed})[\s-]+{_BETWEEN}|(?<!\w)non)$")


def _without(kind: str, text: str, language: str) -> str:
    return _pattern(kind, language).sub(" ", fold(text))


@cache
def _pattern(kind: str, language: str) -> re.Pattern[str]:
    """Return the words of a kind as a pattern, which fits nothing in a language without them."""
    listed: str | Sequence[str] = read_table("support_words").get(language, {}).get(kind, [])
    alternatives = "|".join([listed] if isinstance(listed, str) else listed)
    return re.compile(rf"(?<!\w)(?:{alternatives})(?!\w)" if alternatives else r"(?!)")
