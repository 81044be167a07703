"""The type of a document, by what its title calls it, how it opens, and how it is built."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ingestion.metadata.taxonomy import type_table
from ingestion.metadata.term_matching import Mention, Word, count_usage, cut_words, find_terms
from ingestion.patterns import load_patterns
from rag_engine.types import ExtractedText

OTHER = "Other"

_OPENING = 4_000
_TOP = 600
_SHORT = 220
_FIRST_WORDS = 30
_RECITALS = 10_000
_TITLE = 400
_PDF = "application/pdf"
_SPREADSHEETS = ("spreadsheet", "ms-excel", "text/csv", "tab-separated")
_PATTERNS = load_patterns("document_types")
_CITED = re.compile(r"\bet al\b|\(\w+(?: and \w+)?,? (?:19|20)\d\d[a-z]?[);]|(?<![\w.])10\.\d{4,9}/\w")


@dataclass(frozen=True, slots=True)
class TypeGuess:
    """A document type with its weight and the place in the title or text that speaks for it (-1: none)."""

    name: str
    weight: float
    why: str
    start: int = -1
    end: int = -1


def guess_types(title: str, extracted: ExtractedText, words: Sequence[Word]) -> list[TypeGuess]:
    """Return possible types, the likeliest first; "Other" alone where nothing speaks for any."""
    guesses = [
        *_by_title(title),
        *_by_opening(extracted, words),
        *_by_build(extracted, len(words)),
    ]
    summed: dict[str, TypeGuess] = {}
    for guess in guesses:
        known = summed.get(guess.name)
        if known is None:
            summed[guess.name] = guess
        else:
            shown = max(known, guess, key=lambda one: (one.start >= 0, one.weight))
            summed[guess.name] = TypeGuess(guess.name, known.weight + guess.weight, shown.why, shown.start, shown.end)
    ranked = sorted(summed.values(), key=lambda one: -one.weight)
    if not ranked or ranked[0].weight < 1.0:
        return [TypeGuess(OTHER, 0.3, "nothing names its type"), *ranked]
    return ranked


def _by_title(title: str) -> list[TypeGuess]:
    title = title[:_TITLE]
    mentions = find_terms(cut_words(title), type_table("named"))
    guesses: dict[str, TypeGuess] = {}
    about = _PATTERNS["about"].search(title)
    for mention in mentions:
        # "Handbook on the Flood Act" is a handbook; "Flood Act" and "Report on floods" are what they say.
        weight = 3.0 if about is None or mention.start <= about.start() else 1.2
        weight += 0.3 * (mention.term.count(" "))
        known = guesses.get(mention.label)
        if known is None or known.weight < weight:
            guesses[mention.label] = TypeGuess(
                mention.label, weight, f"the title says {title[mention.start : mention.end]!r}"
            )
    return list(guesses.values())


def _by_opening(extracted: ExtractedText, words: Sequence[Word]) -> list[TypeGuess]:
    head = [word for word in words[: _OPENING // 3] if word.end <= _OPENING]
    mentions = find_terms(head, type_table("opening"))
    # Formulas of enactment are after recitals, which may be long.
    later = find_terms(words[len(head) : len(head) + _RECITALS], type_table("opening"))
    mentions += [one for one in later if one.label == "Law" and one.term.count(" ") > 2]
    guesses = []
    for label, usage in count_usage(mentions, len(head), _OPENING).items():
        different = {one.term for one in usage.mentions}
        each = 0.5 if label == "Academic paper" else 1.3
        first: Mention = usage.mentions[0]
        guesses.append(TypeGuess(label, min(each * len(different), 2.6), "how it opens", first.start, first.end))
    # In running prose "act" and "report" are verbs.
    short = [(block.start, block.end) for block in extracted.blocks[:40] if block.end - block.start <= _SHORT]
    top = [word for word in head if word.end <= _TOP and any(start <= word.start < end for start, end in short)]
    lines = [
        (block.start, block.end)
        for block in extracted.blocks
        if block.kind == "heading" and block.start < _OPENING // 2
    ]
    headed = [word for word in head if any(start <= word.start < end for start, end in lines[:6])]
    for part, weight in ((headed, 1.7), (top[:_FIRST_WORDS], 0.4), (top, 0.8)):
        seen: set[str] = set()
        for one in find_terms(part, type_table("named")):
            if one.label not in seen:
                seen.add(one.label)
                guesses.append(TypeGuess(one.label, weight, "how it opens", one.start, one.end))
    return guesses


def _by_build(extracted: ExtractedText, words: int) -> list[TypeGuess]:
    text = extracted.text
    guesses = []
    if any(kind in extracted.media_type for kind in _SPREADSHEETS):
        guesses.append(TypeGuess("Dataset", 3.5, "it is a table"))
    elif words and extracted.media_type == _PDF and (share := _table_share(extracted)) > 0.5:
        # Web pages and word processors lay out prose in tables.
        guesses.append(TypeGuess("Dataset", 1.0 + 2 * share, "most of it stands in tables"))
    articles = list(_PATTERNS["article"].finditer(text))
    numbers = {match.group().split()[-1] for match in articles}
    # A treaty in the annex of a report has articles too, but not throughout.
    parts = len({20 * match.start() // max(len(text), 1) for match in articles})
    dense = 1000 * len(articles) / max(words, 1)
    if len(numbers) >= 4 and dense >= 1.2 and parts >= 9:
        guesses.append(TypeGuess("Law", 3.2, "it is cut into articles", articles[0].start(), articles[0].end()))
    elif len(numbers) >= 2 and dense >= 0.8:
        guesses.append(TypeGuess("Law", 1.2, "it has articles", articles[0].start(), articles[0].end()))
    references = list(_PATTERNS["references"].finditer(text))
    cited = sum(1 for _ in _CITED.finditer(text))
    if references and cited >= 5 and _PATTERNS["abstract"].search(text[:6000]):
        guesses.append(
            TypeGuess("Academic paper", 2.5, "abstract and references", references[-1].start(), references[-1].end())
        )
    elif cited >= 5 and 1000 * cited / max(words, 1) > 4:
        guesses.append(TypeGuess("Report", 1.3, "it cites literature"))
    elif caption := _PATTERNS["caption"].search(text):
        guesses.append(TypeGuess("Report", 1.0, "it shows findings", caption.start(), caption.end()))
    return guesses


def _table_share(extracted: ExtractedText) -> float:
    inside = sum(block.end - block.start for block in extracted.blocks if block.kind == "table")
    return inside / max(len(extracted.text), 1)
