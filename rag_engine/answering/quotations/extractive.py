"""Answers without a language model: quotations from the sources.

A unit of a source is a sentence, an item of a list under its opening words, or a row of a table. The nearest to the
question in meaning and in words are read by a reader one by one, and ordered by the chance that they answer.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import compress
from operator import or_
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from rag_engine.answer_sentences import also_relevant, in_quotes, note_words, quotations_heading, wording_days
from rag_engine.answering.chances import AnswerSpan, best_span, may_answer
from rag_engine.answering.citations import PageOf, citation_at, clause_of, shared_words, words
from rag_engine.answering.quotations.definitions import asked_term, defines, row_defines
from rag_engine.answering.quotations.notes import (
    WordingsThen,
    asked_number,
    asks_for_notes,
    note_at,
    wording_at,
    wordings_then,
)
from rag_engine.answering.quotations.question_terms import (
    asked_paragraph,
    asks_for_section_alone,
    asks_for_several,
    forms_in,
    says_place,
    section_labels,
    shares_said,
    terms_of,
)
from rag_engine.answering.quotations.quotable import Unit, lead_of, opens_list, read_alone, units_of, with_context
from rag_engine.answering.quotations.quotation_chance import QuotationSignals, fit_of, quotation_chance
from rag_engine.answering.quotations.shown import Quotation
from rag_engine.answering.quotations.sides import by_side
from rag_engine.answering.source_order import in_order, renumbered
from rag_engine.chunking.section.rules import normal_label
from rag_engine.errors import BackendError
from rag_engine.geography import load_gazetteer
from rag_engine.protocols import PassageReader
from rag_engine.retrieval.diversity import scaled
from rag_engine.text.file_kinds import page_kind
from rag_engine.text.languages import name_in
from rag_engine.text.neutralise import one_line
from rag_engine.text.sentences import Span
from rag_engine.types.answer import Citation, Fit, ShownQuotation
from rag_engine.types.evidence import Evidence
from rag_engine.types.passage import Source

_SAME = 0.75  # words in common from which two units say the same
# Logits of a reader by which its chance falls from a half to a quarter.
_SOFTNESS = 4.0
# The first number of "(4)", "Abs. 4", "§ 1º, II", "4(e)".
_CLAUSE_NUMBER = re.compile(r"\d+[a-z]?")
# Chance of the reader from which the text answers, whatever a note says.
_PROBABLE = 0.5


@dataclass(frozen=True, slots=True)
class Quoting:
    """How units are chosen, measured by benchmarks/answers/quotations.py.

    - `most`: how many are quoted.
    - `keywords`: likeness is (1 - `keywords`) x nearness + `keywords` x shared words, both 0..1, + the chance that
      the source answers.
    - `reader`: where passages were read, the score is (1 - `reader`) x likeness + `reader` x how surely it answers.
    - `read`: how many of the likeliest units a reader reads one by one, and how many of those that say most of the
      question.
    """

    most: int = 4
    keywords: float = 0.35
    reader: float = 0.4
    read: tuple[int, int] = (6, 3)


@dataclass(frozen=True, slots=True)
class _Quotable:
    """A unit of a source, the source's own units, and the reader's finding."""

    source: Source
    unit: Unit
    units: Sequence[Unit] = field(repr=False)
    found: AnswerSpan | None = None
    defines: bool = False

    @property
    def text(self) -> str:
        return read_alone(self.unit, self.units, self.source.text)


def choose(
    question: str,
    language: str,
    sources: Sequence[Source],
    quoting: Quoting = Quoting(),
    as_of: str = "",
    reader: PassageReader | None = None,
) -> list[Quotation]:
    """Return the quotations, the best first; none where the sources hold nothing that can be quoted.

    Where the question names sections, nothing else is quoted; if it asks for nothing more, they are whole. Notes
    are quoted if it asks for them, or if nothing else may answer. A former wording that was in force `as_of` a date is
    quoted in place of the present one. `language` is the question's. BackendError if the reader fails.
    """
    named = [source for source in sources if any(hit.named for hit in source.hits)]
    titles = [name for source in named for name in (source.document.metadata.title, source.act)]
    alone = asks_for_section_alone(question, language, titles)
    if alone and not named:
        # Several acts have a section of this number.
        labels = section_labels(question, language)
        named = [source for source in sources if normal_label(source.section) in labels]
    then = wordings_then(sources, as_of, [source.section for source in named])
    read = named or sources
    candidates = _candidates(sorted([*read, *(one for one in then.sources if one not in read)], key=lambda one: one.n))
    candidates = _without_notes(question, language, candidates, then)
    if not candidates:
        return []
    if named and alone:
        return _whole_sections(question, candidates)
    if term := asked_term(question, language):
        candidates = [replace(one, defines=_defines(one, term)) for one in candidates]
    listing = asks_for_several(question, language)
    scores, shares = _scores(question, language, candidates, quoting)
    order = np.argsort(-scores, kind="stable").tolist()
    if reader is None:
        return _choose([(candidates[place], None) for place in order], quoting.most, listing=listing)
    reading = _worth_reading(candidates, scores, shares, quoting)
    found = _read(question, [candidates[place] for place in reading], reader, listing=listing)
    judged = sorted(((unit, quotation_chance(signals)) for unit, signals in found), key=lambda unit: -unit[1])
    rest = [(candidates[place], 0.0) for place in order if place not in reading]
    return _choose([*judged, *rest], quoting.most, listing=listing)


def _worth_reading(
    candidates: Sequence[_Quotable], scores: NDArray[np.float64], shares: NDArray[np.float64], quoting: Quoting
) -> list[int]:
    """Return the places of the units to read, of those that say the same the likeliest."""
    different: dict[str, int] = {}
    for place in np.argsort(-scores, kind="stable").tolist():
        # An act may stand in two documents.
        different.setdefault(candidates[place].text, place)
    likely = [*different.values()]
    first = likely[: quoting.read[0]]
    saying = sorted(likely[quoting.read[0] :], key=lambda place: (not candidates[place].defines, -float(shares[place])))
    return [*first, *saying[: quoting.read[1]]]


def _defines(one: _Quotable, term: str) -> bool:
    """Return whether a unit says what a term means."""
    document = one.source.document
    said = one_line(one.source.text[one.unit.start : one.unit.end], limit=None)
    language = document.metadata.language
    if one.unit.kind == "row":
        return row_defines(said, language, term)
    return defines(said, language, term, (document.metadata.title, one.source.act))


def _whole_sections(question: str, candidates: Sequence[_Quotable]) -> list[Quotation]:
    """Return each source from its first unit to its last, or the units of the paragraph that is asked."""
    found: list[Quotation] = []
    paragraph = asked_paragraph(question)
    for n, source in {candidate.source.n: candidate.source for candidate in candidates}.items():
        units = sorted((one for one in candidates if one.source.n == n), key=lambda one: one.unit.start)
        inside = [one for one in units if _is_of(one, paragraph)] if paragraph else []
        span = (inside or units)[0].unit.start, (inside or units)[-1].unit.end
        whole = Quotation(source, *span, fit="answers")
        # An act stands in the annex of another document too.
        found += [whole] if _is_new(whole, found) else []
    return found


def _is_of(one: _Quotable, paragraph: str) -> bool:
    """Return whether a unit is of the paragraph with this number in its section."""
    number = _CLAUSE_NUMBER.search(clause_of(one.source, one.unit.start))
    return number is not None and number[0] == paragraph


def _read(
    question: str, candidates: Sequence[_Quotable], reader: PassageReader, *, listing: bool
) -> list[tuple[_Quotable, QuotationSignals]]:
    """Return each candidate, with the answer that a reader finds in it alone, and its signals."""
    texts = [one.text for one in candidates]
    readings = reader.read(question, texts)
    most = max(reading.relevance for reading in readings)
    found = []
    for one, text, reading in zip(candidates, texts, readings, strict=True):
        span = best_span(reading, 0, len(text))
        passage = max(one.source.hits, key=lambda hit: hit.chance or 0.0)
        signals = QuotationSignals(
            in_passage=one.found.score if one.found else None,
            passage=passage.chance or 0.0,
            behind=reading.relevance - most,
            lists=listing and opens_list(one.unit, one.units),
            defines=one.defines,
            relevance=max((hit.reading.relevance for hit in one.source.hits if hit.reading), default=None),
        )
        placed = _placed(one, text, span) if span else None
        found.append((replace(one, found=placed or one.found), signals))
    return found


def _placed(one: _Quotable, text: str, span: AnswerSpan) -> AnswerSpan | None:
    """Return where a unit says an answer of its one-line `text`, None if its line breaks part the answer."""
    said = text[span.start : span.end]
    opening = len(one_line(one.unit.opening))
    start = one.unit.start
    # As often as the text says it before.
    for _ in range(text.count(said, opening, span.start) + 1):
        start = one.source.text.find(said, start, one.unit.end) + 1
        if not start:
            return None
    return AnswerSpan(start - 1, start - 1 + len(said), span.score)


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


def _scores(
    question: str, language: str, candidates: Sequence[_Quotable], quoting: Quoting
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return how well each unit answers the question, and how much of the question it says."""
    shares = _shares(question, language, candidates)
    # Their order and distances alone mean something.
    meaning = scaled(_nearness(candidates))
    likely = np.array([max(hit.chance or 0.0 for hit in candidate.source.hits) for candidate in candidates])
    scores: NDArray[np.float64] = (1 - quoting.keywords) * meaning + likely
    scores = scores + quoting.keywords * shares / (shares.max() or 1.0)
    if any(hit.reading for candidate in candidates for hit in candidate.source.hits):
        chances = np.array([_chance(candidate.found) for candidate in candidates])
        scores = (1 - quoting.reader) * scaled(scores) + quoting.reader * scaled(chances)
    return scores, shares


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
    terms = terms_of(question, language, load_gazetteer())
    gazetteer = load_gazetteer() if says_place(terms) else None
    titles: dict[int, frozenset[str]] = {}
    said: list[frozenset[str]] = []
    texts = [candidate.text for candidate in candidates]
    for candidate, text in zip(candidates, texts, strict=True):
        metadata = candidate.source.document.metadata
        if candidate.source.n not in titles:
            titles[candidate.source.n] = forms_in(metadata.title, metadata.language, gazetteer)
        said.append(forms_in(text, metadata.language, gazetteer) | titles[candidate.source.n])
    return shares_said(terms, said, [len(words(text)) for text in texts])


