"""Answers without a language model: quotations from the sources.

A unit of a source is a sentence, an item of a list under its opening words, or a row of a table. It is chosen by its
nearness to the question in meaning and in words. If a reader has read its passage, how surely it answers is added.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import compress
from operator import or_

import numpy as np
from numpy.typing import NDArray

from rag_engine.answer_sentences import note_words, quotations_heading, wording_days
from rag_engine.answering.chances import AnswerSpan, best_span, may_answer
from rag_engine.answering.citations import PageOf, citation_at, shared_words, words
from rag_engine.answering.quotations.notes import (
    WordingsThen,
    asked_number,
    asks_for_notes,
    note_at,
    wording_at,
    wordings_then,
)
from rag_engine.answering.quotations.question_terms import (
    asks_for_section_alone,
    asks_for_several,
    forms_in,
    shares_said,
    terms_of,
)
from rag_engine.answering.quotations.quotable import Unit, units_of, with_context
from rag_engine.answering.quotations.sides import by_side
from rag_engine.answering.source_order import in_order, renumbered
from rag_engine.errors import BackendError
from rag_engine.geography import load_gazetteer
from rag_engine.retrieval.diversity import scaled
from rag_engine.text.languages import name_in
from rag_engine.text.neutralise import one_line
from rag_engine.text.sentences import stripped
from rag_engine.types.answer import Citation
from rag_engine.types.evidence import Evidence
from rag_engine.types.passage import Source

_UNITS = 128  # of all sources together, and so as many of each
_SAME = 0.75  # words in common from which two units say the same
# Logits of a reader by which its chance falls from a half to a quarter.
_SOFTNESS = 4.0
# Chance of the reader from which the text answers, whatever a note says.
_PROBABLE = 0.5


@dataclass(frozen=True, slots=True)
class Quoting:
    """How units are chosen, measured by benchmarks/answers/quotations.py.

    - `most`: how many are quoted.
    - `keywords`: likeness is (1 - `keywords`) x nearness + `keywords` x shared words, both 0..1, + the chance that
      the source answers.
    - `reader`: where passages were read, the score is (1 - `reader`) x likeness + `reader` x how surely it answers.
    """

    most: int = 4
    keywords: float = 0.35
    reader: float = 0.4


@dataclass(frozen=True, slots=True)
class Quotation:
    """Characters [start, end) of a source's text, as they are quoted.

    `answer` is the part of them that a reader takes for the answer, None if it was not asked or found none.
    """

    source: Source
    start: int
    end: int
    answer: tuple[int, int] | None = None

    @property
    def text(self) -> str:
        """The quotation on one line."""
        return one_line(self.source.text[self.start : self.end], limit=None).strip()


@dataclass(frozen=True, slots=True)
class _Quotable:
    """A unit of a source, the source's own units, and the reader's finding."""

    source: Source
    unit: Unit
    units: Sequence[Unit] = field(repr=False)
    found: AnswerSpan | None = None

    @property
    def text(self) -> str:
        said = one_line(self.source.text[self.unit.start : self.unit.end], limit=None).strip()
        return f"{one_line(self.unit.opening)} {said}" if self.unit.opening else said


def choose(
    question: str, language: str, sources: Sequence[Source], quoting: Quoting = Quoting(), as_of: str = ""
) -> list[Quotation]:
    """Return the quotations, the best first; none where the sources hold nothing that can be quoted.

    Where the question names sections, nothing else is quoted; if it asks for nothing more, from their beginning. Notes
    are quoted if it asks for them, or if nothing else may answer. A former wording that was in force `as_of` a date is
    quoted in place of the present one. `language` is the question's.
    """
    named = [source for source in sources if any(hit.named for hit in source.hits)]
    then = wordings_then(sources, as_of, [source.section for source in named])
    read = named or sources
    candidates = _candidates(sorted([*read, *(one for one in then.sources if one not in read)], key=lambda one: one.n))
    candidates = _without_notes(question, language, candidates, then)
    if not candidates:
        return []
    titles = [name for source in named for name in (source.document.metadata.title, source.act)]
    if named and asks_for_section_alone(question, language, titles):
        # Its text from the beginning.
        candidates.sort(key=lambda one: (one.source.n, one.unit.start))
        scores = -np.arange(len(candidates), dtype=np.float64)
    else:
        scores = _scores(question, language, candidates, quoting)
    return _choose(candidates, scores, quoting.most, listing=asks_for_several(question, language))


def _without_notes(question: str, language: str, candidates: list[_Quotable], then: WordingsThen) -> list[_Quotable]:
    """Return the units that are no notes, unless notes are asked for or nothing else may answer.

    If the question gives the number of a note, return that note. Of former wordings, those of `then` are text.
    """
    read = [(one, note_at(one.source, one.unit.start, one.unit.end)) for one in candidates]
    if asks_for_notes(question, language):
        number = asked_number(question, language)
        numbered = [one for one, note in read if note and note.number == number]
        return numbered if number and numbered else candidates
    stands = [then.stands(one.source, one.unit.start, one.unit.end) for one in candidates]
    text = list(compress(candidates, stands))
    if not any(may_answer(hit) for one in text for hit in one.source.hits):
        return candidates
    # What was in force answers what is as well as the text does, and wrongly.
    noticed = [note is not None and note.kind == "note" for _, note in read]
    standing = list(compress(candidates, map(or_, stands, noticed)))
    likely, noted = (max((_chance(one.found) for one in some), default=0.0) for some in (text, standing))
    return standing if likely < min(_PROBABLE, noted) else text


def _scores(question: str, language: str, candidates: Sequence[_Quotable], quoting: Quoting) -> NDArray[np.float64]:
    """Return how well each unit answers the question."""
    shares = _shares(question, language, candidates)
    # Their order and distances alone mean something.
    meaning = scaled(_nearness(candidates))
    likely = np.array([max(hit.chance or 0.0 for hit in candidate.source.hits) for candidate in candidates])
    scores: NDArray[np.float64] = (1 - quoting.keywords) * meaning + likely
    scores = scores + quoting.keywords * shares / (shares.max() or 1.0)
    if any(hit.reading for candidate in candidates for hit in candidate.source.hits):
        chances = np.array([_chance(candidate.found) for candidate in candidates])
        scores = (1 - quoting.reader) * scaled(scores) + quoting.reader * scaled(chances)
    return scores


def _nearness(candidates: Sequence[_Quotable]) -> NDArray[np.float64]:
    """Return the nearness of each unit's nearest sentence; the least of all for units without one."""
    found: list[float | None] = []
    for candidate in candidates:
        start, end = candidate.source.start + candidate.unit.start, candidate.source.start + candidate.unit.end
        own = (one.nearness for one in candidate.source.sentences if one.start < end and start < one.end)
        found.append(max(own, default=None))
    least = min((near for near in found if near is not None), default=0.0)
    return np.array([least if near is None else near for near in found])


