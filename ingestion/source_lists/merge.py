"""Merge of a list into the existing sources.

New rows are added, none is overwritten, all others are reported.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any
from urllib.parse import urlsplit

from ingestion.spreadsheets.row import RefusedRow
from ingestion.types.source import ListedSource
from ingestion.web.urls import normal_url
from rag_engine.messages import NO_MESSAGE, Message, change_texts
from rag_engine.text.folding import fold

# A hundred thousand warnings help nobody.
_MOST_WARNINGS = 50
_LONGEST_PREFIX = 8
_LONGEST_CODE = 64
_IN_BRACKETS = re.compile(r"\(([A-Z][A-Z0-9]{1,7})\)")
_SMALL_WORDS = {
    "of", "the", "for", "and", "on", "in", "di", "della", "del", "dei", "delle", "per", "e", "de", "la", "le", "des",
    "du", "et", "y", "el", "los", "las", "para", "der", "die", "das", "und", "fur", "do", "da", "dos", "og", "ve",
}  # fmt: skip


def whole(text: str) -> str:
    """Return the text with a replacement character for every half of a character.

    Two halves that fit become one.
    """
    if text.isascii():
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


@dataclass(frozen=True, slots=True)
class SourceListReport:
    """New sources in the order of the list, how many rows were known already, and what could not be used.

    `corrected` are sources of the workspace that the list gives another address, `unused` the headings of columns that
    nothing is taken from.
    """

    new: tuple[ListedSource, ...]
    known: int
    refused: tuple[RefusedRow, ...] = ()
    warnings: tuple[Message, ...] = ()
    corrected: tuple[ListedSource, ...] = ()
    unused: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SourceCandidate:
    """A source as a list gives it.

    `part` counts several addresses of one row from 1, which share its code.

    `prefix` begins the code where the list gives none.
    """

    place: Message
    source: ListedSource
    part: int = 1
    prefix: str = ""


@dataclass(slots=True)
class SourceListReading:
    """Candidates of one list, rows that could not be used, and how many are known by code.

    `unused` are the headings of columns that nothing is taken from.
    """

    candidates: list[SourceCandidate] = field(default_factory=list)
    refused: list[RefusedRow] = field(default_factory=list)
    warnings: list[Message] = field(default_factory=list)
    known: int = 0
    unused: list[str] = field(default_factory=list)

    def reject(self, place: Message, reason: Message) -> None:
        """Report a row that cannot be used."""
        self.refused.append(RefusedRow(place, reason))


def match_sources(reading: SourceListReading, known: Sequence[ListedSource]) -> SourceListReport:
    """Return the report on candidates, apart by address or path and by code, with their reader's reports.

    Codes in a list are kept. The others get the next number of their prefix, in the order of the list, so that the same
    list gives the same codes. No text of the report holds half a character, which no database takes.
    """
    candidates = [_whole(candidate) for candidate in reading.candidates]
    codes_of = {key_of(source.url, source.path): source.code for source in known}
    sources = {source.code.casefold(): source for source in known}
    codes = Codes([source.code for source in known])
    for candidate in candidates:
        if candidate.source.code and candidate.part == 1:
            codes.reserve(candidate.source.code)
    first_places: dict[str, str] = {}
    taken: dict[str, str] = {}
    new: list[ListedSource] = []
    corrected: list[ListedSource] = []
    known_rows, refused, warnings = reading.known, list(reading.refused), list(reading.warnings)
    for candidate in candidates:
        source = candidate.source
        key = key_of(source.url, source.path)
        code = source.code if candidate.part == 1 or not source.code else f"{source.code}-{candidate.part}"
        if key in codes_of:
            known_rows += 1
            if code and candidate.part == 1 and codes_of[key].casefold() != code.casefold():
                warnings.append(
                    Message(
                        "{place}: {code} has an address that is known as {known}, which stays.",
                        place=candidate.place,
                        code=code,
                        known=codes_of[key],
                    )
                )
            continue
        if key in first_places:
            refused.append(
                RefusedRow(candidate.place, Message("it repeats the address of {place}", place=first_places[key]))
            )
            continue
        before = sources.get(code.casefold()) if candidate.part == 1 and code.casefold() not in taken else None
        if before is not None and _is_correction(source, before):
            first_places[key] = taken[code.casefold()] = candidate.place
            corrected.append(replace(before, url=source.url))
            continue
        if code and (reason := why_refused_code(code) or _in_use(code, taken, sources)):
            refused.append(RefusedRow(candidate.place, reason))
            continue
        code = code or codes.next(candidate.prefix or prefix_for(source.authority, source.url))
        first_places[key] = taken[code.casefold()] = candidate.place
        new.append(replace(source, code=code))
    if (rest := len(warnings) - _MOST_WARNINGS) > 0:
        warnings[_MOST_WARNINGS:] = [Message("... and {n:,} more of this kind.", n=rest)]
    unused = tuple(dict.fromkeys(map(whole, reading.unused)))
    reported = tuple(RefusedRow(_whole_message(row.place), _whole_message(row.reason)) for row in refused)
    return SourceListReport(
        tuple(new), known_rows, reported, tuple(map(_whole_message, warnings)), tuple(corrected), unused
    )


def key_of(url: str, path: str = "") -> str:
    """Return what makes two sources one: the normal form of the address, or the path.

    >>> key_of("http://www.example.org/plan/?utm_source=mail") == key_of("https://example.org/plan")
    True
    """
    return (normal_url(url) or url) if url else f"file {path}"


def _whole(candidate: SourceCandidate) -> SourceCandidate:
    listed = candidate.source
    texts: dict[str, Any] = {one.name: change_texts(getattr(listed, one.name), whole) for one in fields(listed)}
    source = ListedSource(**texts)
    return replace(candidate, place=_whole_message(candidate.place), source=source)


def _whole_message(message: Message) -> Message:
    return Message(change_texts(message, whole))


def _is_correction(row: ListedSource, before: ListedSource) -> bool:
    """Return whether a row gives a source its right address.

    The code is the same, and no title says otherwise.

    A source under a portal and a file have no address that a list could correct.
    """
    titles = {" ".join(source.title.casefold().split()) for source in (row, before) if source.title.strip()}
    return bool(row.url and before.url) and not before.parent and len(titles) < 2


def _in_use(code: str, taken: Mapping[str, str], sources: Mapping[str, ListedSource]) -> Message:
    """Return why a code is not free, or ""."""
    if source := sources.get(code.casefold()):
        return Message(
            "the code {code} is known with another address ({address}), which was not overwritten; "
            "give this row another code",
            code=code,
            address=source.url or source.path,
        )
    if place := taken.get(code.casefold()):
        return Message(
            "the code {code} belongs to another address in {place}; give this row another code", code=code, place=place
        )
    return NO_MESSAGE


class Codes:
    """Codes in use, compared without regard to case since they become file names; gives out free ones."""

    def __init__(self, used: Iterable[str]) -> None:
        self._used: set[str] = set()
        self._last: dict[str, int] = {}
        for code in used:
            self.reserve(code)

    def __contains__(self, code: str) -> bool:
        return code.casefold() in self._used

    def reserve(self, code: str) -> None:
        """Reserve the code and the lower numbers of its prefix."""
        self._used.add(code.casefold())
        if match := re.fullmatch(r"(.{0,60}?)(\d{1,9})(?:[.-]\d{1,6})*", code.casefold()):
            self._last[match.group(1)] = max(self._last.get(match.group(1), 0), int(match.group(2)))

    def next(self, prefix: str) -> str:
        """Return the code after the highest one of a prefix, of at least three digits: EEA007."""
        number = self._last.get(prefix.casefold(), 0) + 1
        while f"{prefix}{number:03}" in self:
            number += 1
        self.reserve(code := f"{prefix}{number:03}")
        return code


def prefix_for(name: str, url: str = "") -> str:
    """Return two to eight capitals and digits for an authority, a folder or an address's host.

    >>> prefix_for("European Environment Agency"), prefix_for("", "https://www.fema.gov/plans")
    ('EEA', 'FEMA')
    """
    if match := _IN_BRACKETS.search(name):
        return match.group(1)
    words = [re.sub(r"[^a-z0-9]", "", fold(word)) for word in re.split(r"[\s\-–—_/,.:;'’()]+", name)]
    words = [word for word in words if word and word not in _SMALL_WORDS]
    if len(words) > 1:
        return _capitals("".join(word[0] for word in words))
    if words:
        return _capitals(words[0])
    labels = (urlsplit(url).hostname or "").split(".")
    named = [label for label in labels if label not in ("www", "m", "en")] or labels
    return _capitals(re.sub(r"[^a-z0-9]", "", fold(named[0])))


def why_refused_code(code: str) -> Message:
    """Return why a code cannot name a source and its file, or ""."""
    if len(code) > _LONGEST_CODE:
        return Message("the code “{code}…” is longer than {most} characters", code=code[:20], most=_LONGEST_CODE)
    if not code.isprintable() or re.search(r'[/\\<>:"|?*]', code) or code.startswith("."):
        return Message(
            "the code “{code}” cannot be part of a file name; use letters, digits, dot, hyphen and underscore",
            code=repr(code),
        )
    return NO_MESSAGE


def _capitals(text: str) -> str:
    # A prefix that ends in a digit would run into the number.
    kept = text[:_LONGEST_PREFIX].upper().rstrip("0123456789")
    return kept if len(kept) > 1 else f"{kept}DOC"[:_LONGEST_PREFIX]