def _candidates(sources: Sequence[Source]) -> list[_Quotable]:
    """Return the units of the sources in reading order.

    Pieces are taken only if no source has anything better.
    """
    every = [one for source in sources for one in _of_source(source)]
    return [one for one in every if one.unit.kind != "piece"] or every


def _of_source(source: Source) -> list[_Quotable]:
    document = source.document
    units = units_of(source.text, document.metadata.language, slides=page_kind(document.file) == "slide")
    return [_Quotable(source, unit, units, _found(source, unit)) for unit in units]


def _found(source: Source, unit: Unit) -> AnswerSpan | None:
    """Return the best answer that a reader has found inside a unit, placed in the source's text."""
    start, end = source.start + unit.start, source.start + unit.end
    spans = (best_span(hit.reading, start, end) for hit in source.hits if hit.reading is not None)
    best = max((span for span in spans if span), key=lambda span: span.score, default=None)
    return best and best.moved(-source.start)


def _choose(ordered: Sequence[tuple[_Quotable, float | None]], most: int, *, listing: bool) -> list[Quotation]:
    """Return the quotations to show: best first, none twice.

    After the first, none is of a source without the least chance to answer if another has it.
    """
    hits = {candidate.source.n: candidate.source.hits for candidate, _ in ordered}
    likely = {n for n, of in hits.items() if any(map(may_answer, of))} or hits.keys()
    chosen: list[Quotation] = []
    leads: dict[tuple[int, Span] | None, int] = {}
    defined: set[tuple[int, Span] | None] = set()
    for candidate, chance in ordered:
        quotation = _quotation(candidate, chance, listing=listing)
        listed = (quotation.source.n, quotation.lead) if quotation.lead else None
        if listed in defined:
            # Its other definitions are of other terms.
            continue
        if listed in leads and not candidate.defines:
            # Two items of a list are the list.
            whole = _quotation(candidate, chance, listing=True)
            first = chosen[leads[listed]]
            if not whole.lead:
                chosen[leads[listed]] = replace(whole, fit=first.fit, chance=first.chance)
        elif (not chosen or quotation.source.n in likely) and _is_new(quotation, chosen):
            if listed and candidate.defines:
                defined.add(listed)
            elif listed:
                leads[listed] = len(chosen)
            chosen.append(quotation)
        if len(chosen) == most:
            break
    # Beside a row that answers, others of tables say nothing.
    if chosen and chosen[0].rows and chosen[0].fit == "answers":
        return [one for one in chosen if one.fit != "weak" or not one.rows]
    return chosen


