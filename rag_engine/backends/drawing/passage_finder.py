"""Search for a passage of an extracted text in the layout of its file.

Its words may stand there in several places. Text and layout are compared by their letters and digits alone: the layout
breaks lines and words, and extraction adds signs.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from statistics import median_low

from rag_engine.text.folding import fold
from rag_engine.text.sentences import Span

# Characters of an anchor that tells which of several places is meant, how many anchors are searched, and how often one
# may be in the layout. A file may hold a text twice, of which only one copy is free of a page break.
_ANCHOR = 24
_ANCHORS = 7
_REPEATED = 4
_STEP = 8
# An anchor further from a place than this says nothing about it.
_FAR = 4_000
# Characters by which a passage is found again after the print between two pages, and the most characters of that print.
_SEED = 12
_GAP = 1_500
# Share of a passage that must be found in pieces where it is elsewhere as a whole.
_MOST_OF_IT = 0.8
# The names of a row's cells, and where cells end: tables are extracted as "name: value; name: value".
_NAME = re.compile(r"(?:(?<=; )|(?<=\n)|\A)[^;:\n]+: ")
_CELL_END = re.compile(r"\n| \| |; |: ")
_SHORTEST_CELL = 2
# Letters of a cell that is hardly a part of other words.
_TELLING_CELL = 4
# Places of a seed that are compared.
_TRIED = 20
# Cells of a passage by which its place is looked for.
_CELLS = 40


@dataclass(frozen=True, slots=True)
class SoughtPassage:
    """A passage of a text, with signs of its place in the layout.

    `part` of `parts` is its slide or sheet (1 of 1 for other files), `sheet` the name of a sheet. `before` and `after`
    are the text of the part around it, and `is_whole` says whether that is all of it. `share` is how far into the part
    it begins, from 0 to 1. Words that only lead to their page are not `marked`.
    """

    words: str
    before: str = ""
    after: str = ""
    share: float = 0.0
    part: int = 1
    parts: int = 1
    sheet: str = ""
    is_whole: bool = False
    marked: bool = True


@dataclass(frozen=True, slots=True)
class LayoutText:
    """Letters and digits of a layout, and the offsets at which its lines begin.

    The last offset is the end.
    """

    text: str
    lines: Sequence[int]

    def is_cell(self, start: int, end: int) -> bool:
        """Return whether characters are whole lines, like a cell's."""
        return all(self.lines[bisect_left(self.lines, edge) % len(self.lines)] == edge for edge in (start, end))


def compact(text: str) -> str:
    """Return the letters and digits of a text, folded character by character.

    >>> compact("Über 40 %")
    'uber40'
    """
    return text.translate(_compact)


def join_lines(lines: Sequence[str]) -> LayoutText:
    """Return the text of a layout's lines."""
    written = [compact(line) for line in lines]
    return LayoutText("".join(written), [0, *accumulate(map(len, written))])


def find_passage(sought: SoughtPassage, layout: LayoutText) -> list[Span]:
    """Return the characters of the layout that are the passage, in pieces if it is interrupted."""
    before, words, after = map(compact, (sought.before, sought.words, sought.after))
    if not words:
        return []
    text = layout.text
    places, expected = _places(text, words), sought.share * len(text)
    told = _told(before + words + after, len(before), text, expected)
    if not places:
        rows = _row_pieces(sought, layout) if sought.sheet else []
        return rows or _pieces(sought.words, layout, median_low(told) if told else None)
    counted = _places(before + words + after, words) if sought.is_whole else []
    start = _chosen(places, told, counted, len(before), expected)
    about = median_low(told or [start])
    if abs(about - expected) + _FAR < abs(start - expected):
        # Only another copy may be whole, if the right one crosses a page break.
        pieces = _pieces(sought.words, layout, about)
        if sum(end - begin for begin, end in pieces) >= _MOST_OF_IT * len(words):
            return pieces
    return [(start, start + len(words))]


def found_share(sought: SoughtPassage, found: Sequence[Span]) -> float:
    """Return how much of a passage its pieces are, from 0 to 1.

    For rows of a sheet, the names of columns do not count.
    """
    least = len(compact(_NAME.sub("", sought.words) if sought.sheet else sought.words))
    return min(sum(end - start for start, end in found) / max(least, 1), 1.0)


class _CompactCharacters(dict[int, str]):
    """The letters and digits that each character is, computed when it is first met."""

    def __missing__(self, code: int) -> str:
        plain = unicodedata.normalize("NFKD", fold(chr(code)))
        self[code] = "".join(sign for sign in plain if sign.isalnum())
        return self[code]


_compact = _CompactCharacters()


def _places(text: str, words: str, most: int = sys.maxsize) -> list[int]:
    """Return the places of the words, without overlaps."""
    found: list[int] = []
    place = text.find(words)
    while place >= 0 and len(found) < most:
        found.append(place)
        place = text.find(words, place + len(words))
    return found


def _told(around: str, at: int, text: str, expected: float) -> list[int]:
    """Return the places of a text's offset in the layout, told by characters around it that are rare."""
    told: list[int] = []
    for offset in _offsets(len(around), at):
        places = _places(text, around[offset : offset + _ANCHOR], _REPEATED + 1)
        if 0 < len(places) <= _REPEATED:
            told.append(_nearest([place + at - offset for place in places], expected))
            if len(told) == _ANCHORS:
                break
    return told


