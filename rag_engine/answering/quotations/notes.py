"""Notes among what can be quoted, told by the mark at their beginning or by the heading above them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import Literal

from rag_engine.chunking.section.rules import lower, rules_of
from rag_engine.text.raised import FROM_RAISED, RAISED
from rag_engine.text.tables import read_table
from rag_engine.types.passage import Source

# ¹ | ⁽¹⁾ | (¹) | [1] | [F1] of editors | [*] of those who give none
_MARK = re.compile(rf"[⁽(]?(?P<raised>[{RAISED}]{{1,3}})[⁾)]?\s?(?=\S)|\[(?:(?P<number>[A-Z]?\d{{1,3}})|\*)\]\s?(?=\S)")
_QUOTED = re.compile(r"[«“„\"]")
_NUMBER = re.compile(r"[A-Z]?\d{1,3}\b")
# Between the word for a note and its number: "nota a piè di pagina 3", "footnote no. 3".
_BETWEEN = re.compile(r"(?:[\s.\[(]|\b(?:di pagina|de página|de page|number|n[ºo°r]?)\b)*", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Note:
    """A note: its number and its section if they are known, and whether it tells the wording that stood before."""

    number: str
    section: str
    kind: Literal["note", "former"]


def note_at(source: Source, start: int, end: int) -> Note | None:
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
    return Note(number, section, "former" if told and _QUOTED.search(read, told.end()) else "note")


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
