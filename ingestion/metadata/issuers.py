"""Who issued a document: what it declares, what is on its first page, its symbols, formulas and addresses."""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from ingestion.metadata.authorities import (
    Authority,
    AuthorityTable,
    Naming,
    authority_of_host,
    canonical_authority,
    load_authorities,
    named_authorities,
)
from ingestion.metadata.term_matching import Word, cut_words
from ingestion.patterns import load_patterns, load_words
from rag_engine.types import ExtractedText, Line

_HEAD = 6_000
_TAIL = 2_500
_WHOLE = 40_000

_WEIGHT = {"symbol": 0.9, "mark": 0.8, "name": 0.62, "acronym": 0.42, "address": 0.45}
_PATTERNS = load_patterns("issuers")
_BULLETS = " \t|•·-–—#*"
_LETTERHEAD_LINES, _IMPRINT_LINES = 40, 6
_COMPANIES = ("Inc.", "Ltd.", "S.p.A.", "S.r.l.", "S.A.", "Co.")


@dataclass(frozen=True, slots=True)
class Issuer:
    """A body that may have issued a document; `known` is its entry in the table, None for one it does not hold.

    `start` and `end` are where the text names it (-1: it does not); `why` says what speaks for it.
    """

    name: str
    confidence: float
    known: Authority | None
    why: str
    start: int = -1
    end: int = -1


def find_issuers(
    extracted: ExtractedText,
    language: str,
    *,
    title: str = "",
    declared: Sequence[tuple[str, str]] = (),
    addresses: Sequence[str] = (),
    words: Sequence[Word] | None = None,
    table: AuthorityTable | None = None,
) -> list[Issuer]:
    """Return bodies that may have issued a document, the likeliest first.

    `declared` holds (what declares it, name) pairs such as ("publisher", "European Environment Agency"), the most
    trustworthy first; `addresses` are those that the file came from.
    """
    table = table or load_authorities()
    words = cut_words(extracted.text) if words is None else words
    candidates = [*_declared(declared, table), *_hosts(addresses, table), *_written(extracted, words, table)]
    candidates += _titled(title, table)
    if language == "de":
        candidates += _land_ministry(extracted.text, table)
    candidates += _issued_by(extracted.text)
    if not any(one.confidence >= 0.5 for one in candidates):
        candidates += _letterhead(extracted)
    merged: dict[str, Issuer] = {}
    for one in sorted(candidates, key=lambda one: -one.confidence):
        known = merged.get(one.name)
        if known is None:
            merged[one.name] = one
        else:
            start, end = (known.start, known.end) if known.start >= 0 else (one.start, one.end)
            # Two independent signs leave less doubt than one.
            sure = 1 - (1 - known.confidence) * (1 - 0.5 * one.confidence)
            merged[one.name] = Issuer(known.name, min(sure, 0.98), known.known, known.why, start, end)
    return sorted(merged.values(), key=lambda one: -one.confidence)


def is_body(name: str) -> bool:
    """Return whether a name is that of an organisation as far as its words tell, not that of a person or a program."""
    return 3 <= len(name) <= 160 and _PATTERNS["body"].search(name) is not None


def _declared(declared: Sequence[tuple[str, str]], table: AuthorityTable) -> list[Issuer]:
    found = []
    for rank, (what, name) in enumerate(declared):
        for part in (name, *re.split(r"[;|/]| - ", name)):
            known = canonical_authority(part, table)
            if known is not None:
                sure = (0.55 if known.weak else 0.86) - 0.02 * rank
                found.append(Issuer(known.name, sure, known, f"the file's {what}"))
                break
        else:
            if is_body(name):
                found.append(Issuer(" ".join(name.split()), 0.6 - 0.02 * rank, None, f"the file's {what}"))
    return found


def _hosts(addresses: Sequence[str], table: AuthorityTable) -> list[Issuer]:
    found = []
    for address in addresses:
        known = authority_of_host(address, table)
        if known is not None:
            found.append(Issuer(known.name, 0.45 if known.weak else 0.78, known, f"its address {address}"))
    return found


def _titled(title: str, table: AuthorityTable) -> list[Issuer]:
    """Return bodies in the title: "Directive of the European Parliament and of the Council"."""
    return [
        Issuer(one.authority.name, 0.35 if one.authority.weak else 0.6, one.authority, "the title")
        for one in named_authorities(title, cut_words(title), table)
        if one.kind in ("name", "symbol")
    ]


