"""Notes among what can be quoted, told by the mark at their beginning or by the heading above them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Literal

from rag_engine.chunking.section.chunks import find_outline
from rag_engine.chunking.section.rules import lower, rules_of
from rag_engine.text.raised import FROM_RAISED, RAISED
from rag_engine.text.tables import read_table
from rag_engine.types.passage import Source

# Characters in which a wording names its section.
_LABEL = 80

# ¹ | ⁽¹⁾ | (¹) | [1] | [F1] of editors | [*] of those who give none
_MARK = re.compile(rf"[⁽(]?(?P<raised>[{RAISED}]{{1,3}})[⁾)]?\s?(?=\S)|\[(?:(?P<number>[A-Z]?\d{{1,3}})|\*)\]\s?(?=\S)")
# The label of a former wording that names its first and its last day.
_FORMER = re.compile(
    rf"(?:^|(?<=\n))(?:{_MARK.pattern})[^:«\n]{{0,60}}?"
    r"(?P<first>\d{4}-\d\d-\d\d)[^:«\d]{1,9}(?P<last>\d{4}-\d\d-\d\d): «"
)
_QUOTED = re.compile(r"[«“„\"]")
_NUMBER = re.compile(r"[A-Z]?\d{1,3}\b")
# Between the word for a note and its number: "nota a piè di pagina 3", "footnote no. 3".
_BETWEEN = re.compile(r"(?:[\s.\[(]|\b(?:di pagina|de página|de page|number|n[ºo°r]?)\b)*", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class QuotedNote:
    """A note: its number and section if they are known, and whether it tells former wording."""

    number: str
    section: str
    kind: Literal["note", "former"]


def note_at(source: Source, start: int, end: int) -> QuotedNote | None:
    """Return the note that characters [start, end) of a source are of, None in the text.

    A note quotes former wording behind words such as "read:".
    """
    paragraph = source.text.rfind("\n\n", 0, start) + 2 if "\n\n" in source.text[:start] else 0
    language = source.document.metadata.language
    headed = lower(source.section) in rules_of(language).notes
    mark = _MARK.match(source.text, paragraph)
    if headed:
        # Below a heading of notes, one may go on in several paragraphs.
        mark = max(_marks().finditer(source.text, 0, start + 1), key=re.Match.start, default=None)
    elif not mark:
        return None
    read = source.text[mark.start() if mark else 0 : end]
    told = _pattern("former", language).search(read)
    number = (mark["number"] or (mark["raised"] or "").translate(FROM_RAISED)) if mark else ""
    section = "" if headed else source.section
    return QuotedNote(number, section, "former" if told and _QUOTED.search(read, told.end()) else "note")


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
    return [FormerWording(one.end(), end, (one["first"], one["last"])) for one, end in zip(begun, ends, strict=False)]


def wording_at(source: Source, start: int, end: int, day: str) -> FormerWording | None:
    """Return the wording at characters [start, end) of a source that was in force on a day; else None."""
    if not day:
        return None
    return next(
        (one for one in former_wordings(source) if one.stood(day) and one.start < end and start < one.end), None
    )


@dataclass(frozen=True, slots=True)
class WordingsThen:
    """Sources with wordings in force on a day, and the beginning of each by its document.

    Without a day it is empty, and no note stands.
    """

    day: str = ""
    sources: tuple[Source, ...] = ()
    begin: Mapping[int, tuple[str, ...]] = field(default_factory=dict)

    def stands(self, source: Source, start: int, end: int) -> bool:
        """Return whether characters [start, end) of a source are text in force on the day, and no note."""
        if note_at(source, start, end):
            return source in self.sources and wording_at(source, start, end, self.day) is not None
        begin = self.begin.get(source.document.key)
        section = _section_at(source, start) if begin else ""
        return not any(_is_of(words, section) for words in begin or ())


def wordings_then(sources: Sequence[Source], day: str, sections: Sequence[str]) -> WordingsThen:
    """Return the wordings of sources in force on a day, of the given sections if there are any."""
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
    """Return whether a question asks for a note, as "footnote 3" does, or for what stood formerly."""
    return any(_pattern(table, language).search(question) for table in ("notes", "former"))


def asked_number(question: str, language: str) -> str:
    """Return the number of the note that a question asks for, "" if it gives none.

    >>> asked_number("What does note 3 to Article 5 say?", "en")
    '3'
    """
    asked = _pattern("notes", language).search(question)
    found = _NUMBER.search(question, asked.start()) if asked else None
    # Of an article in "the footnotes of Article 5".
    return found[0] if found and asked and _BETWEEN.fullmatch(question[asked.end() : found.start()]) else ""


@cache
def _marks() -> re.Pattern[str]:
    return re.compile(rf"(?:^|(?<=\n))(?:{_MARK.pattern})")


@cache
def _pattern(table: str, language: str) -> re.Pattern[str]:
    return re.compile(read_table("asked_for")[table].get(language, "(?!)"), re.IGNORECASE)
