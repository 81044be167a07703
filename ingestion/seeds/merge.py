"""Merge of a list into the existing sources: new rows are added, none is overwritten, all others are reported."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from ingestion.seeds.codes import Codes, prefix_for, why_refused_code
from ingestion.spreadsheets.row import RejectedRow
from ingestion.types import SeedSource
from ingestion.web.urls import normal_url


def whole(text: str) -> str:
    """Return the text with a replacement character for every half of a character; two halves that fit become one."""
    if text.isascii():
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def is_whole(text: str) -> bool:
    """Return whether the text can be written as UTF-8; the name of a file that is not UTF-8 itself cannot."""
    return whole(text) == text


_MOST_WARNINGS = 50


@dataclass(frozen=True, slots=True)
class SeedReport:
    """New sources in the order of the list, how many rows were known already, and what could not be used."""

    new: tuple[SeedSource, ...]
    known: int
    rejected: tuple[RejectedRow, ...] = ()
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SeedCandidate:
    """A source as a list gives it: `part` counts several addresses of one row from 1, which share its code.

    `prefix` begins the code where the list gives none.
    """

    place: str
    origin: str
    url: str = ""
    path: str = ""
    code: str = ""
    part: int = 1
    title: str = ""
    authority: str = ""
    notes: str = ""
    licence: str = ""
    prefix: str = ""


def match_seeds(
    candidates: Sequence[SeedCandidate],
    known: Sequence[SeedSource],
    *,
    rejected: Sequence[RejectedRow] = (),
    known_rows: int = 0,
    warnings: Sequence[str] = (),
) -> SeedReport:
    """Return the report on candidates, told apart by address or path and by code, added to what their reader reports.

    Codes that a list brings are kept; the others get the next number of their prefix, in the order of the list, so
    that the same list gives the same codes. No text of the report holds half a character, which no database takes.
    """
    candidates = [_whole(candidate) for candidate in candidates]
    codes_of = {key_of(source.url, source.path): source.code for source in known}
    sources = {source.code.casefold(): source for source in known}
    codes = Codes([source.code for source in known])
    for candidate in candidates:
        if candidate.code and candidate.part == 1:
            codes.reserve(candidate.code)
    first_places: dict[str, str] = {}
    taken: dict[str, str] = {}
    new: list[SeedSource] = []
    refused, messages = list(rejected), list(warnings)
    for candidate in candidates:
        key = key_of(candidate.url, candidate.path)
        code = candidate.code if candidate.part == 1 or not candidate.code else f"{candidate.code}-{candidate.part}"
        if key in codes_of:
            known_rows += 1
            if candidate.code and candidate.part == 1 and codes_of[key].casefold() != code.casefold():
                messages.append(
                    f"{candidate.place}: {code} has an address that is known as {codes_of[key]}, which stays."
                )
            continue
        if reason := _why_not(code, key, first_places, taken, sources):
            refused.append(RejectedRow(candidate.place, reason))
            continue
        if not code:
            code = codes.next(candidate.prefix or prefix_for(candidate.authority, candidate.url))
        first_places[key] = candidate.place
        taken[code.casefold()] = candidate.place
        new.append(_source(candidate, code))
    reported = tuple(RejectedRow(whole(one.place), whole(one.reason)) for one in refused)
    return SeedReport(tuple(new), known_rows, reported, tuple(whole(one) for one in shorten(messages)))


def key_of(url: str, path: str = "") -> str:
    """Return what makes two sources one: the normal form of the address, or the path."""
    return (normal_url(url) or url) if url else f"file {path}"


def shorten(warnings: Iterable[str]) -> list[str]:
    """Return the first fifty warnings and how many more there are; a hundred thousand help nobody."""
    every = list(warnings)
    rest = len(every) - _MOST_WARNINGS
    return every if rest <= 0 else [*every[:_MOST_WARNINGS], f"... and {rest:,} more of this kind."]


def _whole(candidate: SeedCandidate) -> SeedCandidate:
    return replace(
        candidate,
        place=whole(candidate.place),
        origin=whole(candidate.origin),
        url=whole(candidate.url),
        path=whole(candidate.path),
        code=whole(candidate.code),
        title=whole(candidate.title),
        authority=whole(candidate.authority),
        notes=whole(candidate.notes),
        licence=whole(candidate.licence),
    )


def _source(candidate: SeedCandidate, code: str) -> SeedSource:
    return SeedSource(
        code,
        url=candidate.url,
        path=candidate.path,
        title=candidate.title,
        authority=candidate.authority,
        notes=candidate.notes,
        licence=candidate.licence,
        origin=candidate.origin,
    )


def _why_not(
    code: str,
    key: str,
    first_places: dict[str, str],
    taken: dict[str, str],
    sources: dict[str, SeedSource],
) -> str:
    """Return why a candidate that is not known cannot become a source, or ""."""
    if key in first_places:
        return f"it repeats the address of {first_places[key]}"
    if not code:
        return ""
    if reason := why_refused_code(code):
        return reason
    if source := sources.get(code.casefold()):
        return (
            f"the code {code} is known with another address ({source.url or source.path}), which was not overwritten; "
            "give this row a code of its own"
        )
    if code.casefold() in taken:
        return f"the code {code} stands for another address in {taken[code.casefold()]}; give this row one of its own"
    return ""
