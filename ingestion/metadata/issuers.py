"""Issuers of a document.

Their names come from its declarations, its first page, its symbols, formulas and addresses.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

from ingestion.metadata.authorities import Naming, authority_of_host, canonical_authority, named_authorities
from ingestion.metadata.quotes import DocumentText, Guess
from ingestion.metadata.term_matching import cut_words
from ingestion.metadata.titles import WEB_PAGES
from ingestion.patterns import load_patterns, load_words
from rag_engine.types.document import ExtractedText, Line

_HEAD = 6_000
_TAIL = 2_500
_WHOLE = 40_000

_WEIGHT = {"symbol": 0.9, "mark": 0.8, "name": 0.62, "acronym": 0.42, "address": 0.45}
_PATTERNS = load_patterns("issuers")
# A body that is only cited stays below what is taken for an issuer.
_CITED = 0.25
# So much less speaks for a body that the running text names.
_IN_PROSE = 0.15
_BULLETS = " \t|•·-–—#*"
_LETTERHEAD_LINES, _IMPRINT_LINES = 40, 6
_PROSE = 300
_COMPANIES = ("Inc.", "Ltd.", "S.p.A.", "S.r.l.", "S.A.", "Co.")


def find_issuers(
    text: DocumentText,
    title: str,
    *,
    declared: Sequence[tuple[str, str]] = (),
    margins: Sequence[str] = (),
    address: str = "",
) -> list[Guess]:
    """Return bodies that may have issued a document, the likeliest first.

    `declared` holds (field, name) pairs such as ("publisher", "European Environment Agency"), the most trustworthy
    first. `margins` are the recurrent lines of its pages, `address` is the origin of the file.
    """
    candidates = list(_declared(declared, page=text.extracted.media_type in WEB_PAGES))
    if hosted := authority_of_host(address):
        candidates.append(Guess(hosted.name, 0.45 if hosted.weak else 0.78, f"its address {address}"))
    candidates += [*_running(margins), *_written(text)]
    # "Directive of the European Parliament and of the Council".
    candidates += [
        Guess(authority.authority.name, 0.35 if authority.authority.weak else 0.6, "the title")
        for authority in named_authorities(title, cut_words(title))
        if authority.kind in ("name", "symbol")
    ]
    if text.language == "de":
        candidates += _land_ministry(text.extracted.text)
    candidates += _issued_by(text.extracted.text)
    if not any(candidate.weight >= 0.5 for candidate in candidates):
        cited = {candidate.value for candidate in candidates if candidate.weight <= _CITED}
        candidates += [guess for guess in _letterhead(text.extracted) if guess.value not in cited]
    merged: dict[str, Guess] = {}
    for candidate in sorted(candidates, key=lambda guess: -guess.weight):
        known = merged.setdefault(candidate.value, candidate)
        if known is not candidate:
            place = known if known.start >= 0 else candidate
            # Two independent signs leave less doubt than one.
            sure = 1 - (1 - known.weight) * (1 - 0.5 * candidate.weight)
            merged[candidate.value] = replace(known, weight=min(sure, 0.98), start=place.start, end=place.end)
    return sorted(merged.values(), key=lambda guess: -guess.weight)


def is_body(name: str) -> bool:
    """Return whether a name is an organisation's by its words, not a person's or a program's.

    >>> is_body("Ministry of the Interior"), is_body("Microsoft Word"), is_body("Ada Lovelace")
    (True, False, False)
    """
    return 3 <= len(name) <= 160 and _PATTERNS["body"].search(name) is not None


def _declared(declared: Sequence[tuple[str, str]], *, page: bool) -> Iterator[Guess]:
    """Yield the bodies that the file declares.

    The publisher of a web page is surer than any name in its text.

    The fields of an office file are often left over from another.
    """
    for rank, (what, name) in enumerate(declared):
        parts = (name, *re.split(r"[;|/]| - ", name))
        known = next(filter(None, map(canonical_authority, parts)), None)
        published = page and what == "publisher"
        if known is not None:
            sure = 0.55 if known.weak else 0.96 if published else 0.86
            yield Guess(known.name, sure - 0.02 * rank, f"the file's {what}")
        elif is_body(name):
            yield Guess(" ".join(name.split()), (0.95 if published else 0.6) - 0.02 * rank, f"the file's {what}")


def _running(margins: Sequence[str]) -> Iterator[Guess]:
    for line in margins:
        for authority in named_authorities(line, cut_words(line)):
            if authority.kind != "acronym":
                yield Guess(
                    authority.authority.name, 0.35 if authority.authority.weak else 0.6, f"the running head {line!r}"
                )


def _written(document: DocumentText) -> list[Guess]:
    """Return bodies that the first page, the last lines, or throughout the text name."""
    text = document.extracted.text
    # A page cut out of a document has no first page: what it speaks of throughout is the next best.
    whole = text[:_WHOLE]
    shown = bisect_right(document.words, len(whole), key=lambda word: word.end)
    namings = named_authorities(whole, document.words[:shown])
    counts = Counter(naming.authority.name for naming in namings)
    total = counts.total()
    tail_start = max(len(whole), len(text) - _TAIL)
    tail = text[tail_start:]
    found: dict[str, Guess] = {}

    def add(guess: Guess) -> None:
        if guess.value not in found or found[guess.value].weight < guess.weight:
            found[guess.value] = guess

    before_end, prose = 0, _first_prose(document.extracted)
    cited: set[str] = set()
    issuing: set[str] = set()
    for naming in namings:
        name = naming.authority.name
        # "Published by A and B" is A's document first of all.
        before = whole[max(before_end, naming.start - 60) : naming.start]
        before_end = max(before_end, naming.end)
        weight = _weight(naming, before)
        if naming.kind == "name" and naming.start > prose and not _PATTERNS["issued"].search(before):
            weight -= _IN_PROSE
        if _PATTERNS["source"].search(before):
            cited.add(name)
        elif naming.kind in ("symbol", "mark") or _PATTERNS["issued"].search(before):
            issuing.add(name)
        if counts[name] >= 3:
            weight += 0.12 * counts[name] / total + 0.02 * min(math.log(counts[name]), 3)
        add(Guess(name, min(weight, 0.93), "its first pages", naming.start, naming.end))
    for authority in named_authorities(tail, cut_words(tail)):
        issued = _PATTERNS["issued"].search(tail[max(0, authority.start - 60) : authority.start])
        weight = 0.15 if not issued else 0.2 if authority.authority.weak else 0.4
        add(
            Guess(
                authority.authority.name,
                weight,
                "its last lines",
                tail_start + authority.start,
                tail_start + authority.end,
            )
        )
    # Whom a text names as the source of its figures, and nowhere as its issuer, has written something else.
    return [
        replace(one, weight=min(one.weight, _CITED)) if one.value in cited - issuing else one for one in found.values()
    ]


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
    # What is before a name may make it the source of a figure, not of the document.
    return weight - (0.3 if _PATTERNS["source"].search(before) else 0.0)


def _land_ministry(text: str) -> list[Guess]:
    """Return the ministry of a German Land that is named by its office alone, with the Land named most."""
    match = _PATTERNS["vague_ministry"].search(text[:_HEAD])
    if match is None:
        return []
    counts = [(text.count(land), land) for land in load_words("issuers")["laender"].split("|")]
    count, land = max(counts, key=lambda one: one[0])
    if count < 2:
        return []
    name = f"{match.group(1)} {land}"
    known = canonical_authority(name)
    return [Guess(known.name if known else name, 0.72, "its first page", match.start(), match.end())]


def _issued_by(text: str) -> list[Guess]:
    """Return a body that no table knows, where the first page says that it issued the document.

    "prepared by the ...".
    """
    found = []
    for issued in _PATTERNS["issued"].finditer(text, 0, _HEAD):
        match = _PATTERNS["name"].match(text, issued.end())
        if match is not None and is_body(match[1]) and canonical_authority(match[1]) is None:
            found.append(Guess(" ".join(match[1].split()), 0.55, "its first page", *match.span(1)))
    return found[:2]


def _letterhead(extracted: ExtractedText) -> list[Guess]:
    """Return a line that looks like a body's name, on the first page or as an imprint at the end."""
    found: list[Guess] = []
    prose = _first_prose(extracted)
    for line in extracted.lines[:_LETTERHEAD_LINES]:
        if line.page <= 2 and line.start < prose and is_name_of_body(extracted.text[line.start : line.end]):
            weight = 0.42 - 0.004 * len(found) - 0.00002 * line.start
            found.append(_on_line(extracted, line, weight, "its first page"))
    last = extracted.lines[_LETTERHEAD_LINES:][-_IMPRINT_LINES:]
    imprint = (line for line in last if is_name_of_body(extracted.text[line.start : line.end]))
    found += [_on_line(extracted, line, 0.36, "its last lines") for line in imprint]
    return found[:3]


def _first_prose(extracted: ExtractedText) -> int:
    """Return where running text begins; bodies named after it are mentioned, or in a chart."""
    blocks = (block for block in extracted.blocks if block.kind == "text" and block.end - block.start >= _PROSE)
    return next((block.start for block in blocks), len(extracted.text))


def is_name_of_body(line: str) -> bool:
    """Return whether a line is the name of a body and nothing else."""
    written = line.strip(_BULLETS)
    if not 5 <= len(written) <= 110 or len(written.split()) > 14 or not written[0].isupper():
        return False
    ends = written.endswith((".", ",", ";", ":")) and not written.endswith(_COMPANIES)
    # The capitals of a name, not those of a sentence.
    words: list[str] = re.findall(r"[^\W\d_]{4,}", written)
    named = 2 * sum(word[0].isupper() for word in words) > len(words)
    return not ends and named and _PATTERNS["body"].search(written) is not None


def _on_line(extracted: ExtractedText, line: Line, weight: float, why: str) -> Guess:
    return Guess(extracted.text[line.start : line.end].strip(_BULLETS), weight, why, line.start, line.end)
