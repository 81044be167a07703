"""Tables in the frames of a page: cells between ruled lines, or between the gaps of aligned words.

Pure geometry.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, islice, pairwise
from statistics import median

from ingestion.extraction.layout.ruling_lines import SNAP, Frame, RuledLine
from ingestion.extraction.layout.text_rows import PrintedLine, TextRow, rows_of
from ingestion.extraction.table_grid import GridCell, TableGrid, is_figure, table_of, without_leader
from rag_engine.types.document import Box

# A frame around a page, or around columns of prose, has longer cells than any table.
_LONGEST_CELL = 1_500
_LONGEST_LINE = 45
_LEAST_FILLED = 0.3
_FEWEST_ROWS = 2
# Gaps between words are about a quarter of the type size; between columns they are wider, and in nearly all rows.
_WORD_GAP = 0.6
_COLUMN_GAP = 0.8
_ROWS_ACROSS_GAP = 0.15
_MOSTLY = 0.6


@dataclass(frozen=True, slots=True)
class PlacedWord:
    """A word with its box and the middle of that."""

    text: str
    box: Box
    x: float
    y: float
    bold: bool = False


def placed_word(text: str, box: Box) -> PlacedWord:
    """Return a word at a place, and the middle of that."""
    return PlacedWord(text, box, (box.x0 + box.x1) / 2, (box.y0 + box.y1) / 2)


def may_hold_table(frame: Frame, lines: Iterable[PrintedLine]) -> bool:
    """Return whether enough lines are in a frame to be the rows of a table."""
    box = frame.box
    inside = (line for line in lines if holds(box, line.box))
    return len(list(islice(inside, _FEWEST_ROWS))) == _FEWEST_ROWS


_TextLine = list[PlacedWord]
# Row and column, from 0.
_Place = tuple[int, int]


def rows_with_tables(
    lines: Sequence[PrintedLine], frames: Sequence[Frame], words: Sequence[PlacedWord], bold: Sequence[Box], page: int
) -> tuple[TextRow, ...]:
    """Return the rows of a page; all lines in a table are one, where the first of them would be."""
    rows: list[TextRow] = []
    left = list(lines)
    tables: dict[int, tuple[TableGrid, Box, list[PrintedLine]]] = {}
    owner: dict[int, int] = {}
    for number, frame in enumerate(piece for whole in frames for piece in _pieces(whole, words)):
        box = frame.box
        inside = [line for line in left if holds(box, line.box)]
        taken = [other for _, other, _ in tables.values()]
        if len(inside) < _FEWEST_ROWS or any(holds(box, other) for other in taken):
            continue
        within = [one for one in bold if holds(box, one)]
        held = [word for word in words if _holds(box, word) and not (taken and _is_in(word.box, taken))]
        if within:
            held = _with_bold(held, within)
        table = table_in(frame, held, page)
        if table is not None:
            tables[number] = table, box, inside
            owner.update((id(line), number) for line in inside)
            left = [line for line in left if id(line) not in owner]
    if not tables:
        return rows_of(lines)
    pending: list[PrintedLine] = []
    for line in lines:
        number = owner.get(id(line), -1)
        if number < 0:
            pending.append(line)
        elif number in tables:
            rows += rows_of(pending)
            pending = []
            table, box, inside = tables.pop(number)
            text = " ".join(cell.text for row in table.grid for cell in row if cell.text)
            size = median(line.size for line in inside)
            rows.append(TextRow(text, box, size, False, -1 - number, len(table.grid[0]), (), table, lines[0].turned))
    return (*rows, *rows_of(pending))


def _with_bold(words: Sequence[PlacedWord], bold: Sequence[Box]) -> list[PlacedWord]:
    """Return the words, marked as bold where they are in one of these boxes."""
    heights: defaultdict[int, list[Box]] = defaultdict(list)
    for box in bold:
        for height in range(int(box.y0), int(box.y1) + 1):
            heights[height].append(box)
    return [replace(word, bold=True) if _is_in(word.box, heights.get(int(word.y), ())) else word for word in words]


def _pieces(frame: Frame, words: Sequence[PlacedWord]) -> list[Frame]:
    """Return the frame, or the parts of one without vertical lines that are set in columns.

    Lines of one width are drawn below the heads of pages and above their notes, too.
    """
    if frame.down:
        return [frame]
    box = frame.box
    words = sorted((word for word in words if _holds(box, word)), key=lambda word: word.y)
    heights = [word.y for word in words]
    rules = sorted(frame.across, key=lambda rule: rule.at)
    pieces: list[list[RuledLine]] = [[]]
    for above, below in pairwise(rules):
        band = Box(above.start, above.at, above.end, below.at)
        held = words[bisect_left(heights, band.y0 - 1) : bisect_right(heights, band.y1 + 1)]
        lines = _lines(word for word in held if _holds(band, word))
        names = above is rules[0] and bool(frame.spanners)
        if names or sum(len(_runs(line, 1.2 * _size(line))) > 1 for line in lines) > 0.5 * len(lines) or not lines:
            pieces[-1] = pieces[-1] or [above]
            pieces[-1].append(below)
        else:
            pieces.append([])
    return [
        Frame(tuple(piece), (), frame.spanners if piece[0] is rules[0] else ()) for piece in pieces if len(piece) > 1
    ]


def holds(box: Box, inner: Box) -> bool:
    """Return whether the middle of a box is in another."""
    x, y = (inner.x0 + inner.x1) / 2, (inner.y0 + inner.y1) / 2
    return box.x0 <= x <= box.x1 and box.y0 <= y <= box.y1


def _is_in(inner: Box, boxes: Iterable[Box]) -> bool:
    return any(holds(box, inner) for box in boxes)


def table_in(frame: Frame, words: Iterable[PlacedWord], page: int) -> TableGrid | None:
    """Return the table in a frame; None if its content is not set in rows and columns."""
    box = frame.box
    inside = [word for word in words if _holds(box, word)]
    if len(inside) < 4:
        return None
    lines = _lines(inside)
    ruled = _ruled_columns(frame)
    columns = _filled(ruled, inside, frame) or _gaps(lines, box)
    if len(columns) < 3 or (not ruled and _is_prose(lines, columns)):
        return None
    levels = _apart([*(rule.at for rule in frame.across), box.y0, box.y1])
    grid = _Grid(frame, inside, columns, levels, bool(ruled))
    header = [] if ruled or len(levels) < 3 else grid.header(page)
    rows = [row for band in range(bool(header), len(levels) - 1) for row in grid.rows(band, page)]
    table = table_of([*header, *rows], len(header) or None, aligned=not ruled)
    return table if _is_table(table) else None


def _ruled_columns(frame: Frame) -> list[float]:
    """Return where columns begin and end if lines part them over most of the frame; else nothing."""
    box = frame.box
    height = box.y1 - box.y0
    columns = _apart([box.x0, box.x1, *(rule.at for rule in frame.down)])
    inner = [
        at
        for at in columns[1:-1]
        if sum(rule.end - rule.start for rule in frame.down if abs(rule.at - at) <= SNAP) >= 0.5 * height
    ]
    if not inner:
        return []
    # A line in the header alone is as good where the body has lines of its own.
    return columns


def _filled(columns: list[float], words: Sequence[PlacedWord], frame: Frame) -> list[float]:
    """Return the edges of columns without empty columns, such as that of a double border."""
    kept = list(columns)
    for start, end in pairwise(columns):
        if not any(start <= word.x < end for word in words):
            drawn = [
                sum(rule.end - rule.start for rule in frame.down if abs(rule.at - at) <= SNAP) for at in (start, end)
            ]
            weaker = start if drawn[0] <= drawn[1] else end
            outer = start == kept[0] or end == kept[-1]
            weaker = (end if start == kept[0] else start) if outer else weaker
            if weaker in kept:
                kept.remove(weaker)
    return kept


def _apart(places: Iterable[float]) -> list[float]:
    """Return the places in order, where places next to each other count as one."""
    kept: list[float] = []
    for place in sorted(places):
        if not kept or place - kept[-1] > SNAP:
            kept.append(place)
    return kept


def _holds(box: Box, word: PlacedWord) -> bool:
    return box.x0 - 1 <= word.x <= box.x1 + 1 and box.y0 - 1 <= word.y <= box.y1 + 1


def _lines(words: Iterable[PlacedWord]) -> list[_TextLine]:
    """Return the words by their height, each line from left to right."""
    lines: list[_TextLine] = []
    words = list(words)
    if len(words) == 1:
        return [words]
    for word in sorted(words, key=lambda word: word.y):
        first = lines[-1][0] if lines else None
        if first is not None and word.y - first.y < 0.5 * (first.box.y1 - first.box.y0):
            lines[-1].append(word)
        else:
            lines.append([word])
    return [sorted(line, key=lambda word: word.box.x0) for line in lines]


def _size(words: Iterable[PlacedWord]) -> float:
    return median(word.box.y1 - word.box.y0 for word in words)


def _gaps(lines: Sequence[_TextLine], box: Box) -> list[float]:
    """Return the edges of columns.

    The frame's, and the middles of the gaps that nearly all lines leave free.
    """
    if len(lines) < _FEWEST_ROWS + 1:
        return []
    left, width = int(box.x0), int(box.x1 - box.x0) + 2
    covered = [0] * (width + 1)
    totals: list[int] = []
    size = _size(word for line in lines for word in line)
    for line in lines:
        for start, end in _runs(line, _WORD_GAP * size):
            covered[max(0, int(start) - left)] += 1
            covered[min(width, int(end) + 1 - left)] -= 1
    most = max(1, int(_ROWS_ACROSS_GAP * len(lines)))
    edges = [box.x0]
    total, free = 0, None
    for at in range(width):
        total += covered[at]
        totals.append(total)
        if total <= most:
            free = at if free is None else free
        elif free is not None:
            if free > 0 and at - free >= max(4.0, _COLUMN_GAP * size):
                edges.append(left + free + _emptiest(totals[free:at]))
            free = None
    return [*edges, box.x1]


def _emptiest(lines: Sequence[int]) -> float:
    """Return the middle of the longest stretch that the fewest lines cross.

    A long label reaches far into a gap.
    """
    fewest = min(lines)
    stretches = [list(places) for count, places in groupby(range(len(lines)), key=lines.__getitem__) if count == fewest]
    longest = max(stretches, key=len)
    return (longest[0] + longest[-1] + 1) / 2


def _runs(line: _TextLine, gap: float) -> list[tuple[float, float]]:
    """Return the extents of the words of a line that are not further apart than the gap."""
    runs: list[tuple[float, float]] = []
    for word in line:
        if runs and word.box.x0 - runs[-1][1] <= gap:
            runs[-1] = runs[-1][0], max(runs[-1][1], word.box.x1)
        else:
            runs.append((word.box.x0, word.box.x1))
    return runs


def _is_prose(lines: Sequence[_TextLine], columns: Sequence[float]) -> bool:
    """Return whether two or more columns are full of words, and so are columns of the page."""
    full = 0
    for start, end in pairwise(columns):
        lengths = [
            sum(len(word.text) + 1 for word in line if start <= word.x < end)
            for line in lines
            if any(start <= word.x < end for word in line)
        ]
        full += bool(lengths) and median(lengths) > 0.7 * _LONGEST_LINE
    return full > 1


def _is_table(table: TableGrid) -> bool:
    cells = [cell for row in table.grid for cell in row]
    filled = [cell for cell in cells if cell.text]
    # In the bars of a chart one cell is in many rows.
    begun = [{id(cell) for cell in row if cell.text} for row in table.grid]
    several = sum(len(row - above) > 1 for above, row in pairwise([set(), *begun]))
    return (
        len(table.grid) >= _FEWEST_ROWS
        and several >= max(_FEWEST_ROWS, 0.5 * len(table.grid))
        and len(filled) >= _LEAST_FILLED * len(cells)
        and max(len(cell.text) for cell in filled) <= _LONGEST_CELL
    )


class _Grid:
    """The bands and columns of a frame with the words in each place."""

    def __init__(
        self, frame: Frame, words: Sequence[PlacedWord], columns: Sequence[float], levels: Sequence[float], ruled: bool
    ) -> None:
        self._columns = columns
        self._levels = levels
        self._spanners = frame.spanners
        self._ruled = ruled
        self._down = [[rule for rule in frame.down if abs(rule.at - at) <= SNAP] for at in columns]
        self._across = [[rule for rule in frame.across if abs(rule.at - at) <= SNAP] for at in levels]
        self._words: dict[_Place, list[PlacedWord]] = {}
        for word in words:
            x, y = word.x, word.y
            self._words.setdefault((_at(levels, y), _at(columns, x)), []).append(word)
        self._width = len(columns) - 1
        bands = range(len(levels) - 1)
        self._usual = [
            2 * sum(self._is_upright(band, column) for band in bands) >= len(bands) for column in range(self._width)
        ]

    def header(self, page: int) -> list[list[GridCell]]:
        """Return the rows of the first band if lines in it part a name over several columns from theirs.

        A column that no line parts has one name, however many lines it is printed on.
        """
        heights = _apart(rule.at for rule in self._spanners)
        if not heights:
            return []
        # Of each column, the line at each height, None where there is none.
        lines: list[list[RuledLine | None]] = []
        for start, end in pairwise(self._columns):
            middle = (start + end) / 2
            above = [rule for rule in self._spanners if rule.start <= middle <= rule.end]
            lines.append([next((rule for rule in above if abs(rule.at - at) <= SNAP), None) for at in heights])
        rows: list[list[GridCell]] = [[] for _ in range(len(heights) + 1)]
        for column, parting in enumerate(lines):
            top = 0
            for bottom in [*(at for at, rule in enumerate(parting) if rule), len(heights)]:
                rule = parting[bottom] if bottom < len(heights) else None
                beyond = column + 1
                while rule and beyond < self._width and lines[beyond][bottom] is rule:
                    beyond += 1
                if not (rule and column and lines[column - 1][bottom] is rule):
                    upper = heights[top - 1] if top else float("-inf")
                    lower = heights[bottom] if bottom < len(heights) else float("inf")
                    words = [
                        word for at in range(column, beyond) for word in self._at(0, at) if upper <= word.y < lower
                    ]
                    rows[top].append(_cell(words, beyond - column, bottom - top + 1, page))
                top = bottom + 1
        return rows

    def rows(self, band: int, page: int) -> list[list[GridCell]]:
        """Return the rows of a band: one a line if each line has figures, else a single one."""
        spans = self._spans(band)
        heights = [self._height(band, first) if self._ruled else 1 for first, _ in spans]
        found = [
            [
                word
                for column in range(first, beyond)
                for down in range(height)
                for word in self._at(band + down, column)
            ]
            for (first, beyond), height in zip(spans, heights, strict=True)
        ]
        begun = [self._ruled and self._is_open(band - 1, first) for first, _ in spans]
        if max(heights) == 1 and not any(begun):
            return [self._row(spans, words, page) for words in self._split(found)]
        return [
            [
                _cell(words, beyond - first, height, page)
                for (first, beyond), words, height, above in zip(spans, found, heights, begun, strict=True)
                if not above
            ]
        ]

    def _row(
        self, spans: Sequence[tuple[int, int]], words: Sequence[Sequence[PlacedWord]], page: int
    ) -> list[GridCell]:
        return [_cell(inside, beyond - first, 1, page) for (first, beyond), inside in zip(spans, words, strict=True)]

    def _at(self, band: int, column: int) -> list[PlacedWord]:
        return self._words.get((band, column), [])

    def _spans(self, band: int) -> list[tuple[int, int]]:
        """Return the columns of each cell of a band; one reaches on where no line parts it and its words do."""
        spans: list[tuple[int, int]] = []
        for column in range(self._width):
            if spans and self._joins(band, column):
                spans[-1] = spans[-1][0], column + 1
            else:
                spans.append((column, column + 1))
        return spans

    def _joins(self, band: int, column: int) -> bool:
        """Return whether a cell of a band and the one to its left are one."""
        if self._is_upright(band, column):
            return False
        return (self._ruled and self._usual[column]) or self._crosses(band, column)

    def _is_upright(self, band: int, column: int) -> bool:
        """Return whether a line is drawn at the left of a column, at the height of a band."""
        y = (self._levels[band] + self._levels[band + 1]) / 2
        return any(rule.start - 1 <= y <= rule.end + 1 for rule in self._down[column])

    def _crosses(self, band: int, column: int) -> bool:
        edge = self._columns[column]
        for line in _lines([*self._at(band, column - 1), *self._at(band, column)]):
            gap = 0.5 * _size(line)
            if any(start < edge - 1 and edge + 1 < end for start, end in _runs(line, gap)):
                return True
        return False

    def _height(self, band: int, column: int) -> int:
        """Return how many bands a cell reaches over, from this one down."""
        height = 1
        while self._is_open(band + height - 1, column):
            height += 1
        return height

    def _is_open(self, band: int, column: int) -> bool:
        """Return whether no line is drawn below a cell of a band, within the frame."""
        if not 0 <= band < len(self._levels) - 2:
            return False
        x = (self._columns[column] + self._columns[column + 1]) / 2
        return not any(rule.start - 1 <= x <= rule.end + 1 for rule in self._across[band + 1])

    def _split(self, cells: Sequence[Sequence[PlacedWord]]) -> list[list[list[PlacedWord]]]:
        """Return the words of a band's cells by rows."""
        lines = _lines(word for words in cells for word in words)
        if len(lines) < 2:
            return [[list(words) for words in cells]]
        owner = {id(word): at for at, words in enumerate(cells) for word in words}
        rows = [[[word for word in line if owner[id(word)] == at] for at in range(len(cells))] for line in lines]
        counted = [
            at
            for at in range(1, len(cells))
            if sum(bool(row[at]) and is_figure(_text([row[at]])) for row in rows) >= max(2, _MOSTLY * len(rows))
        ]
        full = sum(sum(map(bool, row)) > 1 for row in rows) > _MOSTLY * len(rows)
        if not counted and (self._ruled or not full):
            return [[list(words) for words in cells]]
        split = rows[:1]
        for row in rows[1:]:
            if _goes_on(row) or _ends_label(split[-1], row):
                split[-1] = [above + below for above, below in zip(split[-1], row, strict=True)]
            else:
                split.append(row)
        return split