def _written(extracted: ExtractedText, words: Sequence[Word], table: AuthorityTable) -> list[Issuer]:
    """Return bodies that the first page, the last lines, or throughout the text name."""
    text = extracted.text
    # A page cut out of a document has no first page: what it speaks of throughout is the next best.
    whole = text[:_WHOLE]
    shown = bisect_right(words, len(whole), key=lambda word: word.end)
    namings = named_authorities(whole, words[:shown], table)
    counts = Counter(one.authority.name for one in namings)
    total = counts.total()
    tail_start = max(len(whole), len(text) - _TAIL)
    tail = text[tail_start:]
    last = named_authorities(tail, cut_words(tail), table)
    found: dict[str, Issuer] = {}
    before_end = 0
    for one in namings:
        name = one.authority.name
        # "Published by A and B" is A's document first of all.
        before = whole[max(before_end, one.start - 60) : one.start]
        before_end = max(before_end, one.end)
        weight = _weight(one, before)
        if counts[name] >= 3:
            weight += 0.12 * counts[name] / total + 0.02 * min(math.log(counts[name]), 3)
        weight = min(weight, 0.93)
        if name not in found or found[name].confidence < weight:
            found[name] = Issuer(name, weight, one.authority, "its first pages", one.start, one.end)
    for one in last:
        weight = (
            0.4 - (0.2 if one.authority.weak else 0.0)
            if _PATTERNS["issued"].search(tail[max(0, one.start - 60) : one.start])
            else 0.15
        )
        known = found.get(one.authority.name)
        if known is None or known.confidence < weight:
            start = tail_start + one.start
            found[one.authority.name] = Issuer(
                one.authority.name, weight, one.authority, "its last lines", start, tail_start + one.end
            )
    return list(found.values())


def _weight(named: Naming, before: str) -> float:
    """Return how much one naming speaks for its body, by its kind, its place and the words before it."""
    weight = _WEIGHT[named.kind] - (0.27 if named.authority.weak else 0.0)
    if named.start < _HEAD:
        weight -= 0.26 * named.start / _HEAD
    elif named.kind in ("symbol", "mark"):
        weight = 0.2
    else:
        weight -= 0.34
    if _PATTERNS["issued"].search(before):
        weight += 0.2
    elif named.start < 400 and named.kind in ("name", "acronym"):
        weight += 0.08
    return weight - (0.3 if _quoted_as_source(before) else 0.0)


def _quoted_as_source(before: str) -> bool:
    """Return whether what is before a name makes it the source of a figure, not of the document."""
    return _PATTERNS["source"].search(before) is not None


def _land_ministry(text: str, table: AuthorityTable) -> list[Issuer]:
    """Return the ministry of a German Land that is named by its office alone, with the Land named most."""
    match = _PATTERNS["vague_ministry"].search(text[:_HEAD])
    if match is None:
        return []
    counts = [(text.count(land), land) for land in load_words("issuers")["laender"].split("|")]
    count, land = max(counts, key=lambda one: one[0])
    if count < 2:
        return []
    name = f"{match.group(1)} {land}"
    known = canonical_authority(name, table)
    return [Issuer(known.name if known else name, 0.72, known, "its first page", match.start(), match.end())]


def _issued_by(text: str) -> list[Issuer]:
    """Return a body that no table knows, where the first page says that it issued the document.

    "prepared by the ...".
    """
    found = []
    for issued in _PATTERNS["issued"].finditer(text, 0, _HEAD):
        match = _PATTERNS["name"].match(text, issued.end())
        if match is not None and is_body(match[1]) and canonical_authority(match[1]) is None:
            found.append(Issuer(" ".join(match[1].split()), 0.55, None, "its first page", *match.span(1)))
    return found[:2]


def _is_name(written: str) -> bool:
    """Return whether a line has the capitals of a name and not those of a sentence."""
    words: list[str] = re.findall(r"[^\W\d_]{4,}", written)
    return 2 * sum(word[0].isupper() for word in words) > len(words)


def _letterhead(extracted: ExtractedText) -> list[Issuer]:
    """Return a line that looks like the name of a body, of the first page or, as an imprint, of the very end."""
    found: list[Issuer] = []
    for line in extracted.lines[:_LETTERHEAD_LINES]:
        if line.page <= 2 and _names_body(extracted.text[line.start : line.end]):
            weight = 0.42 - 0.004 * len(found) - 0.00002 * line.start
            found.append(_on_line(extracted, line, weight, "its first page"))
    last = extracted.lines[_LETTERHEAD_LINES:][-_IMPRINT_LINES:]
    imprint = (line for line in last if _names_body(extracted.text[line.start : line.end]))
    found += [_on_line(extracted, line, 0.36, "its last lines") for line in imprint]
    return found[:3]


def _names_body(line: str) -> bool:
    """Return whether a line is the name of a body and nothing else."""
    written = line.strip(_BULLETS)
    if not 5 <= len(written) <= 110 or len(written.split()) > 14 or not written[0].isupper():
        return False
    ends = written.endswith((".", ",", ";", ":")) and not written.endswith(_COMPANIES)
    return not ends and _is_name(written) and _PATTERNS["body"].search(written) is not None


def _on_line(extracted: ExtractedText, line: Line, weight: float, why: str) -> Issuer:
    return Issuer(extracted.text[line.start : line.end].strip(_BULLETS), weight, None, why, line.start, line.end)
