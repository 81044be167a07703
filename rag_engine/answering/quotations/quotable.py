"""Units of a source that can be quoted: sentences, items of lists and rows of tables.

Items stand under their opening words.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Literal

from rag_engine.answering.quotations.enumerations import NUMBER_CELL, ItemMark, OpenLists, mark_at
from rag_engine.text.folding import fold
from rag_engine.text.neutralise import one_line
from rag_engine.text.raised import RAISED
from rag_engine.text.sentences import Span, sentence_spans
from rag_engine.text.tables import read_table

UnitKind = Literal["sentence", "item", "row", "piece"]

# The most words of a unit that is quoted with its context, and the most characters of a list that is asked for.
_MOST_WORDS = 110
_LONGEST_LIST = 4000
_LONGEST = 900
_READ = 300  # characters of a list that a reader reads with its opening words
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
# Words of a caption, of which a longer one says no more; and the most words of a numbered heading.
_SHORTEST_CAPTION, _LONGEST_CAPTION = 4, 40
_LONGEST_HEADING = 15
_SHORTEST_SENTENCE = 4
_NOTE = re.compile(r"\([^()]{1,80}\)")
_FIRST_WORD = re.compile(r"\W*([^\W\d_]+)")
_WORD = re.compile(r"[^\W\d_]+")
_ABBREVIATION = 4


@dataclass(frozen=True, slots=True)
class Unit:
    """Characters [start, end) of a source's text that can be quoted by themselves.

    `opening` holds the words that open the enumeration of an item, those above the table of a row, or the heading that
    a sentence leans on; "" for others. `lead` is where these words begin, but for a row.
    """

    start: int
    end: int
    kind: UnitKind
    opening: str = ""
    lead: int | None = None


def units_of(text: str, language: str, *, slides: bool = False) -> list[Unit]:
    """Return the units of a text in reading order, or its pieces if no unit reads as one.

    A line of `slides` says something without a stop at its end.
    """
    units: list[Unit] = []
    lists, above = OpenLists(), _Above()
    for start, end in sentence_spans(text, language):
        said = " ".join(text[start:end].split())
        if cell := NUMBER_CELL.match(said):
            said = f"{cell[1]} {said[cell.end() :]}"
        mark = mark_at(text, start)
        if mark and units and _leads(units[-1], text, said, mark):
            # "The following count as such" and "1. the wardens," without a colon.
            units[-1] = replace(units[-1], kind="sentence")
            lists.begin(units[-1].start, " ".join(text[units[-1].start : units[-1].end].split()))
        one = lists.listed(mark) if mark else None
        if one and _is_item(said):
            unit = Unit(start, end, "item", one.opening, one.lead)
        else:
            unit = Unit(start, end, _kind(said, language, listed=mark is not None or slides))
            if unit.kind == "row":
                unit = replace(unit, opening=above.caption())
            elif units and units[-1].lead is not None and "\n" not in text[units[-1].end : start]:
                # The item goes on.
                unit = replace(unit, lead=units[-1].lead)
            elif unit.kind == "sentence":
                lists.close()
                unit = _sentence(unit, said, units[-1] if units else None, text, language)
        above.read(unit.kind, said)
        units.append(unit)
        if _OPENING_END.search(said) and unit.kind != "piece":
            lists.begin(unit.start, said)
    units = [replace(one, kind="piece") if _is_heading(place, text, units) else one for place, one in enumerate(units)]
    whole = [unit for unit in units if unit.kind != "piece"]
    return whole or [unit for unit in units if text[unit.start : unit.end].strip()]


def _sentence(unit: Unit, said: str, before: Unit | None, text: str, language: str) -> Unit:
    """Return a sentence without the cell of its number, and with the heading that it leans on."""
    if number := NUMBER_CELL.match(text, unit.start):
        unit = replace(unit, start=number.end())
    if before is None or before.kind != "piece" or not leans(said, language):
        return unit
    # "Gorno" and "Its population is 3,120."
    heading = text[before.start : before.end].split()
    return replace(unit, opening=" ".join(heading), lead=before.start) if len(heading) <= _LONGEST_HEADING else unit


def _leads(unit: Unit, text: str, item: str, mark: ItemMark) -> bool:
    """Return whether a unit that reads as no sentence opens the enumeration whose first item is next.

    It ends with a colon and is no end of a sentence, or the item goes on in mid-sentence.
    """
    said = text[unit.start : unit.end].strip()
    if unit.kind not in ("piece", "item") or not mark.may_open:
        return False
    if _OPENING_END.search(said):
        return unit.kind == "piece" and not said[0].islower()
    words = item.split()[1:]
    goes_on = bool(words) and words[0][0].islower()
    ended = _SENTENCE_END.search(said) or _QUESTION_END.search(said)
    return mark.opens and goes_on and not ended and len(said.split()) >= _SHORTEST_CAPTION


def _is_item(said: str) -> bool:
    """Return whether a marked line of an enumeration has words: items are short, begun in mid-sentence."""
    words = said.split()[1:]
    return (
        any(sign.isalpha() for word in words for sign in word)
        and len(said) <= _LONGEST
        and "|" not in said
        and not _LINE_OF_CONTENTS.search(said)
    )


@dataclass(slots=True)
class _Above:
    """Lines above a table, while its text is read."""

    lines: list[str] = field(default_factory=list)
    opening: str = ""
    in_table: bool = False

    def read(self, kind: UnitKind, said: str) -> None:
        """Take note of the next unit."""
        # "(Vigência)": a note of the editors ends nothing.
        if kind != "row" and not (kind == "piece" and _NOTE.fullmatch(said)):
            self.opening = said if kind != "piece" and _OPENING_END.search(said) else ""
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

    def caption(self) -> str:
        """Return the words above the next row, after the sentence that opens its table."""
        return " ".join(" ".join(filter(None, (self.opening, *self.lines))).split()[:_LONGEST_CAPTION])


def with_context(unit: Unit, text: str, units: Sequence[Unit], language: str, *, listing: bool = False) -> Span:
    """Return the unit with the context that it needs to be understood, if that is short.

    - A sentence that leans on the one before ("It must ...") comes with it, or with its heading.
    - Opening words come with all their items, and an item with its enumeration if this is short or asked for.
    - A piece comes with its neighbours, since the lines of a form or a bare list say little one by one.
    - A row of a table comes with its neighbours if a `listing` is asked for.
    """
    place = units.index(unit)
    if whole := _enumeration(unit, text, units, listing=listing):
        return whole
    if unit.kind == "piece" or (unit.kind == "row" and listing):
        return _with_neighbours(place, text, units)
    if unit.kind == "sentence" and unit.opening and unit.lead is not None:
        return unit.lead, unit.end
    if unit.kind == "sentence" and place and leans(text[unit.start : unit.end], language):
        before = units[place - 1]
        near = before.kind == "sentence" and "\n\n" not in text[before.end : unit.start]
        if near and _is_short(text[before.start : unit.end]):
            return before.start, unit.end
    return unit.start, unit.end


def leans(sentence: str, language: str) -> bool:
    """Return whether a sentence begins with a word for something named before it."""
    first = _FIRST_WORD.match(sentence)
    return first is not None and fold(first[1]) in _words("leaning").get(language, frozenset())


def _is_heading(place: int, text: str, units: Sequence[Unit]) -> bool:
    """Return whether a unit like an item is the numbered heading of a section.

    A heading is short and beside no other numbered item.
    """

    def is_numbered(one: Unit) -> bool:
        mark = mark_at(text, one.start) if one.kind == "item" else None
        return mark is not None and any(kind.startswith("number ") for kind in mark.kinds)

    unit = units[place]
    if unit.opening or not is_numbered(unit) or len(text[unit.start : unit.end].split()) > _LONGEST_HEADING:
        return False
    beside = (*units[max(place - 1, 0) : place], *units[place + 1 : place + 2])
    return not any(map(is_numbered, beside))


def lead_of(unit: Unit, units: Sequence[Unit]) -> Unit | None:
    """Return the unit that opens the enumeration of a unit, None outside of one."""
    return next((one for one in units if one.start == unit.lead), None) if unit.lead is not None else None


def opens_list(unit: Unit, units: Sequence[Unit]) -> bool:
    """Return whether a unit opens an enumeration of several items."""
    return len(_members(unit, units)) > 1


def read_alone(unit: Unit, units: Sequence[Unit], text: str) -> str:
    """Return a unit as a reader reads it by itself: with its opening words or its items, in one line."""
    fitting = (one.end for one in _members(unit, units) if one.end - unit.start <= _READ)
    said = one_line(text[unit.start : max(fitting, default=unit.end)], limit=None).strip()
    return f"{one_line(unit.opening)} {said}" if unit.opening else said


def _enumeration(unit: Unit, text: str, units: Sequence[Unit], *, listing: bool) -> Span | None:
    """Return the enumeration that a unit opens, or the largest that it is in and may come with."""
    if members := _members(unit, units):
        fitting = [one for one in members if one.end - unit.start <= _LONGEST_LIST]
        return unit.start, fitting[-1].end if fitting else unit.end
    found = None
    lead = lead_of(unit, units)
    while lead is not None:
        end = _members(lead, units)[-1].end
        if _is_short(text[lead.start : end]) or (listing and not found and end - lead.start <= _LONGEST_LIST):
            found = lead.start, end
        lead = lead_of(lead, units)
    return found


def _members(lead: Unit, units: Sequence[Unit]) -> list[Unit]:
    """Return the units of the enumeration that a unit opens, with those of enumerations in it."""
    inside = {lead.start}
    members = []
    for one in units:
        if one.lead in inside and one.start != lead.start:
            inside.add(one.start)
            members.append(one)
    return members


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


def _kind(said: str, language: str, *, listed: bool) -> UnitKind:
    if _ROW.fullmatch(said) and not _LINE_OF_CONTENTS.search(said):
        return "row"
    if not _reads(said) or _names_only(said, language):
        return "piece"
    # A shorter text is a heading or a fragment.
    ends = _SENTENCE_END.search(said) and (len(said.split()) >= _SHORTEST_SENTENCE or len(said) >= 40)
    return "sentence" if ends or _OPENING_END.search(said) else "item" if listed else "piece"


def _names_only(said: str, language: str) -> bool:
    """Return whether a text has no verb: names, and words that join them.

    >>> _names_only("By J. Smith and A. Brown of the Ministry of Health.", "en")
    True
    """
    joining = _words("joining").get(language, frozenset())
    words = [word for word in _WORD.findall(said) if fold(word) not in joining]
    return bool(words) and all(
        word[0].isupper() and (len(word) <= _ABBREVIATION or not word.isupper()) for word in words
    )


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
def _words(table: Literal["leaning", "joining"]) -> Mapping[str, frozenset[str]]:
    return {language: frozenset(map(fold, words.split())) for language, words in read_table("asked_for")[table].items()}