def _goes_on(row: Sequence[Sequence[PlacedWord]]) -> bool:
    """Return whether a line of a band is the rest of the row above.

    A single text that begins in lower case.
    """
    filled = [words for words in row if words]
    return len(filled) == 1 and filled[0][0].text[:1].islower()


def _ends_label(above: Sequence[Sequence[PlacedWord]], row: Sequence[Sequence[PlacedWord]]) -> bool:
    """Return whether a line begins with the rest of a label that is alone in the row above."""
    return bool(above[0]) and not any(above[1:]) and bool(row[0]) and row[0][0].text[:1].islower()


def _at(edges: Sequence[float], place: float) -> int:
    return max(0, min(len(edges) - 2, bisect_right(edges, place) - 1))


def _cell(words: Sequence[PlacedWord], columns: int, rows: int, page: int) -> GridCell:
    if not words:
        return GridCell("", columns, rows, page=page)
    box = Box(
        round(min(word.box.x0 for word in words), 2),
        round(min(word.box.y0 for word in words), 2),
        round(max(word.box.x1 for word in words), 2),
        round(max(word.box.y1 for word in words), 2),
    )
    return GridCell(_text(_lines(words)), columns, rows, box, all(word.bold for word in words), page)


def _text(lines: Iterable[Sequence[PlacedWord]]) -> str:
    text = ""
    for line in lines:
        shown = " ".join(word.text for word in line)
        if not shown:
            continue
        if text[-1:] == "-" and text[-2:-1].islower() and shown[0].islower():
            text = text[:-1] + shown
        else:
            text += f" {shown}" if text else shown
    return without_leader(text)
