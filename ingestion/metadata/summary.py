"""A description of 100 to 130 words and a target, made of a document's own whole sentences.

The sentences of the description come early and say most of the content of the others. Of all sets that fit the number
of words, the one with the greatest sum is taken, so that no sentence is cut. The target is in the document's own words:
whom it addresses and for which purpose. One that does not say so has none.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from ingestion.extraction.date_patterns import written_dates
from ingestion.metadata.quotes import Guess
from ingestion.patterns import load_patterns
from rag_engine.planning.instructions import load_phrasing
from rag_engine.text.folding import fold
from rag_engine.text.sentences import sentence_spans
from rag_engine.types.document import ExtractedText

DESCRIPTION_WORDS = (100, 130)
TARGET_WORDS = (40, 50)
# Where no set of sentences fits: shorter or a little longer is better than half a sentence.
_LOOSE = (60, 150)
_LONGEST_TARGET = 65

_CHARACTERS = 40_000
_CANDIDATES = 60
_CONTENT = re.compile(r"[^\W\d_]{3,}")
_SENTENCE_WORDS = (7, 60)
# With the mark that a quotation or a remark in brackets is closed with.
_ENDED = re.compile(r"[.!?][”\"»)]?$|[”\"»]$")
# Of the usual size: footnotes and references are printed in this or less.
_SMALL_PRINT = 0.93
# Dotted leaders, table cells, links: a list of contents, not prose.
_LEADERS = re.compile(r"\.{4,}|…{2,}|(?:\. ){4,}|\||\]\(|https?:")
# "(2) ", "4.1.1 ", "a) " before a sentence is its place in the document and not part of it.
_NUMBER = re.compile(r"(?:\(?\d{1,2}[a-z]?\)|\d{1,2}(?:\.\d{1,2})+\.?|\d{1,2}\.|\(?[a-z]\)|[•–-])\s+(?=[“„«]?[^\W\d_])")
# "1 See decision 4" is a footnote, "2 Purpose The ..." a heading that has run into its paragraph, also in the middle.
_FOOTNOTE = re.compile(r"\d{1,3}\s+\W?([^\W\d_])")
# How far into a sentence the document names itself, and how far into the document it says what it is for.
_BEGINNING = 12
_OPENING = 12_000
_PATTERNS = load_patterns("summary")


@dataclass(frozen=True, slots=True)
class _Candidate:
    place: tuple[int, int]
    text: str
    words: int
    weight: float


def summarise(extracted: ExtractedText, language: str) -> tuple[Guess, Guess]:
    """Return the description and the target of a document; empty if no sentences fit."""
    candidates = _candidates(extracted, language)
    best = sorted(candidates, key=lambda candidate: -candidate.weight)[:_CANDIDATES]
    # The first sentences in which the document says whom it addresses and what for.
    chosen: list[_Candidate] = []
    for candidate in candidates:
        if candidate.place[0] < _OPENING and _says_its_purpose(candidate.text):
            if sum(other.words for other in chosen) + candidate.words > _LONGEST_TARGET:
                break
            chosen.append(candidate)
    return _summary(_best_set(sorted(best, key=lambda candidate: candidate.place))), _summary(chosen)


def _says_its_purpose(sentence: str) -> bool:
    """Return whether a sentence begins with the document and says whom it addresses or what for."""
    itself = _PATTERNS["itself"].search(sentence)
    if itself is None:
        return False
    before = _PATTERNS["audience"].search(sentence, 0, itself.start())
    after = _PATTERNS["audience"].search(sentence, itself.end())
    return (itself.start() < _BEGINNING and after is not None) or (
        before is not None and before.start() < 2 * _BEGINNING
    )


def _summary(chosen: Sequence[_Candidate]) -> Guess:
    return (
        Guess(" ".join(candidate.text for candidate in chosen), 0.5, "", *chosen[0].place) if chosen else Guess("", 0.0)
    )


def _candidates(extracted: ExtractedText, language: str) -> list[_Candidate]:
    """Return sentences of prose that may be in a summary, weighed by how central and how early they are."""
    stop = load_phrasing().stop_words.get(language, frozenset())
    found: list[tuple[tuple[int, int], str, set[str]]] = []
    seen: set[str] = set()
    frequency: Counter[str] = Counter()
    usual = _usual_size(extracted)
    for block in extracted.blocks:
        if block.start > _CHARACTERS:
            break
        if block.kind != "text" or (block.font_size or usual) < _SMALL_PRINT * usual:
            continue
        text = extracted.text[block.start : block.end]
        for start, end in sentence_spans(text, language):
            number = _NUMBER.match(text, start, end)
            begin = number.end() if number else start
            sentence = " ".join(text[begin:end].split())
            content = set(map(fold, _CONTENT.findall(sentence))) - stop
            frequency.update(content)
            count = len(sentence.split())
            if (
                _SENTENCE_WORDS[0] <= count <= _SENTENCE_WORDS[1]
                and _ENDED.search(sentence)
                and (
                    sentence[0].isupper()
                    or (sentence[0].isdigit() and _is_begun(extracted.text, block.start + start))
                    or sentence[0] in "«“„\"'§"
                )
                and sum(character.isalpha() for character in sentence) > 0.7 * len(sentence.replace(" ", ""))
                and not _LEADERS.search(sentence)
                and not _is_furniture(sentence)
                and sentence not in seen
            ):
                seen.add(sentence)
                found.append(((block.start + begin, block.start + end), sentence, content))
    most = max(frequency.values(), default=1)
    candidates = []
    for rank, (place, sentence, content) in enumerate(found):
        central = sum(frequency[word] for word in content) / (most * (len(content) + 3))
        early = 1.0 / (1.0 + rank / 6)
        purpose = 0.8 if _says_its_purpose(sentence) else 0.0
        candidates.append(_Candidate(place, sentence, len(sentence.split()), 0.2 + 1.5 * central + early + purpose))
    return candidates


def _is_begun(text: str, start: int) -> bool:
    """Return whether the text before a place is empty or ends as a sentence."""
    before = text[:start].rstrip()
    return not before or before[-1] in ".!?"


def _usual_size(extracted: ExtractedText) -> float:
    """Return the size in points that most of the text is printed in; 0 if the format does not say."""
    sizes: Counter[float] = Counter()
    for block in extracted.blocks:
        if block.kind == "text" and block.font_size:
            sizes[round(block.font_size, 1)] += block.end - block.start
    return max(sizes, key=sizes.__getitem__, default=0.0)


def _is_furniture(sentence: str) -> bool:
    """Return whether a sentence is a caption, a source, a note, a reference or a heading."""
    if _PATTERNS["furniture"].search(sentence):
        return True
    note = _FOOTNOTE.match(sentence)
    return note is not None and note[1].isupper() and not any(date.start == 0 for date in written_dates(sentence[:40]))


def _best_set(candidates: Sequence[_Candidate]) -> list[_Candidate]:
    """Return the sentences whose words together lie within the bounds and whose weights sum to the most."""
    for least, most in (DESCRIPTION_WORDS, _LOOSE):
        # table[w] is the best sum of weights with exactly w words, and the set that has it.
        table: list[tuple[float, tuple[int, ...]] | None] = [None] * (most + 1)
        table[0] = (0.0, ())
        for index, candidate in enumerate(candidates):
            for total in range(most, candidate.words - 1, -1):
                before = table[total - candidate.words]
                if before is None:
                    continue
                # A sum of words counts too, or many short sentences would always win.
                value = before[0] + candidate.weight * candidate.words
                known = table[total]
                if known is None or known[0] < value:
                    table[total] = (value, (*before[1], index))
        fitting = [entry for entry in table[least:] if entry is not None]
        if fitting:
            chosen = max(fitting, key=lambda entry: entry[0])
            return [candidates[index] for index in chosen[1]]
    return []
