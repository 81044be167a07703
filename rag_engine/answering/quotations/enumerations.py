"""Enumerations of a text: which line opens one, and which lines are its items."""

from __future__ import annotations

import re
from dataclasses import dataclass

from rag_engine.text.bullets import BULLETS, DASHES

# The beginning of an item, by its kind: a bullet, a number or letters in brackets, a number with a full stop.
_MARK = re.compile(
    rf"(?P<bullet>[{BULLETS}{DASHES}])\s|\(?(?P<bracket>\d{{1,3}}|[^\W\d_]{{1,2}}|[ivxIVX]{{1,5}})\)\s"
    r"|(?P<number>\d{1,3}|[^\W\d_]|[ivxIVX]{1,5})\.\s|(?P<roman>[IVXLC]{1,6})\s[-–]\s"
)
# "(16) | The Union ...": a paragraph whose number has a separate cell.
NUMBER_CELL = re.compile(r"(\(?(?:\d{1,3}|[^\W\d_]{1,2}|[ivxIVX]{1,5})[.)]?)\s\|\s")
_FIRST = frozenset(("0", "1", "a", "aa", "i"))
_ROMAN = re.compile(r"[ivxlc]+")


@dataclass(frozen=True, slots=True)
class ItemMark:
    """The mark of a line: the kinds that its number may be of, whether it may be the first, and must be."""

    kinds: frozenset[str]
    may_open: bool
    opens: bool


@dataclass(slots=True)
class OpenList:
    """An enumeration while it goes on: offset and words of its opening, and the kinds of its marks.

    Before the first item there are no kinds.
    """

    lead: int
    opening: str
    kinds: frozenset[str] = frozenset()


def mark_at(text: str, start: int) -> ItemMark | None:
    """Return the mark with which a line begins at `start`."""
    if text[text.rfind("\n", 0, start) + 1 : start].strip():
        return None
    if cell := NUMBER_CELL.match(text, start):
        return _counting("cell", cell[1].strip("().").lower())
    found = _MARK.match(text, start)
    if not found or found.lastgroup is None:
        return None
    group, label = found.lastgroup, found[found.lastgroup]
    return ItemMark(frozenset((label,)), True, False) if group == "bullet" else _counting(group, label.lower())


def _counting(group: str, label: str) -> ItemMark:
    kinds = {f"{group} digits"} if label.isdecimal() else set()
    # "(i)" is the ninth letter or the first Roman number.
    kinds |= {f"{group} letters"} if label.isalpha() and len(set(label)) == 1 else set()
    kinds |= {f"{group} roman"} if _ROMAN.fullmatch(label) else set()
    return ItemMark(frozenset(kinds), label in _FIRST, label in _FIRST - {"i"})


class OpenLists:
    """The enumerations that go on, the innermost last."""

    def __init__(self) -> None:
        self._open: list[OpenList] = []

    def begin(self, lead: int, opening: str) -> None:
        """Have words at offset `lead` open an enumeration."""
        self._open.append(OpenList(lead, opening))

    def close(self) -> None:
        """End all enumerations."""
        self._open.clear()

    def listed(self, mark: ItemMark) -> OpenList | None:
        """Return the enumeration that a marked line is an item of; those that it ends are closed."""
        while self._open:
            last = self._open[-1]
            common = last.kinds & mark.kinds if last.kinds else mark.kinds
            # A part of a list may begin with any of its items, unless they go on with those of a list around it.
            begins = mark.may_open or not any(one.kinds & mark.kinds for one in self._open)
            if common and (not mark.opens if last.kinds else begins):
                last.kinds = common
                return last
            self._open.pop()
        return None
