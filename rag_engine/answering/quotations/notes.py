"""Notes among what can be quoted, told by the mark at their beginning or by the heading above them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Literal

from rag_engine.chunking.section.chunks import find_outline
from rag_engine.chunking.section.rules import lower, rules_of
from rag_engine.text.raised import RAISED
from rag_engine.text.tables import read_table
from rag_engine.types.passage import Source

NoteKind = Literal["", "note", "former"]
# Characters in which a wording names its section.
_LABEL = 80

# ¹ | ⁽¹⁾ | (¹) | [1] | [F1] of editors | [*] of those who give none
_MARK = re.compile(rf"[⁽(]?[{RAISED}]{{1,3}}[⁾)]?\s?(?=\S)|\[(?:[A-Z]?\d{{1,3}}|\*)\]\s?(?=\S)")
# The label of a former wording that names its first and its last day.
_FORMER = re.compile(
    rf"(?:^|(?<=\n))(?:{_MARK.pattern})[^:«\n]{{0,60}}?(\d{{4}}-\d\d-\d\d)[^:«\d]{{1,9}}(\d{{4}}-\d\d-\d\d): «"
)
_QUOTED = re.compile(r"[«“„\"]")


def note_kind(source: Source, start: int, end: int) -> NoteKind:
    """Return whether characters [start, end) of a source are of a note, or tell former wording.

    A note quotes former wording behind words such as "read:".
    """
    paragraph = source.text.rfind("\n\n", 0, start) + 2 if "\n\n" in source.text[:start] else 0
    language = source.document.metadata.language
    headed = lower(source.section) in rules_of(language).notes
    if not headed and not _MARK.match(source.text, paragraph):
        return ""
    # Below a heading of notes, one may go on in several paragraphs.
    begun = max((mark.start() for mark in _marks().finditer(source.text, 0, start)), default=0) if headed else paragraph
    read = source.text[begun:end]
    told = _pattern("former", language).search(read)
    return "former" if told and _QUOTED.search(read, told.end()) else "note"


@dataclass(frozen=True, slots=True)
class FormerWording:
    """A wording that a note tells: characters [start, end) of a source's text, its first and its last day."""

    start: int
    end: int
    days: tuple[str, str]

    def stood(self, day: str) -> bool:
        """Return whether it was in force on a date, or at the end of a month or year."""
        last = f"{day}{'-12-31'[len(day) - len('YYYY') :]}"
        return self.days[0] <= last <= self.days[1]


def former_wordings(source: Source) -> list[FormerWording]:
    """Return the former wordings with their days among the notes of a source."""
    begun = list(_FORMER.finditer(source.text))
    ends = [*(one.start() for one in begun[1:]), len(source.text)]
    return [FormerWording(one.end(), end, (one[1], one[2])) for one, end in zip(begun, ends, strict=False)]


def wording_at(source: Source, start: int, end: int, day: str) -> FormerWording | None:
    """Return the former wording at characters [start, end) of a source that was in force on a day; else None."""
    if not day:
        return None
    return next(
        (one for one in former_wordings(source) if one.stood(day) and one.start < end and start < one.end), None
    )


@dataclass(frozen=True, slots=True)
class WordingsThen:
    """The sources with wordings that were in force on a day, and the beginning of each such wording by its document.

    Without a day it is empty, and no note stands.
    """

    day: str = ""
    sources: tuple[Source, ...] = ()
    begin: Mapping[int, tuple[str, ...]] = field(default_factory=dict)

    def stands(self, source: Source, start: int, end: int) -> bool:
        """Return whether characters [start, end) of a source are text that was in force on the day, and no note."""
        if note_kind(source, start, end):
            return source in self.sources and wording_at(source, start, end, self.day) is not None
        begin = self.begin.get(source.document.key)
        section = _section_at(source, start) if begin else ""
        return not any(_is_of(words, section) for words in begin or ())


def wordings_then(sources: Sequence[Source], day: str, sections: Sequence[str]) -> WordingsThen:
    """Return the former wordings of sources that were in force on a day, of the given sections if there are any."""
    if not day:
        return WordingsThen()
    begin: dict[int, tuple[str, ...]] = {}
    held: list[Source] = []
    for source in sources:
        stood = [source.text[one.start : one.start + _LABEL] for one in former_wordings(source) if one.stood(day)]
        if any(_is_of(words, section) for words in stood for section in sections) or (stood and not sections):
            held.append(source)
            begin[source.document.key] = (*begin.get(source.document.key, ()), *stood)
    return WordingsThen(day, tuple(held), begin)


def _section_at(source: Source, place: int) -> str:
    """Return the section of a place in a source, which may hold several short ones."""
    outline = find_outline(source.text, source.document.metadata.language)
    return next((one.section for one in outline if one.start <= place < one.end and one.section), source.section)


def _is_of(words: str, section: str) -> bool:
    """Return whether a wording begins with the name of a section."""
    begins = bool(section) and lower(words).startswith(lower(section))
    return begins and not words[len(section) : len(section) + 1].isalnum()


def asks_for_notes(question: str, language: str) -> bool:
    """Return whether a question asks for a note, as "footnote 3" does."""
    return _pattern("notes", language).search(question) is not None


@cache
def _marks() -> re.Pattern[str]:
    return re.compile(rf"(?:^|(?<=\n))(?:{_MARK.pattern})")


@cache
def _pattern(table: str, language: str) -> re.Pattern[str]:
    return re.compile(read_table("asked_for")[table].get(language, "(?!)"), re.IGNORECASE)
