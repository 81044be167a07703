"""Rows made of the printed lines side by side on a page, with cells kept apart; pure geometry."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby, pairwise
from statistics import median

from ingestion.extraction.assemble import one_line
from ingestion.extraction.layout.quarter_turns import turned_back
from ingestion.extraction.layout.struck import StruckSpan
from ingestion.extraction.table_grid import GridCell, TableGrid, around
from ingestion.file_reading import OcrLine
from rag_engine.types.document import Box

LABEL = re.compile(r"(?:[•▪●○■□◦‣–—*-]|\(?(?:\d{1,3}(?:\.\d{1,3})*|[A-Za-z]|[ivxIVX]{1,5})[.)]|\d+(?:\.\d+)+)(?:\s|$)")
# A cell of a table says less than this on one of its lines; what says more is a column of prose.
_LONGEST_CELL_LINE = 45
_MOST_LINES_OF_A_CELL = 4
# One letter, with the quotation mark that may open the paragraph.
_CAPITAL = re.compile(r"[\"'“”„«‘]?\s?([A-ZÀ-ÖØ-ÞŒŠŽİĞŞĄĆĘŁŃŚŹŻ])$")
_LONGEST = 3
_WORD = re.compile(r"[^\W\d_]+")
# Letters that are words.
_WORDS = "AEIOYÀÈÉÓ"
# How much larger than the text beside it the letter is, and how far from it, in sizes of the text.
_LARGER, _NEAR = 1.7, 1.5


@dataclass(frozen=True, slots=True)
class PrintedLine:
    """A run of text on one baseline; `size` in points, `block` numbers the library's own grouping.

    `turned` counts the clockwise quarter turns of the page that make it level.
    """

    text: str
    box: Box
    size: float
    bold: bool
    block: int
    turned: int = 0


@dataclass(frozen=True, slots=True)
class TextRow:
    """Everything at one height in one block.

    `cells` > 1 when wide gaps part it, and then `places` are they.

    `table` is a table with known rules, which makes up the whole row. The boxes of a row that is `turned` are those of
    the page turned so that it is level. In the margin beside it are the `number` of its paragraph, and rows of notes.
    """

    text: str
    box: Box
    size: float
    bold: bool
    block: int
    cells: int
    places: tuple[GridCell, ...] = ()
    table: TableGrid | None = None
    turned: int = 0
    number: str = ""
    notes: tuple[TextRow, ...] = ()


@dataclass(frozen=True, slots=True)
class PageRows:
    """The rows of one page in reading order.

    `recognised` when they come from OCR, whose sizes are guesses.

    `unseen` counts characters of the text layer that are controls, which no row holds; neither does any hold what is
    `struck`, nor the words `stamped` across the page.
    """

    number: int
    width: float
    height: float
    rows: tuple[TextRow, ...]
    recognised: bool = False
    unseen: int = 0
    struck: tuple[StruckSpan, ...] = ()
    stamped: frozenset[str] = frozenset()

    def box_of(self, row: TextRow) -> Box:
        """Return where a row is on the page as it is drawn."""
        return turned_back(row.box, row.turned, self.width, self.height) if row.turned else row.box


def rows_of(lines: Sequence[PrintedLine]) -> tuple[TextRow, ...]:
    """Return printed lines of one block that stand side by side become one row, from left to right.

    So do the lines of a cell over several lines, if the cell beside it shows that they are one row.
    """
    rows: list[list[PrintedLine]] = []
    before: list[PrintedLine] = []
    # Where the rows begin that the block before is in.
    first = 0
    for _, grouped in groupby(lines, key=lambda line: line.block):
        block = list(grouped)
        if before and _are_two_cells(before, block):
            # Of different height: one of them is a wrapped cell, and both are one row of a table.
            rows[first:] = [[*(line for row in rows[first:] for line in row), *block]]
        else:
            first = len(rows)
            _add(block, rows)
        before = block
    return tuple(map(_row, rows))


def is_upright(box: Box) -> bool:
    """Return True for a line that runs from bottom to top or top to bottom of the page."""
    return box.y1 - box.y0 > 3 * (box.x1 - box.x0)


def _are_two_cells(left: list[PrintedLine], right: list[PrintedLine]) -> bool:
    if len(left) == len(right) != 1 or max(len(left), len(right)) > _MOST_LINES_OF_A_CELL:
        return False
    first, second = left[0], right[0]
    if second.box.x0 < first.box.x1 + 1.2 * first.size or abs(first.size - second.size) > 0.1 * first.size:
        return False
    if any(len(line.text) > _LONGEST_CELL_LINE for line in (*left, *right)) or is_upright(first.box):
        return False
    if min(line.box.x0 for line in right) < max(line.box.x1 for line in left) + first.size:
        return False
    top = max(left[0].box.y0, right[0].box.y0)
    bottom = min(left[-1].box.y1, right[-1].box.y1)
    lower = min(left[-1].box.y1 - left[0].box.y0, right[-1].box.y1 - right[0].box.y0)
    return bottom - top > 0.8 * lower


def _add(block: list[PrintedLine], rows: list[list[PrintedLine]]) -> None:
    """Put the lines of a block into new rows."""
    first = len(rows)
    for line in block:
        reached = len(rows)
        while reached > first and _beside(line, rows[reached - 1], several=reached < len(rows)):
            reached -= 1
        if reached == len(rows):
            rows.append([line])
        else:
            rows[reached:] = [[*(one for row in rows[reached:] for one in row), line]]


def _beside(line: PrintedLine, row: list[PrintedLine], *, several: bool) -> bool:
    """Return whether a line belongs to a row: next to its last line, or as a cell among its lines."""
    last = row[-1]
    if line.box.y0 >= last.box.y1 and len(row) == 1:
        return False
    if is_upright(line.box) or is_upright(last.box):
        return False
    if not several and _overlap(line.box, last.box) > 0.5 and _apart(line.box, last.box):
        return True
    if any(len(one.text) > _LONGEST_CELL_LINE for one in (*row, line)):
        return False
    if all(line.box.x0 >= one.box.x1 - 1 for one in row):
        return any(_overlap(line.box, one.box) > 0.3 for one in row)
    # The second line of a cell beside a cell of one line.
    under = line.box.y0 > last.box.y1 - 0.5 * (last.box.y1 - last.box.y0) and not _apart(line.box, last.box)
    return (
        not several and len(row) > 1 and under and _apart(line.box, row[0].box) and _overlap(line.box, row[0].box) > 0.3
    )


def _overlap(a: Box, b: Box) -> float:
    """Return how much of the lower of two boxes is at the height of the other."""
    return (min(a.y1, b.y1) - max(a.y0, b.y0)) / max(1e-6, min(a.y1 - a.y0, b.y1 - b.y0))


def _apart(a: Box, b: Box) -> bool:
    return a.x0 >= b.x1 - 1 or a.x1 <= b.x0 + 1


def _row(group: list[PrintedLine]) -> TextRow:
    if len(group) == 1:
        only = group[0]
        return TextRow(only.text, only.box, only.size, only.bold, only.block, 1, turned=only.turned)
    columns = _columns(group)
    widest = max(group, key=lambda line: len(line.text))
    text = _cell_text(columns[0])
    cells = 1
    parts = [[text]]
    lines = [list(columns[0])]
    for left, right in pairwise(columns):
        # Justified prose spreads words by less than an em; columns of a table stand further apart.
        gap = right[0].box.x0 - max(line.box.x1 for line in left)
        apart = gap > 1.2 * widest.size and not (cells == 1 and LABEL.fullmatch(text))
        cells += apart
        shown = _cell_text(right)
        text += (" | " if apart else " ") + shown
        if apart:
            parts.append([shown])
            lines.append(list(right))
        else:
            parts[-1].append(shown)
            lines[-1] += right
    box = around(line.box for line in group)
    places = tuple(
        GridCell(" ".join(words), box=around(line.box for line in inside), bold=all(line.bold for line in inside))
        for words, inside in zip(parts, lines, strict=True)
    )
    bold = all(line.bold for line in group)
    return TextRow(text, box, widest.size, bold, widest.block, cells, places, turned=widest.turned)


def _columns(group: list[PrintedLine]) -> list[list[PrintedLine]]:
    """Return the lines of a row by columns from left to right.

    Lines that stand one below the other share one.
    """
    columns: list[list[PrintedLine]] = []
    for line in sorted(group, key=lambda line: line.box.x0):
        if columns and any(not _apart(line.box, column.box) for column in columns[-1]):
            columns[-1].append(line)
        else:
            columns.append([line])
    return columns


def _cell_text(lines: list[PrintedLine]) -> str:
    if len(lines) == 1:
        return lines[0].text
    text = ""
    for line in sorted(lines, key=lambda line: line.box.y0):
        if text[-1:] == "-" and text[-2:-1].islower() and line.text[0].islower():
            text = text[:-1] + line.text
        else:
            text += f" {line.text}" if text else line.text
    return text


def with_drop_capitals(lines: Sequence[PrintedLine]) -> list[PrintedLine]:
    """Return the lines of a page, each drop capital put before the first line beside it."""
    capitals = [line for line in lines if len(line.text) <= _LONGEST and _CAPITAL.match(line.text)]
    if not capitals:
        return list(lines)
    joined: dict[int, PrintedLine] = {}
    for capital in capitals:
        beside = [place for place, line in enumerate(lines) if _is_beside(line, capital)]
        if beside:
            first = min(beside, key=lambda place: lines[place].box.y0)
            joined[first] = capital
    left = {id(capital) for capital in joined.values()}
    words = Counter(word.casefold() for line in lines for word in _WORD.findall(line.text)) if joined else Counter()
    return [
        replace(line, text=_begun(joined[place].text, line.text, words)) if place in joined else line
        for place, line in enumerate(lines)
        if id(line) not in left
    ]


def is_raised(letter: str, size: float, beside: float) -> bool:
    """Return whether a letter is the large first one of its line's first word, which a gap parts."""
    return size >= _LARGER * beside and _CAPITAL.match(letter.strip()) is not None and letter.strip()[-1] not in _WORDS


