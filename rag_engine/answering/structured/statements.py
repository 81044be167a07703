"""Statements of a source, and whether a passage has the words, numbers and names of a value."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from rag_engine.answering.citations import shared_words, words
from rag_engine.answering.quotations.quotable import leans, units_of
from rag_engine.chunking.section.rules import rules_of
from rag_engine.messages import NO_MESSAGE, Message
from rag_engine.text.analyzer import analyse
from rag_engine.text.claims import denies, names_in, numbers
from rag_engine.text.folding import fold, fold_case
from rag_engine.text.sentences import Span, sentence_spans
from rag_engine.types.passage import Source

# Statements of a source that a record is held against, likeliest first.
_MOST = 12
# "303. Theft. ...": a section's number without its noun.
_NUMBERED_SECTION = re.compile(r"[^\w(]*\d+[A-Za-z]?\.\s")
_HEADING_END = re.compile(r"[^.;:!?,…]$")

# The share of a value's words that a passage has: a verb in another form, or one word of the model's own, is let pass.
WORDS_FOUND = 0.75

_WORD = re.compile(r"\w[\w’'-]*")
_PLAIN_WORD = re.compile(r"\w+")
# Letters by which a name in a passage may be longer: a genitive, a plural.
_ENDING = 2


@dataclass(frozen=True, slots=True)
class SourceStatement:
    """Characters [start, end) of a source's text that state something.

    `above` are the words that open its list, the caption of its table, the heading and the number of its section.
    `before` and `after` are the sentences around it. They are None for a row of a table or an item of a list, whose
    neighbours speak of something else. `goes_on` says whether `after` has something in common with it.
    """

    start: int
    end: int
    above: str
    before: Span | None
    after: Span | None
    goes_on: bool


def likely_statements(source: Source, claim: str) -> list[SourceStatement]:
    """Return the statements of a source that share words with a claim, the largest share first.

    Among equal ones a passage that was found comes first.
    """
    wanted = words(claim)

    def likeness(span: Span) -> tuple[float, bool]:
        return shared_words(wanted, words(source.text[slice(*span)])), is_found(source, span)

    found = [span for span in sentence_spans(source.text, _language(source)) if likeness(span)[0]]
    likely = sorted(found, key=likeness, reverse=True)[:_MOST]
    placed = {(statement.start, statement.end): statement for statement in _placed(source, frozenset(likely))}
    return [placed[span] for span in likely]


def is_found(source: Source, span: Span) -> bool:
    """Return whether a hit holds characters of a source's text."""
    start, end = source.start + span[0], source.start + span[1]
    return any(hit.start <= start and end <= hit.end for hit in source.hits)


def _placed(source: Source, wanted: Iterable[Span]) -> Iterator[SourceStatement]:
    """Yield the wanted spans with their surroundings."""
    text, language = source.text, _language(source)
    spans, units = sentence_spans(text, language), {unit.start: unit for unit in units_of(text, language)}
    kinds = [units[start].kind if start in units else "piece" for start, _ in spans]
    named_section = rules_of(language).unit
    heading = named = numbered = ""
    for at, (start, end) in enumerate(spans):
        said, following = text[start:end], text[slice(*spans[at + 1])] if at + 1 < len(spans) else ""
        named = said if named_section.match(said) else named
        numbered = said if _NUMBERED_SECTION.match(said) and kinds[at] != "item" else numbered
        begins, next_begins = (
            any(label.match(one) for label in (named_section, _NUMBERED_SECTION)) for one in (said, following)
        )
        if (start, end) in wanted:
            opening = units[start].opening if start in units else ""
            may_lean = at and not begins and _is_prose(kinds[at]) and _is_prose(kinds[at - 1])
            may_go_on = following and not next_begins and kinds[at] != "row" and _is_prose(kinds[at + 1])
            yield SourceStatement(
                start,
                end,
                above="\n\n".join(filter(None, (heading, named, numbered, opening))),
                before=spans[at - 1] if may_lean else None,
                after=spans[at + 1] if may_go_on else None,
                # What comes first need not be said again.
                goes_on=bool(may_go_on)
                and (leans(following, language) or not _terms(said, language).isdisjoint(_terms(following, language))),
            )
        heading = said if kinds[at] == "piece" and _HEADING_END.search(said.strip()) else heading


def _is_prose(kind: str) -> bool:
    return kind in ("sentence", "piece")


def _language(source: Source) -> str:
    return source.document.metadata.language


def unsupported(value: str, passage: str, language: str, *, share: float = WORDS_FOUND) -> Message:
    """Return the part of a value that the passage lacks, in words for a warning, or "".

    `language` is the passage's, from whose words the value is taken. All numbers, names and negations must be found,
    and a share of the other words.

    >>> unsupported("40 houses", "12 houses were flooded", "en")
    'it has no number 40'
    """
    if missing := unknown_numbers(value, passage, language):
        return Message("it has no number {number}", number=missing)
    if missing := unknown_names(value, passage, language):
        return Message("it does not name {name}", name=missing)
    wanted = _terms(value, language) or _plain_words(value)
    if denies(value, language) and not _denies(passage, wanted, language):
        return Message("it does not deny that")
    held = _plain_words(passage)
    if len(wanted) == 1:
        # A stem alone would let a plan that was adopted be called planned.
        has_all = all(_is_word_of(word, held) for word in _plain_words(value))
    else:
        found = wanted & (_terms(passage, language) | held)
        has_all = len(found) >= share * len(wanted)
    return NO_MESSAGE if has_all else Message("its words are others")


def unknown_numbers(value: str, passage: str, language: str = "") -> str:
    """Return the first number of a value that the passage lacks, or "".

    Without a language, only numbers in digits are read.
    """
    held = numbers(passage, language).values()
    return next((written for written, number in numbers(value, language).items() if number not in held), "")


def unknown_names(value: str, passage: str, language: str) -> str:
    """Return the first name of a value that the passage lacks, or ""."""
    held = {fold(match[0].strip("’'-")) for match in _WORD.finditer(passage)}
    held |= {part for word in held for part in re.split(r"[’'-]", word) if part}
    for name in names_in(value, language):
        folded = fold(name)
        if not any(one.startswith(folded) and len(one) - len(folded) <= _ENDING for one in held):
            return name
    return ""


def _is_word_of(word: str, held: set[str]) -> bool:
    """Return whether a word is among others, but for an ending."""
    return word in held or any(
        abs(len(word) - len(one)) <= _ENDING and (word.startswith(one) or one.startswith(word)) for one in held
    )


def _denies(passage: str, wanted: set[str], language: str) -> bool:
    """Return whether a sentence of the passage with a negation has at least half of the terms."""
    sentences = (passage[start:end] for start, end in sentence_spans(passage, language))
    return any(
        2 * len(wanted & _terms(sentence, language)) >= len(wanted)
        for sentence in sentences
        if denies(sentence, language)
    )


def _plain_words(text: str) -> set[str]:
    """Return the words of a text as they are written, without numbers."""
    return {word for word in _PLAIN_WORD.findall(fold_case(text)) if not word.isdigit()}


def _terms(text: str, language: str) -> set[str]:
    """Return the stems of a text without its function words and numbers."""
    return {term for term in analyse(text, language) if not any(letter.isdigit() for letter in term)}
