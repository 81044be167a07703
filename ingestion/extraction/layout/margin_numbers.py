"""Numbers in the margins of pages, which count lines or paragraphs; pure geometry."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from functools import cached_property
from itertools import groupby, pairwise
from operator import itemgetter
from statistics import median

from ingestion.extraction.layout.paragraphs import ends_sentence
from ingestion.extraction.layout.ruled_tables import holds
from ingestion.extraction.layout.text_rows import PrintedLine
from rag_engine.types.document import Box

# "12", "[12]", "12a", "Rn. 12", "§ 12", "¶12".
_ALONE = re.compile(r"(?:(?:Rd?n|Rd?Nr|Rdnr|Rz|Tz|Nr|No|N|para|n)\.?\s?|¶\s?)?[\[(]?(\d{1,5})[a-z]?[\])]?")
_LONGEST = 12
_FIRST = re.compile(r"(\d{1,5})\s+(?=\S)")
_LAST = re.compile(r"(?<=\S)\s+(\d{1,5})$")
# Share of a page's width from which a line is a line of prose.
_WIDE = 0.2
# Share of the lines of prose that may reach into the column of a margin, such as a heading.
_STRAY = 0.05
# Share of the lines of prose that begin in lower case, which go on with a sentence; no list has so many.
_GOING_ON = 0.25
# Share of the numbered rows that have a narrow cell: more are a table.
_CELLED = 0.3
_MOST = 0.6
_FEWEST = 3
# A paragraph of a judgment has the next number, but where one is on a page that is not read.
_FOLLOWING = 0.7
# Numbers in ruled distances, whether text is beside them or not.
_FEWEST_RULED = 8
_EVEN = 0.06
_STEPS = (2, 5, 10)
# No page has more lines; each is looked for among all rows.
_MOST_NUMBERS = 500
# How far a column may be from where it is on other pages, in points.
_NEAR = 6.0


class NumberPlace(Enum):
    """The place of a number: alone beside the text or between columns, or first or last in a line."""

    LEFT = "left"
    RIGHT = "right"
    BETWEEN = "between"
    FIRST = "first"
    LAST = "last"

    @property
    def alone(self) -> bool:
        """Whether the number is alone on its line."""
        return self not in (NumberPlace.FIRST, NumberPlace.LAST)


@dataclass(frozen=True, slots=True)
class MarginNumber:
    """A number at the edge of the text: `line` counts the page's printed lines, `row` its heights.

    `beside` if a line of prose is at its height.
    """

    line: int
    value: int
    box: Box
    row: int
    beside: bool


@dataclass(frozen=True, slots=True)
class NumberColumn:
    """The numbers at one edge of the text of a page, from top to bottom.

    `counted` of them count its lines. It is `prose` if sentences go on from line to line beside it, and `whole` if
    nearly all of the page's lines have such a number.
    """

    place: NumberPlace
    numbers: tuple[MarginNumber, ...]
    counted: int
    prose: bool
    whole: bool


@dataclass(frozen=True, slots=True)
class Numbered:
    """Places of printed lines of a page.

    `dropped` are numbers of lines, `paragraphs` those of paragraphs; lines that are `first` or `last` have one in them.
    """

    dropped: frozenset[int] = frozenset()
    first: frozenset[int] = frozenset()
    last: frozenset[int] = frozenset()
    paragraphs: frozenset[int] = frozenset()


NOT_NUMBERED = Numbered()


def number_columns(lines: Sequence[PrintedLine], width: float, tables: Sequence[Box]) -> tuple[NumberColumn, ...]:
    """Return the columns of numbers at the edges of the text of a page, outside its ruled tables."""
    alone = [at for at, line in enumerate(lines) if len(line.text) <= _LONGEST and _ALONE.fullmatch(line.text)]
    first = [at for at, line in enumerate(lines) if line.text[0].isdecimal() and _FIRST.match(line.text)]
    last = [at for at, line in enumerate(lines) if line.text[-1].isdecimal() and _LAST.search(line.text)]
    if not alone and len(first) < _FEWEST and len(last) < _FEWEST:
        return ()
    out = {at for at, line in enumerate(lines) if line.turned or any(holds(table, line.box) for table in tables)}
    alone, first, last = ([at for at in ats if at not in out] for ats in (alone, first, last))
    page = _Page(lines, width, set(alone))
    found = page.columns(alone)
    found += [
        (place, ats) for place, ats in ((NumberPlace.FIRST, first), (NumberPlace.LAST, last)) if len(ats) >= _FEWEST
    ]
    return tuple(page.column(place, ats) for place, ats in found if len(ats) <= _MOST_NUMBERS)


def without_number(line: PrintedLine, at: int, numbered: Numbered) -> PrintedLine:
    """Return a printed line without the number of the line in its text."""
    text = line.text
    if at in numbered.first:
        text = _FIRST.sub("", text, count=1)
    if at in numbered.last:
        text = _LAST.sub("", text)
    if text == line.text:
        return line
    box = line.box
    each = (box.x1 - box.x0) / len(line.text)
    # The words of the text are about where they were.
    x0 = box.x0 + each * (line.text.index(text)) if at in numbered.first else box.x0
    x1 = box.x1 if at not in numbered.last else box.x1 - each * (len(line.text) - len(line.text.rstrip("0123456789")))
    return replace(line, text=text, box=replace(box, x0=round(x0, 2), x1=round(x1, 2)))


class _Page:
    """The printed lines of a page by their heights, and the extents of those that are prose."""

    def __init__(self, lines: Sequence[PrintedLine], width: float, alone: set[int]) -> None:
        self._lines = lines
        self._wide = _WIDE * width
        self._others = others = [line for at, line in enumerate(lines) if at not in alone and not line.turned]
        prose = [line.box for line in others if self._is_prose(line.box)]
        if len(prose) < _FEWEST:
            # A title page, or the last lines of a document.
            prose = [line.box for line in others]
        self._starts = sorted(box.x0 for box in prose)
        self._ends = sorted(box.x1 for box in prose)

    @cached_property
    def _laid(self) -> tuple[list[list[PrintedLine]], list[float]]:
        """The lines by their heights, and these; few pages have columns of numbers, which alone need them."""
        rows: list[list[PrintedLine]] = []
        heights: list[float] = []
        for line in sorted(self._others, key=lambda line: line.box.y0 + line.box.y1):
            middle = (line.box.y0 + line.box.y1) / 2
            if heights and middle - heights[-1] < 0.5 * line.size:
                rows[-1].append(line)
            else:
                rows.append([line])
                heights.append(middle)
        return rows, heights

    def _is_prose(self, box: Box) -> bool:
        return box.x1 - box.x0 >= self._wide

    def columns(self, alone: Sequence[int]) -> list[tuple[NumberPlace, list[int]]]:
        """Return the columns of numbers that no prose reaches into."""
        most = _STRAY * len(self._starts)
        sides: defaultdict[NumberPlace, list[int]] = defaultdict(list)
        for at in alone:
            box = self._lines[at].box
            left = bisect_right(self._ends, box.x0)
            right = len(self._starts) - bisect_left(self._starts, box.x1)
            if len(self._starts) - left - right <= most:
                sides[
                    NumberPlace.LEFT if left <= most else NumberPlace.RIGHT if right <= most else NumberPlace.BETWEEN
                ].append(at)
        return [(side, column) for side, ats in sides.items() for column in self._aligned(ats)]

    def _aligned(self, ats: Sequence[int]) -> list[list[int]]:
        """Return the lines in columns: one below the other."""
        columns: list[list[int]] = []
        reached = float("-inf")
        for at in sorted(ats, key=lambda at: self._lines[at].box.x0):
            box = self._lines[at].box
            if columns and box.x0 < reached:
                columns[-1].append(at)
            else:
                columns.append([at])
            reached = max(reached, box.x1)
        return columns

    def column(self, place: NumberPlace, ats: Iterable[int]) -> NumberColumn:
        """Return the numbers of these lines as a column, and whether they count the lines."""
        numbers = sorted((self._number(place, at) for at in ats), key=lambda number: number.box.y0 + number.box.y1)
        top, bottom = numbers[0].row, numbers[-1].row
        groups = Counter(number.value - number.row for number in numbers)
        counted = sum(many for many in groups.values() if many >= _FEWEST or many == len(numbers) > 1)
        if place.alone and _is_ruled(numbers):
            counted = len(numbers)
        beside = self._laid[0][top : bottom + 1]
        prose = self._goes_on(beside) and not (place.alone and self._is_celled(numbers))
        return NumberColumn(place, tuple(numbers), counted, prose, counted > 0.8 * len(self._laid[0]))

    def _number(self, place: NumberPlace, at: int) -> MarginNumber:
        line = self._lines[at]
        pattern = {NumberPlace.FIRST: _FIRST.match, NumberPlace.LAST: _LAST.search}.get(place, _ALONE.fullmatch)
        found = pattern(line.text)
        rows, heights = self._laid
        middle = (line.box.y0 + line.box.y1) / 2
        row = min(bisect_left(heights, middle - 0.4 * line.size), max(0, len(rows) - 1))
        near = bool(rows) and abs(heights[row] - middle) < line.size
        beside = near and any(self._is_prose(one.box) for one in rows[row])
        return MarginNumber(at, int(found[1]) if found else 0, line.box, row, beside)

    def _goes_on(self, rows: Sequence[Sequence[PrintedLine]]) -> bool:
        """Return whether sentences go on from row to row."""
        texts = [_unnumbered(min(row, key=lambda line: line.box.x0).text) for row in rows]
        going_on = sum(not ends_sentence(above) and text[:1].islower() for above, text in pairwise(texts))
        wide = sum(any(self._is_prose(line.box) for line in row) for row in rows)
        return going_on >= _GOING_ON * (len(texts) - 1) and 2 * wide > len(rows)

    def _is_celled(self, numbers: Sequence[MarginNumber]) -> bool:
        """Return whether the rows beside the numbers have narrow cells, far from the text."""
        rows = [self._laid[0][number.row] for number in numbers if number.beside]
        return sum(map(self._has_cell, rows)) > _CELLED * len(rows)

    def _has_cell(self, row: Sequence[PrintedLine]) -> bool:
        lines = sorted(row, key=lambda line: line.box.x0)
        return any(
            right.box.x0 - left.box.x1 > 1.2 * right.size
            and not (self._is_prose(left.box) and self._is_prose(right.box))
            for left, right in pairwise(lines)
        )


def _unnumbered(text: str) -> str:
    found = _FIRST.match(text)
    return text[found.end() :] if found else text


def _is_ruled(numbers: Sequence[MarginNumber]) -> bool:
    """Return whether numbers follow each other in even distances, as on pleading paper."""
    if len(numbers) < _FEWEST_RULED or any(below.value - above.value != 1 for above, below in pairwise(numbers)):
        return False
    distances = [below.box.y1 - above.box.y1 for above, below in pairwise(numbers)]
    usual = median(distances)
    return all(abs(distance - usual) <= _EVEN * usual for distance in distances)


def numbered_pages(columns: Mapping[int, Sequence[NumberColumn]]) -> dict[int, Numbered]:
    """Return what the numbers of pages are, given the columns of each.

    The numbers of lines are known from pages with many, and then found on those with few.
    """
    if not columns:
        return {}
    edges = {place: _line_edges(place, columns.values()) for place in NumberPlace}
    of_lines = {page: [one for one in found if _counts_lines(one, edges[one.place])] for page, found in columns.items()}
    chain = [
        (page, number)
        for page, found in columns.items()
        for column in found
        if column.place.alone and column.prose and column not in of_lines[page]
        for number in column.numbers
        if number.beside
    ]
    paragraphs = _paragraphs(chain)
    settled = {}
    for page, found in of_lines.items():
        lines: defaultdict[NumberPlace, set[int]] = defaultdict(set)
        for column in found:
            lines[column.place] |= {number.line for number in _members(column)}
        settled[page] = Numbered(
            frozenset(at for place, ats in lines.items() if place.alone for at in ats),
            frozenset(lines[NumberPlace.FIRST]),
            frozenset(lines[NumberPlace.LAST]),
            paragraphs.get(page, frozenset()),
        )
    return {page: numbers for page, numbers in settled.items() if numbers != NOT_NUMBERED}


def _line_edges(place: NumberPlace, pages: Iterable[Sequence[NumberColumn]]) -> frozenset[int]:
    """Return where the columns are that count the lines of many pages, in steps of some points."""
    of_place = [column for found in pages for column in found if column.place is place and column.prose]
    if place.alone:
        starts = Counter(number.value - number.row for column in of_place for number in column.numbers)
        counting = [
            column
            for column in of_place
            if column.counted >= _MOST * len(column.numbers)
            or all(_is_tenth(number, starts) for number in column.numbers)
        ]
    else:
        counting = [column for column in of_place if column.counted >= _FEWEST and _is_even(column)]
    return frozenset(edge for column in counting for number in column.numbers for edge in _edges(number.box))


def _is_tenth(number: MarginNumber, starts: Mapping[int, int]) -> bool:
    """Return whether a number counts lines as those of other pages do, on pages with hardly more than one."""
    return number.value % 5 == 0 and starts[number.value - number.row] >= _FEWEST


def _edges(box: Box) -> tuple[int, ...]:
    """Return the left and the right edge, each with its neighbours; the other is negative."""
    left, right = round(box.x0 / _NEAR), -round(box.x1 / _NEAR)
    return left - 1, left, left + 1, right - 1, right, right + 1


def _counts_lines(column: NumberColumn, edges: frozenset[int]) -> bool:
    """Return whether a column is where the numbers of lines are."""
    if not edges:
        return False
    if not column.place.alone:
        return column.whole or _is_even(column)
    return any(edges & {round(number.box.x0 / _NEAR), -round(number.box.x1 / _NEAR)} for number in column.numbers)


def _is_even(column: NumberColumn) -> bool:
    """Return whether nearly all lines have a number, or every second, fifth or tenth."""
    members = _members(column)
    steps = Counter(below.value - above.value for above, below in pairwise(members))
    step, many = steps.most_common(1)[0] if steps else (0, 0)
    return (step == 1 and column.whole) or (step in _STEPS and many >= _FOLLOWING * (len(members) - 1))


def _members(column: NumberColumn) -> list[MarginNumber]:
    """Return the numbers of a column that count lines: all of a margin's, and those of lines that agree."""
    if column.place.alone:
        return list(column.numbers)
    groups = Counter(number.value - number.row for number in column.numbers)
    least = min(_FEWEST, max(groups.values()))
    return [number for number in column.numbers if groups[number.value - number.row] >= least]


def _paragraphs(chain: Sequence[tuple[int, MarginNumber]]) -> dict[int, frozenset[int]]:
    """Return, by page, the lines with numbers that count paragraphs from page to page."""
    if len(chain) < _FEWEST:
        return {}
    following = sum(below.value - above.value == 1 for (_, above), (_, below) in pairwise(chain))
    if following < _FOLLOWING * (len(chain) - 1):
        return {}
    return {
        page: frozenset(number.line for _, number in numbers) for page, numbers in groupby(chain, key=itemgetter(0))
    }