def _is_beside(line: PrintedLine, capital: PrintedLine) -> bool:
    middle = (line.box.y0 + line.box.y1) / 2
    return (
        line is not capital
        and capital.size >= _LARGER * line.size
        and capital.box.y0 < middle < capital.box.y1
        and -0.5 * line.size < line.box.x0 - capital.box.x1 < _NEAR * line.size
        and len(line.text) > 1
    )


def _begun(capital: str, text: str, words: Counter[str]) -> str:
    """Return a line with its first letter; a space parts the two where the letter is a word ("A river")."""
    found = _WORD.match(text)
    # Elsewhere on the page the rest is a word of its own, and the two together are none.
    apart = found is None or (
        capital[-1] in _WORDS and words[found[0]] > 1 and f"{capital[-1]}{found[0]}".casefold() not in words
    )
    return f"{capital} {text}" if apart else f"{capital}{text}"


def recognised_lines(lines: Sequence[OcrLine], scale: float) -> list[PrintedLine]:
    """Return lines in points. All get the page's median size, since a box's height depends on its letters."""
    if not lines:
        return []
    # A line's box spans ascenders and descenders: about 4/3 of the type size.
    size = 0.75 * scale * median(min(line.box.y1 - line.box.y0, line.box.x1 - line.box.x0) for line in lines)
    return [
        PrintedLine(
            one_line(line.text),
            Box(*(round(edge * scale, 2) for edge in (line.box.x0, line.box.y0, line.box.x1, line.box.y1))),
            size,
            False,
            line.block,
        )
        for line in lines
        if one_line(line.text)
    ]