def _quotation(candidate: _Quotable, chance: float | None, *, listing: bool) -> Quotation:
    source, units, unit = candidate.source, candidate.units, candidate.unit
    start, end = with_context(unit, source.text, units, source.document.metadata.language, listing=listing)
    found = candidate.found
    fit: Fit = "answers" if any(hit.named for hit in source.hits) else fit_of(chance, source.hits[0].tier)
    # The answer to a question for several things is the whole, not one of them.
    sure = found is not None and (found.score > 0 or fit == "answers")
    answer = (found.start, found.end) if found is not None and sure and not listing else None
    lead = lead_of(unit, units) if (start, end) == (unit.start, unit.end) else None
    rows = [(one.start, one.end) for one in units if one.kind == "row" and start <= one.start and one.end <= end]
    return Quotation(
        source,
        start,
        end,
        answer,
        lead=(lead.start, lead.end) if lead else None,
        rows=tuple(rows) if unit.kind == "row" else (),
        fit=fit,
        chance=chance,
    )


def _is_new(quotation: Quotation, chosen: Sequence[Quotation]) -> bool:
    """Return whether a quotation overlaps none of the others and says the same as none."""
    same = (other for other in chosen if other.source.n == quotation.source.n)
    if any(other.start < quotation.end and quotation.start < other.end for other in same):
        return False
    mine = words(quotation.text)
    return not any(shared_words(mine, words(other.text)) >= _SAME for other in chosen)


