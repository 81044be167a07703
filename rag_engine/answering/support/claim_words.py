"""Words that deny, generalise or state nothing, in the languages of data/support_words.toml."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from rag_engine.text.analyzer import analyse
from rag_engine.text.folding import fold
from rag_engine.text.tables import read_table

_CLAUSE = re.compile(
    r"[.;:,!?()–—](?=\s|$)|[;:()–—]|(?<!\w)(?:and|but|e|ma|et|mais|y|pero|und|aber|sondern|mas|ve|ama|ancak)(?!\w)"
)
# The verb that a negation belongs to ends the clause; one further up denies a part of it alone ("ödemeyen malik").
_PREDICATE_LAST = frozenset({"tr"})
_SENTENCE = re.compile(r"[.;!?](?=\s|$)")
_DIGIT = re.compile(r"\d")
_HEADING = re.compile(r"\s*(?:#{1,6}\s.*|\*\*[^*]+\*\*:?\s*)")
_LONGEST_INTRODUCTION = 14
_NOTHING = re.compile(r"(?!)")


@dataclass(frozen=True, slots=True)
class PolarClause:
    """A part of a sentence, folded, and whether something in it is denied."""

    text: str
    denied: bool


@dataclass(frozen=True, slots=True)
class _ClaimWords:
    """The patterns of one language."""

    negation: re.Pattern[str]
    no_negation: re.Pattern[str]
    limits: re.Pattern[str]
    always: re.Pattern[str]
    all: re.Pattern[str]
    no_universal: re.Pattern[str]
    absent: re.Pattern[str]
    about: frozenset[str]


def clauses(text: str, language: str) -> list[PolarClause]:
    """Return the clauses of a text, cut at its signs and at "and" and "but"."""
    words = _claim_words(language)
    folded = words.no_negation.sub(" ", fold(text))
    parts = [part for part in _CLAUSE.split(folded) if part and part.strip()]
    ends = [" ".join(part.split()[-2:]) if language in _PREDICATE_LAST else part for part in parts]
    return [PolarClause(part, words.negation.search(end) is not None) for part, end in zip(parts, ends, strict=True)]


def denies(text: str, language: str) -> bool:
    """Return whether anything in a text is denied or prohibited."""
    words = _claim_words(language)
    return words.negation.search(words.no_negation.sub(" ", fold(text))) is not None


def denies_throughout(text: str, language: str) -> bool:
    """Return whether something is denied in each sentence of a text."""
    parts = [part for part in _SENTENCE.split(text) if len(part.split()) > 2]
    return bool(parts) and all(denies(part, language) for part in parts)


def limits(text: str, language: str) -> bool:
    """Return whether a text holds a word that says the same with a negation and without: only, at most, unless."""
    return _claim_words(language).limits.search(fold(text)) is not None


def universals(text: str, language: str) -> dict[str, str]:
    """Return the words of a text that hold for all times ("always") and for all things ("all"), one for each kind."""
    words = _claim_words(language)
    folded = words.no_universal.sub(" ", fold(text))
    found = {kind: pattern.search(folded) for kind, pattern in (("always", words.always), ("all", words.all))}
    return {kind: match.group() for kind, match in found.items() if match}


def states_nothing(sentence: str, language: str) -> bool:
    """Return whether a sentence is a heading, introduces what follows, or speaks of the sources alone.

    A sentence that says that the sources are silent on something is one of these: no passage can bear it out.
    """
    if _HEADING.fullmatch(sentence):
        return True
    words = _claim_words(language)
    if words.absent.search(fold(sentence)):
        return True
    introduces = sentence.rstrip(" *_").endswith((":", "：")) and len(sentence.split()) <= _LONGEST_INTRODUCTION
    if _DIGIT.search(sentence):
        return False
    return introduces or words.about.issuperset(analyse(sentence, language))


@cache
def _claim_words(language: str) -> _ClaimWords:
    table = _tables().get(language, {})

    def pattern(name: str) -> re.Pattern[str]:
        listed = table.get(name, [])
        alternatives = [listed] if isinstance(listed, str) else listed
        return re.compile(rf"(?<!\w)(?:{'|'.join(alternatives)})(?!\w)") if alternatives else _NOTHING

    about = table.get("about", "")
    return _ClaimWords(
        **{name: pattern(name) for name in ("negation", "no_negation", "limits", "always", "all", "no_universal")},
        absent=pattern("absent"),
        about=frozenset(analyse(about if isinstance(about, str) else "", language)),
    )


@cache
def _tables() -> dict[str, dict[str, str | Sequence[str]]]:
    return read_table("support_words")
