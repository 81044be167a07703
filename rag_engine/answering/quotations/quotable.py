"""Units of a source that can be quoted: sentences, items of lists and rows of tables.

Items stand under their opening words.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Literal

from rag_engine.text.bullets import BULLETS, DASHES
from rag_engine.text.folding import fold
from rag_engine.text.raised import RAISED
from rag_engine.text.sentences import Span, sentence_spans
from rag_engine.text.tables import read_table

UnitKind = Literal["sentence", "item", "row", "piece"]

# The most words of a unit that is quoted with its context.
_MOST_WORDS = 110
_LONGEST = 900
_LINE_OF_CONTENTS = re.compile(r"\.{4,}|(?:\.\s){4,}")
_FIGURES = re.compile(r"(?:\s\d[\d.,%]*){4,}")
# A blank before a full stop is the rest of a table of contents' leader; French sets one before ! ; and :
# A question answers none.
# Behind the stop may be marks of notes.
_SENTENCE_END = re.compile(
    rf"(?:(?<!\s)[.…]|[!;:。！])[\"'”’»)\]]*(?:\s?\[[A-Z]?\d{{1,3}}\]|\d{{1,3}}|[⁽(]?[{RAISED}]{{1,3}}[⁾)]?)*$"
)
_QUESTION_END = re.compile(r"[?؟][\"'”’»)\]]*$")
_OPENING_END = re.compile(r"[:：]$")
# "Country: Sweden; Domestic (%): 30.2": the cells of a row under the names of their columns.
_ROW = re.compile(r"[^:;\n]{1,160}:\s[^;\n]+(?:;\s[^:;\n]{1,160}:\s[^;\n]+)+")
# The beginning of an item, by its kind: a bullet, a number or letters in brackets, a number with a full stop.
_MARKER = re.compile(
    rf"(?P<bullet>[{BULLETS}{DASHES}]\s)|(?P<bracket>\(?(?:\d{{1,3}}|[a-zA-Z]{{1,2}}|[ivxIVX]{{1,5}})\)\s)"
    r"|(?P<number>(?:\d{1,3}|[a-zA-Z]|[ivxIVX]{1,5})\.\s)|(?P<roman>[IVXLC]{1,6}\s[-–]\s)"
)
# "(16) | The Union ...": a paragraph whose number has a separate cell. Alone it is no row of a table.
_NUMBER_CELL = re.compile(r"(\(?(?:\d{1,3}|[a-zA-Z]{1,2}|[ivxIVX]{1,5})[.)]?)\s\|\s")
# Words of a caption, of which a longer one says no more; and the most words of a numbered heading.
_SHORTEST_CAPTION, _LONGEST_CAPTION = 4, 40
_LONGEST_HEADING = 15
_NOTE = re.compile(r"\([^()]{1,80}\)")
_FIRST_WORD = re.compile(r"\W*([^\W\d_]+)")


@dataclass(frozen=True, slots=True)
class Unit:
    """Characters [start, end) of a source's text that can be quoted by themselves.

    `opening` holds the words that open the enumeration of an item, or those above the table of a row; "" for others.
    """

    start: int
    end: int
    kind: UnitKind
    opening: str = ""


def units_of(text: str, language: str) -> list[Unit]:
    """Return the units of a text in reading order, or its pieces if no unit reads as one."""
    units: list[Unit] = []
    opening, kind = "", ""
    above = _Above()
    for start, end in sentence_spans(text, language):
        said = " ".join(text[start:end].split())
        if cell := _NUMBER_CELL.match(said):
            said = f"{cell[1]} {said[cell.end() :]}"
        marker = _marker(text, start)
        if marker and opening and kind in ("", marker) and _reads(said):
            kind = marker
            units.append(Unit(start, end, "item", opening))
            continue
        unit = Unit(start, end, _kind(said, marker))
        if unit.kind == "row":
            unit = replace(unit, opening=above.caption(opening))
        elif unit.kind == "sentence" and cell and (number := _NUMBER_CELL.match(text, start)):
            unit = replace(unit, start=number.end())
        above.read(unit.kind, said)
        units.append(unit)
        # "(Vigência)": a note of the editors stands between opening words and their items, and ends nothing.
        if unit.kind != "row" and not (unit.kind == "piece" and _NOTE.fullmatch(said)):
            opening, kind = (said, "") if _OPENING_END.search(said) and _reads(said) else ("", "")
    units = [replace(one, kind="piece") if _is_heading(place, text, units) else one for place, one in enumerate(units)]
    whole = [unit for unit in units if unit.kind != "piece"]
    return whole or [unit for unit in units if text[unit.start : unit.end].strip()]


@dataclass(slots=True)
class _Above:
    """Lines above a table, while its text is read."""

    lines: list[str] = field(default_factory=list)
    in_table: bool = False

    def read(self, kind: UnitKind, said: str) -> None:
        """Take note of the next unit."""
        if kind == "row":
            self.in_table = True
        elif kind != "piece":
            self.lines, self.in_table = [], False
        elif "|" not in said:
            if self.in_table:
                # A short line inside a table names some of its rows, under the caption of all.
                part = len(said.split()) < _SHORTEST_CAPTION
                self.lines = [line for line in self.lines if part and len(line.split()) >= _SHORTEST_CAPTION]
            self.in_table = False
            # A word of a later line is in no caption.
            if len(self.lines) < _LONGEST_CAPTION:
                self.lines.append(said)

    def caption(self, opening: str) -> str:
        """Return the words above the next row, after the sentence that opens its table."""
        return " ".join(" ".join(filter(None, (opening, *self.lines))).split()[:_LONGEST_CAPTION])


def with_context(unit: Unit, text: str, units: Sequence[Unit], language: str, *, listing: bool = False) -> Span:
    """Return the unit with the context that it needs to be understood, if that is short.

    - A sentence that leans on the one before ("It must ...") comes with it.
    - Opening words come with their items, and an item with its whole enumeration.
    - A piece comes with its neighbours, since the lines of a form or a bare list say little one by one.
    - A row of a table comes with its neighbours if a `listing` is asked for.
    """
    place = units.index(unit)
    if unit.kind == "item" or _OPENING_END.search(text[unit.start : unit.end]):
        return _enumeration(place, text, units)
    if unit.kind == "piece" or (unit.kind == "row" and listing):
        return _with_neighbours(place, text, units)
    if unit.kind == "sentence" and place and leans(text[unit.start : unit.end], language):
        before = units[place - 1]
        near = before.kind == "sentence" and "\n\n" not in text[before.end : unit.start]
        if near and _is_short(text[before.start : unit.end]):
            return before.start, unit.end
    return unit.start, unit.end


def leans(sentence: str, language: str) -> bool:
    """Return whether a sentence begins with a word for something named before it."""
    first = _FIRST_WORD.match(sentence)
    return first is not None and fold(first[1]) in _leaning_words().get(language, frozenset())


def _is_heading(place: int, text: str, units: Sequence[Unit]) -> bool:
    """Return whether a unit like an item is the numbered heading of a section.

    A heading is short and beside no other numbered item.
    """

    def is_numbered(one: Unit) -> bool:
        return one.kind == "item" and _marker(text, one.start) == "number"

    unit = units[place]
    if unit.opening or not is_numbered(unit) or len(text[unit.start : unit.end].split()) > _LONGEST_HEADING:
        return False
    beside = (*units[max(place - 1, 0) : place], *units[place + 1 : place + 2])
    return not any(map(is_numbered, beside))


def _enumeration(place: int, text: str, units: Sequence[Unit]) -> Span:
    """Return the enumeration that a unit opens or is an item of, up to that unit where the whole is long."""
    unit, first = units[place], place
    while first and units[first].kind == "item":
        first -= 1
    if not _OPENING_END.search(text[units[first].start : units[first].end]):
        return unit.start, unit.end
    last = place
    while last + 1 < len(units) and units[last + 1].kind == "item":
        if not _is_short(text[units[first].start : units[last + 1].end]):
            break
        last += 1
    span = units[first].start, units[last].end
    return span if _is_short(text[slice(*span)]) else (unit.start, unit.end)


def _with_neighbours(place: int, text: str, units: Sequence[Unit]) -> Span:
    """Return a unit with as many neighbours of its kind as there is room for."""
    first, last, kind = place, place, units[place].kind
    while last + 1 < len(units) and units[last + 1].kind == kind:
        if not _is_short(text[units[first].start : units[last + 1].end]):
            break
        last += 1
    while first and units[first - 1].kind == kind and _is_short(text[units[first - 1].start : units[last].end]):
        first -= 1
    return units[first].start, units[last].end


def _marker(text: str, start: int) -> str:
    """Return the kind of marker with which a line begins at `start`, or ""."""
    if text[text.rfind("\n", 0, start) + 1 : start].strip():
        return ""
    if _NUMBER_CELL.match(text, start):
        return "cell"
    found = _MARKER.match(text, start)
    return (found.lastgroup or "") if found else ""


def _kind(said: str, marker: str) -> UnitKind:
    if _ROW.fullmatch(said) and not _LINE_OF_CONTENTS.search(said):
        return "row"
    if not _reads(said):
        return "piece"
    # A shorter text is a heading or a fragment.
    ends = _SENTENCE_END.search(said) and (len(said.split()) >= 5 or len(said) >= 40)
    return "sentence" if ends or _OPENING_END.search(said) else "item" if marker else "piece"


def _reads(said: str) -> bool:
    """Return whether a piece consists of words and does not begin in the middle of a sentence."""
    letters = sum(sign.isalpha() for sign in said)
    return (
        len(said.split()) >= 3
        and len(said) <= _LONGEST
        and not said[0].islower()
        and letters >= 0.5 * len(said.replace(" ", ""))
        and not _QUESTION_END.search(said)
        and not _LINE_OF_CONTENTS.search(said)
        and not _FIGURES.search(said)
        and "|" not in said
    )


def _is_short(text: str) -> bool:
    return len(text.split()) <= _MOST_WORDS


@cache
def _leaning_words() -> dict[str, frozenset[str]]:
    return {
        language: frozenset(map(fold, words.split())) for language, words in read_table("asked_for")["leaning"].items()
    }
