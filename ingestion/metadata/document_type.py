"""The type of a document, by what its title calls it, how it opens, and how it is built."""

from __future__ import annotations

import re
from dataclasses import replace

from ingestion.metadata.quotes import DocumentText, Guess
from ingestion.metadata.taxonomy import type_table
from ingestion.metadata.term_matching import Mention, count_usage, cut_words, find_terms
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


def guess_types(title: str, text: DocumentText) -> list[Guess]:
    """Return possible types, the likeliest first; "Other" alone where nothing speaks for any."""
    summed: dict[str, Guess] = {}
    for guess in (*_by_title(title), *_by_opening(text), *_by_build(text.extracted, len(text.words))):
        known = summed.setdefault(guess.value, guess)
        if known is not guess:
            shown = max(known, guess, key=lambda one: (one.start >= 0, one.weight))
            summed[guess.value] = replace(shown, weight=known.weight + guess.weight)
    ranked = sorted(summed.values(), key=lambda one: -one.weight)
    if not ranked or ranked[0].weight < 1.0:
        return [Guess(OTHER, 0.3, "nothing names its type"), *ranked]
    return ranked


def _by_title(title: str) -> list[Guess]:
    title = title[:_TITLE]
    mentions = find_terms(cut_words(title), type_table("named"))
    guesses: dict[str, Guess] = {}
    about = _PATTERNS["about"].search(title)
    for mention in mentions:
        # "Handbook on the Flood Act" is a handbook; "Flood Act" and "Report on floods" are what they say.
        weight = 3.0 if about is None or mention.start <= about.start() else 1.2
        weight += 0.3 * (mention.term.count(" "))
        known = guesses.get(mention.label)
        if known is None or known.weight < weight:
            why = f"the title says {title[mention.start : mention.end]!r}"
            guesses[mention.label] = Guess(mention.label, weight, why)
    return list(guesses.values())


def _by_opening(text: DocumentText) -> list[Guess]:
    words, blocks = text.words, text.extracted.blocks
    head = [word for word in words[: _OPENING // 3] if word.end <= _OPENING]
    mentions = find_terms(head, type_table("opening"))
    # Formulas of enactment are after recitals, which may be long.
    later = find_terms(words[len(head) : len(head) + _RECITALS], type_table("opening"))
    mentions += [one for one in later if one.label == "Law" and one.term.count(" ") > 2]
    guesses = []
    for label, usage in count_usage(mentions, len(head), _OPENING).items():
        different = {one.term for one in usage.mentions}
        each = 0.5 if label == "Academic paper" else 1.3
        first = usage.mentions[0]
        guesses.append(Guess(label, min(each * len(different), 2.6), "how it opens", first.start, first.end))
    # In running prose "act" and "report" are verbs.
    short = [block for block in blocks[:40] if block.end - block.start <= _SHORT]
    top = [word for word in head if word.end <= _TOP and any(one.start <= word.start < one.end for one in short)]
    headings = [block for block in blocks if block.kind == "heading" and block.start < _OPENING // 2][:6]
    headed = [word for word in head if any(block.start <= word.start < block.end for block in headings)]
    for part, weight in ((headed, 1.7), (top[:_FIRST_WORDS], 0.4), (top, 0.8)):
        firsts: dict[str, Mention] = {}
        for one in find_terms(part, type_table("named")):
            firsts.setdefault(one.label, one)
        guesses += [Guess(one.label, weight, "how it opens", one.start, one.end) for one in firsts.values()]
    return guesses


def _by_build(extracted: ExtractedText, words: int) -> list[Guess]:
    text = extracted.text
    guesses = []
    if any(kind in extracted.media_type for kind in _SPREADSHEETS):
        guesses.append(Guess("Dataset", 3.5, "it is a table"))
    elif words and extracted.media_type == _PDF and (share := _table_share(extracted)) > 0.5:
        # Web pages and word processors lay out prose in tables.
        guesses.append(Guess("Dataset", 1.0 + 2 * share, "most of it is in tables"))
    articles = list(_PATTERNS["article"].finditer(text))
    numbers = {match.group().split()[-1] for match in articles}
    # A treaty in the annex of a report has articles too, but not throughout.
    parts = len({20 * match.start() // max(len(text), 1) for match in articles})
    dense = 1000 * len(articles) / max(words, 1)
    if len(numbers) >= 4 and dense >= 1.2 and parts >= 9:
        guesses.append(Guess("Law", 3.2, "it is cut into articles", *articles[0].span()))
    elif len(numbers) >= 2 and dense >= 0.8:
        guesses.append(Guess("Law", 1.2, "it has articles", *articles[0].span()))
    references = list(_PATTERNS["references"].finditer(text))
    cited = sum(1 for _ in _CITED.finditer(text))
    if references and cited >= 5 and _PATTERNS["abstract"].search(text[:6000]):
        guesses.append(Guess("Academic paper", 2.5, "abstract and references", *references[-1].span()))
    elif cited >= 5 and 1000 * cited / max(words, 1) > 4:
        guesses.append(Guess("Report", 1.3, "it cites literature"))
    elif caption := _PATTERNS["caption"].search(text):
        guesses.append(Guess("Report", 1.0, "it shows findings", *caption.span()))
    return guesses


def _table_share(extracted: ExtractedText) -> float:
    inside = sum(block.end - block.start for block in extracted.blocks if block.kind == "table")
    return inside / max(len(extracted.text), 1)
