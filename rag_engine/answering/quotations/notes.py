"""Notes among what can be quoted, told by the mark at their beginning or by the heading above them."""

from __future__ import annotations

import re
from functools import cache
from typing import Literal

from rag_engine.chunking.section.rules import lower, rules_of
from rag_engine.text.raised import RAISED
from rag_engine.text.tables import read_table
from rag_engine.types.passage import Source

NoteKind = Literal["", "note", "former"]

# ¹ | ⁽¹⁾ | (¹) | [1] | [F1] of editors | [*] of those who give none
_MARK = re.compile(rf"[⁽(]?[{RAISED}]{{1,3}}[⁾)]?\s?(?=\S)|\[(?:[A-Z]?\d{{1,3}}|\*)\]\s?(?=\S)")
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


def asks_for_notes(question: str, language: str) -> bool:
    """Return whether a question asks for a note, as "footnote 3" does."""
    return _pattern("notes", language).search(question) is not None


@cache
def _marks() -> re.Pattern[str]:
    return re.compile(rf"(?:^|(?<=\n))(?:{_MARK.pattern})")


@cache
def _pattern(table: str, language: str) -> re.Pattern[str]:
    return re.compile(read_table("asked_for")[table].get(language, "(?!)"), re.IGNORECASE)