def _chance(found: AnswerSpan | None) -> float:
    return 0.0 if found is None else float(1 / (1 + np.exp(-np.clip(found.score, -20, 20) / _SOFTNESS)))


def _shares(question: str, language: str, candidates: Sequence[_Quotable]) -> NDArray[np.float64]:
    """Return how much of the question each unit says, its document's title counting as said."""
    gazetteer = load_gazetteer()
    titles: dict[int, frozenset[str]] = {}
    said: list[frozenset[str]] = []
    for candidate in candidates:
        metadata = candidate.source.document.metadata
        if candidate.source.n not in titles:
            titles[candidate.source.n] = forms_in(metadata.title, metadata.language, gazetteer)
        said.append(forms_in(candidate.text, metadata.language, gazetteer) | titles[candidate.source.n])
    lengths = [len(words(candidate.text)) for candidate in candidates]
    return shares_said(terms_of(question, language, gazetteer), said, lengths)


def _candidates(sources: Sequence[Source]) -> list[_Quotable]:
    """Return units around the passages that were found, the best sources first.

    Pieces are taken only if no source has anything better.
    """
    every = [_of_source(source) for source in sources]
    whole = [[one for one in group if one.unit.kind != "piece"] for group in every]
    groups = whole if any(whole) else every
    each = max(_UNITS // max(sum(1 for group in groups if group), 1), 1)
    return [one for group in groups for one in group[:each]]


def _of_source(source: Source) -> list[_Quotable]:
    """Return a source's units, first those of its best hits, then the others in reading order."""

    def distance(unit: Unit) -> tuple[int, int]:
        start, end = source.start + unit.start, source.start + unit.end
        ranks = (rank for rank, hit in enumerate(source.hits) if hit.start <= start and end <= hit.end)
        return next(ranks, len(source.hits)), start

    units = units_of(source.text, source.document.metadata.language)
    return [_Quotable(source, unit, units, _found(source, unit)) for unit in sorted(units, key=distance)]


def _found(source: Source, unit: Unit) -> AnswerSpan | None:
    """Return the best answer that a reader has found inside a unit, placed in the source's text."""
    start, end = source.start + unit.start, source.start + unit.end
    spans = (best_span(hit.reading, start, end) for hit in source.hits if hit.reading is not None)
    best = max((span for span in spans if span), key=lambda span: span.score, default=None)
    return best and best.moved(-source.start)


def _choose(
    candidates: Sequence[_Quotable], scores: NDArray[np.float64], most: int, *, listing: bool
) -> list[Quotation]:
    """Return the quotations to show: best first, none twice.

    After the first, none is of a source without the least chance to answer if another has it.
    """
    order = np.argsort(-scores, kind="stable").tolist()
    hits = {candidate.source.n: candidate.source.hits for candidate in candidates}
    likely = {n for n, of in hits.items() if any(map(may_answer, of))} or hits.keys()
    chosen: list[Quotation] = []
    for place in order:
        quotation = _quotation(candidates[place], listing=listing)
        if (not chosen or quotation.source.n in likely) and _is_new(quotation, chosen):
            chosen.append(quotation)
        if len(chosen) == most:
            break
    return chosen


def _quotation(candidate: _Quotable, *, listing: bool) -> Quotation:
    source, units = candidate.source, candidate.units
    language = source.document.metadata.language
    start, end = with_context(candidate.unit, source.text, units, language, listing=listing)
    found = candidate.found
    # The answer to a question for several things is the whole, not one of them.
    answer = (found.start, found.end) if found is not None and found.score > 0 and not listing else None
    return Quotation(source, start, end, answer)


def _is_new(quotation: Quotation, chosen: Sequence[Quotation]) -> bool:
    """Return whether a quotation overlaps none of the others and says the same as none."""
    same = (other for other in chosen if other.source.n == quotation.source.n)
    if any(other.start < quotation.end and quotation.start < other.end for other in same):
        return False
    mine = words(quotation.text)
    return not any(shared_words(mine, words(other.text)) >= _SAME for other in chosen)


@dataclass(frozen=True, slots=True)
class QuotedAnswer:
    """An answer's text, a line for each quotation, and their citations in that order.

    `evidence` has its sources ranked as they were, and numbered in the order in which they are quoted.
    """

    text: str
    citations: tuple[Citation, ...]
    evidence: Evidence


def quote(evidence: Evidence, page_of: PageOf) -> QuotedAnswer:
    """Return the quotations as an answer; BackendError where the sources hold nothing to quote.

    A quotation in another language than the question's names it, and one from a note says so.
    """
    language = evidence.plan.language

    def among(question: str, sources: Sequence[Source]) -> list[Quotation]:
        return choose(question, language, sources, as_of=evidence.as_of)

    chosen = by_side(evidence, among) or among(evidence.plan.question, evidence.sources)
    if not chosen:
        raise BackendError("The sources hold no sentence to quote.", help="Open them, or use a language model.")
    numbers = in_order((quotation.source.n for quotation in chosen), evidence.sources)
    sources = renumbered(evidence.sources, numbers)
    by_number = {source.n: source for source in sources}
    quotations = [replace(quotation, source=by_number[numbers[quotation.source.n]]) for quotation in chosen]
    lines = [quotations_heading(language, sure=evidence.ground == "enough"), ""]
    for quotation in quotations:
        written = quotation.source.document.metadata.language
        said = [name_in(written, language)] if written and written != language else []
        place = quotation.source, quotation.start, quotation.end
        if wording := wording_at(*place, evidence.as_of):
            said.append(wording_days(*wording.days, language))
        elif note := note_at(*place):
            said.append(note_words(note.kind, note.number, note.section, language))
        told = f" ({', '.join(said)})" if said else ""
        lines.append(f"- “{_with_answer(quotation)}”{told} [Source {quotation.source.n}]")
    return QuotedAnswer(
        "\n".join(lines),
        tuple(citation_at(quotation.source, quotation.start, quotation.end, page_of) for quotation in quotations),
        replace(evidence, sources=sources),
    )


def _with_answer(quotation: Quotation) -> str:
    """Return the quotation with the words that answer in bold."""
    if quotation.answer is None:
        return quotation.text
    text = quotation.source.text
    start, end = stripped(text, *quotation.answer)
    marked = f"{text[quotation.start : start]}**{text[start:end]}**{text[end : quotation.end]}"
    return one_line(marked, limit=None).strip()