def _offsets(length: int, at: int) -> Iterator[int]:
    """Yield offsets before and after one at which anchors begin, the nearest first and then ever fewer."""
    distance = 0
    while distance < length:
        for offset in {at + distance, at - distance}:
            if 0 <= offset <= length - _ANCHOR:
                yield offset
        distance += max(_STEP, distance // 20)


def _chosen(places: Sequence[int], told: Sequence[int], counted: Sequence[int], at: int, share: float) -> int:
    """Return the place that most of the text around it tells.

    Else it is the place of the same number, else the nearest to the same share. `counted` are the places of the words
    in the extracted text; the passage begins there at `at`.
    """

    def distance(place: int) -> int:
        return sum(min(abs(place - one), _FAR) for one in told)

    best = min((_nearest(places, one) for one in told), key=distance, default=None)
    if best is not None and distance(best) < _FAR * len(told):
        return best
    if len(counted) == len(places):
        return places[bisect_right(counted, at) - 1]
    return _nearest(places, share)


def _nearest(places: Sequence[int], to: float) -> int:
    after = bisect_left(places, to)
    return min(places[max(after - 1, 0) : after + 1], key=lambda place: abs(place - to))


def _row_pieces(sought: SoughtPassage, layout: LayoutText) -> list[Span]:
    """Return the cells of rows, found by the first cell that text and layout have as many times.

    Else the rarest cell tells the place. A sheet is printed in strips of some columns, without the names of the
    columns at each, so that no more is alike.
    """
    before, words, after = (_NAME.sub("", text) for text in (sought.before, sought.words, sought.after))
    around, end = compact(before + words + after), len(compact(before))
    rarest: tuple[int, int] | None = None
    for cell in map(compact, _CELL_END.split(words, _CELLS)[:_CELLS]):
        end += len(cell)
        places = (
            [place for place in _places(layout.text, cell) if layout.is_cell(place, place + len(cell))] if cell else []
        )
        counted = _places(around, cell) if places and sought.is_whole else []
        if len(cell) >= _TELLING_CELL and len(counted) == len(places) > 0:
            return _pieces(words, layout, places[bisect_right(counted, end - len(cell)) - 1])
        if len(cell) >= _SHORTEST_CELL and places and (rarest is None or len(places) < rarest[0]):
            rarest = len(places), _nearest(places, sought.share * len(layout.text))
    return _pieces(words, layout, rarest[1]) if rarest else []


def _pieces(words: str, layout: LayoutText, start: int | None) -> list[Span]:
    """Return the pieces of a passage that begins near an offset.

    Some of it may be missing, and other text may stand between.
    """
    if start is None:
        return []
    letters = compact(words)
    ends = list(accumulate(len(compact(cell)) for cell in _CELL_END.split(words)))
    starts = list(accumulate((len(compact(word)) for word in words.split()), initial=0))
    found: list[Span] = []
    done = 0
    for offset in starts[:-1]:
        end = ends[min(bisect_right(ends, offset), len(ends) - 1)]
        after = found[-1][1] if found else None
        place, length = _resumed(letters[offset:], end - offset, layout, after, start) if offset >= done else (0, 0)
        if length:
            # Up to whole words: the first letter of the print in between may be the same.
            whole = starts[bisect_right(starts, offset + length) - 1]
            done = whole if whole > offset else offset + length
            found.append((place, place + done - offset))
    return found


def _resumed(letters: str, cell: int, layout: LayoutText, after: int | None, near: int) -> tuple[int, int]:
    """Return where a passage goes on after a place in the layout, and for how many letters.

    Without such a place it begins near `near`. `cell` are the letters to the end of a cell or a line: a short one is
    looked for as a whole.
    """
    seed = letters[: min(cell, _SEED)]
    if len(seed) < _SHORTEST_CELL:
        return 0, 0
    for low, high, least in _windows(after, near):
        places = [low + one for one in _places(layout.text[low:high], seed)]
        if cell < _SEED:
            places = [one for one in places if layout.is_cell(one, one + len(seed))]
        alike = [(_alike(letters, layout.text, one), one) for one in places[:_TRIED]]
        # In a table or a list the next place is meant; "the council must" is where the text goes on like the passage.
        longest = max(alike, default=(0, 0))[0]
        best = [one for length, one in alike if length == longest or cell < _SEED]
        if longest >= least and best:
            place = best[0] if after is not None else _nearest(best, near)
            return place, _alike(letters, layout.text, place)
    return 0, 0


def _windows(after: int | None, near: int) -> list[tuple[int, int, int]]:
    """Return where a passage may go on, and how many letters must be alike there."""
    if after is None:
        return [(max(near - _GAP, 0), near + _GAP, 1)]
    # The boxes of a slide are not in the order in which they are read.
    return [(after, after + _GAP, 1), (max(after - _GAP, 0), after, 2 * _SEED)]


def _alike(letters: str, text: str, place: int) -> int:
    """Return how many letters the text has from a place on."""
    there = text[place : place + len(letters)]
    pairs = enumerate(zip(letters, there, strict=False))
    return next((number for number, (one, other) in pairs if one != other), len(there))
