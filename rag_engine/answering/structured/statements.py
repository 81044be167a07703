"""Statements of a source: its sentences, items and rows, each with the text that belongs to it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from rag_engine.answering.citations import shared_words, words
from rag_engine.answering.quotations.quotable import leans, units_of
from rag_engine.answering.structured.support import shares_a_term
from rag_engine.chunking.sections.rules import rules_of
from rag_engine.text.sentences import Span, sentence_spans
from rag_engine.types import Source

# Statements of a source that a record is held against, likeliest first.
_MOST = 12
# "303. Theft. ...": a section's number without its noun.
_NUMBERED_SECTION = re.compile(r"[^\w(]*\d+[A-Za-z]?\.\s")
_HEADING_END = re.compile(r"[^.;:!?,…]$")


@dataclass(frozen=True, slots=True)
class SourceStatement:
    """Characters [start, end) of a source's text that state something.

    `above` is what it stands under: the words that open its list, the caption of its table, the heading and the number
    of its section. `before` and `after` are the sentences beside it; None for a row of a table or an item of a list,
    whose neighbours speak of something else. `goes_on` says whether `after` has something in common with it.
    """

    start: int
    end: int
    above: str
    before: Span | None
    after: Span | None
    goes_on: bool


def likely_statements(source: Source, claim: str) -> list[SourceStatement]:
    """Return the statements of a source that share words with a claim, those that share most first.

    Of equal ones a passage that was found comes first.
    """
    wanted = words(claim)

    def likeness(span: Span) -> tuple[float, bool]:
        return shared_words(wanted, words(source.text[slice(*span)])), is_found(source, span)

    found = [span for span in sentence_spans(source.text, _language(source)) if likeness(span)[0]]
    likely = sorted(found, key=likeness, reverse=True)[:_MOST]
    placed = {(one.start, one.end): one for one in _placed(source, frozenset(likely))}
    return [placed[span] for span in likely]


def is_found(source: Source, span: Span) -> bool:
    """Whether a hit holds characters of a source's text."""
    start, end = source.start + span[0], source.start + span[1]
    return any(hit.start <= start and end <= hit.end for hit in source.hits)


def _placed(source: Source, wanted: Iterable[Span]) -> Iterator[SourceStatement]:
    """Yield the wanted spans with what belongs to each."""
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
                goes_on=bool(may_go_on) and _goes_on(said, following, language),
            )
        heading = said if kinds[at] == "piece" and _HEADING_END.search(said.strip()) else heading


def _is_prose(kind: str) -> bool:
    return kind in ("sentence", "piece")


def _goes_on(sentence: str, after: str, language: str) -> bool:
    """Whether a sentence says more of what the one before it is about; what comes first need not be said again."""
    return leans(after, language) or shares_a_term(sentence, after, language)


def _language(source: Source) -> str:
    return source.document.metadata.language