@dataclass(frozen=True, slots=True)
class QuotedAnswer:
    """An answer of quotations: its text, the quotations as shown, and their citations in that order.

    `evidence` has its sources ranked as they were, and numbered in the order in which they are quoted.
    """

    text: str
    quoted: tuple[ShownQuotation, ...]
    citations: tuple[Citation, ...]
    evidence: Evidence


def quote(
    evidence: Evidence, page_of: PageOf, reader: PassageReader | None, after: Literal["", "failure", "refusal"] = ""
) -> QuotedAnswer:
    """Return the quotations as an answer; BackendError where the sources hold nothing to quote.

    A quotation in another language than the question's names it, and one from a note says so. `after` says what a
    language model did that was asked first.
    """
    language = evidence.plan.language

    def among(question: str, sources: Sequence[Source]) -> list[Quotation]:
        return choose(question, language, sources, as_of=evidence.as_of, reader=reader)

    chosen = by_side(evidence, among) or [(one, "") for one in among(evidence.plan.question, evidence.sources)]
    if not chosen:
        raise BackendError("The sources hold no sentence to quote.", help="Open them, or use a language model.")
    numbers = in_order((quotation.source.n for quotation, _ in chosen), evidence.sources)
    sources = renumbered(evidence.sources, numbers)
    by_number = {source.n: source for source in sources}
    asked = frozenset(words(evidence.plan.question))
    # The best of each side first.
    chosen.sort(key=lambda one: not one[1])
    quotations = [replace(one, source=by_number[numbers[one.source.n]], asked=asked) for one, _ in chosen]
    sides = [side for _, side in chosen]
    shown = [_shown(one, side, language, evidence.as_of) for one, side in zip(quotations, sides, strict=True)]
    # Without a reader nobody knows which quotation answers.
    sure = evidence.ground == "enough" if reader is None else shown[0].fit == "answers"
    first = max(1, sum(map(bool, sides)))
    leading = [f"**{one.side}**\n\n{one.text}" if one.side else one.text for one in shown[:first]]
    others = [also_relevant(language), *(one.text for one in shown[first:])] if shown[first:] else []
    return QuotedAnswer(
        "\n\n".join([quotations_heading(language, sure=sure, after=after), *leading, *others]),
        tuple(shown),
        tuple(citation_at(quotation.source, quotation.start, quotation.end, page_of) for quotation in quotations),
        replace(evidence, sources=sources),
    )


def _shown(quotation: Quotation, side: str, language: str, as_of: str) -> ShownQuotation:
    """Return a quotation as an answer in a language shows it."""
    written = quotation.source.document.metadata.language
    said = [name_in(written, language)] if written and written != language else []
    place = quotation.source, quotation.start, quotation.end
    if wording := wording_at(*place, as_of):
        said.append(wording_days(*wording.days, language))
    elif note := note_at(*place):
        said.append(note_words(note.kind, note.number, note.section, language))
    told = f" ({', '.join(said)})" if said else ""
    # A table ends with its last row.
    mark = f"{told} [Source {quotation.source.n}]"
    shown = quotation.markdown
    text = f"{shown}\n{mark.strip()}" if quotation.rows else f"{in_quotes(shown, language)}{mark}"
    return ShownQuotation(text, quotation.source.n, quotation.fit, quotation.chance, one_line(side))
