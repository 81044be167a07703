"""Tables of a sheet: where each begins and ends, and what stands around them.

A sheet is cut at its blank rows and columns and where other names of columns begin. A part without names belongs to
the table above it. A text alone is a caption or a note, and no row.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from ingestion.extraction.assemble import DraftBlock, paragraph
from ingestion.extraction.table_grid import (
    GridCell,
    GridRow,
    TableGrid,
    continued,
    grid_of,
    is_figure,
    is_year,
    table_of_grid,
    texts_of,
)
from ingestion.extraction.table_text import table_block
from ingestion.patterns import load_patterns

_NOTE = load_patterns("sheets")["note"]
# A text alone below a table is a note if it is longer or ends as a sentence.
_LONGEST_LABEL = 60
# More texts below each other are a list.
_MOST_LINES = 12
_MOST_NOTES = 30
_FEWEST_KEYS = 3


@dataclass(frozen=True, slots=True)
class _Region:
    """Rows without a blank row or column between them, and the column where they begin."""

    rows: tuple[GridRow, ...]
    left: int

    @property
    def right(self) -> int:
        """The column behind the last."""
        return self.left + len(self.rows[0])


@dataclass(slots=True)
class _Table:
    """A table as far as it was read, and the texts below it that may name its next rows."""

    region: _Region
    grid: TableGrid
    noted: bool = False


def sheet_blocks(rows: Sequence[Sequence[GridCell]], page: int = 1) -> Iterator[DraftBlock]:
    """Yield the tables of a sheet, each with its caption before and its notes behind it."""
    left_out = tuple(run for row in rows for cell in row for run in cell.left_out)
    laid: list[_Table | GridRow] = []
    for region in _regions(grid_of(rows), 0):
        _lay(region, laid)
    for is_text, parts in groupby(laid, key=lambda part: not isinstance(part, _Table)):
        given = list(parts)
        if is_text and len(given) > _MOST_LINES:
            yield table_block(table_of_grid(row for row in given if isinstance(row, tuple)), page)
            continue
        for part in given:
            text = " ".join(texts_of(part)) if isinstance(part, tuple) else ""
            yield paragraph(text, page) if isinstance(part, tuple) else table_block(part.grid, page)
    if left_out:
        yield DraftBlock(page, "table", (), left_out=left_out)


def _regions(grid: Sequence[GridRow], left: int) -> Iterator[_Region]:
    """Yield the parts of a grid, cut at blank rows, then at blank columns, as long as there are any."""
    bands = [tuple(rows) for says, rows in groupby(grid, key=_says) if says]
    if len(bands) > 1:
        for band in bands:
            yield from _regions(band, left)
    elif bands:
        sides = _sides(bands[0])
        if len(sides) > 1:
            for first, last in sides:
                yield from _regions([row[first:last] for row in bands[0]], left + first)
        else:
            [(first, last)] = sides
            yield _Region(tuple(row[first:last] for row in bands[0]), left + first)


def _says(row: GridRow) -> bool:
    return any(cell.text for cell in row)


def _is_alone(row: GridRow) -> bool:
    return len(texts_of(row)) == 1


def _sides(band: Sequence[GridRow]) -> list[tuple[int, int]]:
    """Return the first column of each table in a band of rows, and the one behind its last."""
    used: set[int] = set()
    # A caption may go over the blank column between two tables.
    rows = [row for row in band if not _is_alone(row)] or band
    for row in rows:
        used.update(at for at, cell in enumerate(row) if cell.text)
    filled = sorted(used)
    sides = [(filled[0], filled[0] + 1)]
    for at in filled[1:]:
        if at == sides[-1][1]:
            sides[-1] = sides[-1][0], at + 1
        else:
            sides.append((at, at + 1))
    parted = sides[:1]
    for first, last in sides[1:]:
        before = [row[slice(*parted[-1])] for row in rows]
        if _stands_alone(before, [row[first:last] for row in rows]):
            parted.append((first, last))
        else:
            parted[-1] = parted[-1][0], last
    # Texts alone may be further left or right than the tables.
    alone = [at for row in band for at, cell in enumerate(row) if cell.text]
    parted[0] = min(parted[0][0], *alone), parted[0][1]
    parted[-1] = parted[-1][0], max(parted[-1][1], max(alone) + 1)
    return parted


def _stands_alone(left: Sequence[GridRow], right: Sequence[GridRow]) -> bool:
    """Return whether what is right of a blank column is a table by itself, and no more columns of the one before.

    It has names of its own above labels of its own. In a table with a blank column the rows on its right are those on
    its left, and begin with figures.
    """
    if len(left[0]) < 2 or len(right[0]) < 2:
        return False
    places = [[at for at, row in enumerate(side) if _says(row)] for side in (left, right)]
    table = table_of_grid(right)
    if not table.headers or not table.body:
        return False
    others = table_of_grid(left)
    if not others.headers or not others.body:
        return False
    if others.names()[0] == table.names()[0]:
        return True
    # Remarks to some rows of a table leave rows blank among them.
    if places[0] != places[1]:
        return places[1][-1] - places[1][0] + 1 == len(places[1])
    labels = [row[0].text for row in table.body]
    if any(map(is_figure, labels)) or len(labels) < _FEWEST_KEYS:
        return False
    return len(set(labels)) == len(labels) and all(labels)


def _lay(region: _Region, laid: list[_Table | GridRow]) -> None:
    """Add a region to what is laid: as texts, as a table, or as more rows of the table above it."""
    if all(map(_is_alone, region.rows)):
        laid.extend(region.rows)
        above = _above(laid)
        if above is not None and any(map(_is_note, region.rows)):
            above.noted = True
        return
    for part in _parted(region):
        rows, notes = _without_notes(part.rows)
        if rows:
            _lay_table(_Region(rows, part.left), laid)
        laid.extend(notes)


def _above(laid: Sequence[_Table | GridRow]) -> _Table | None:
    return next((part for part in reversed(laid) if isinstance(part, _Table)), None)


def _lay_table(region: _Region, laid: list[_Table | GridRow]) -> None:
    grid = table_of_grid(region.rows)
    for at in range(len(laid) - 1, -1, -1):
        above = laid[at]
        if not isinstance(above, _Table):
            continue
        joined = _joined(above, region, grid)
        if joined is None:
            # Tables beside each other go on below each other.
            if above.region.left == region.left:
                break
            continue
        between = [row for row in laid[at + 1 :] if isinstance(row, tuple)]
        if len(between) < len(laid) - at - 1 or above.noted or any(map(_is_note, between)):
            laid.append(_Table(joined.region, continued(above.grid, joined.grid) or grid))
        else:
            rows = (*above.region.rows, *(_padded(row, 0, len(joined.region.rows[0])) for row in between))
            whole = _Region((*rows, *joined.region.rows), above.region.left)
            del laid[at + 1 :]
            laid[at] = _Table(whole, table_of_grid(whole.rows))
        return
    laid.append(_Table(region, grid))


def _joined(above: _Table, region: _Region, grid: TableGrid) -> _Table | None:
    """Return the rows of a region as more rows of the table above it; None if they are none."""
    if region.left < above.region.left or region.right > above.region.right:
        return None
    before = region.left - above.region.left
    rows = tuple(_padded(row, before, len(above.region.rows[0])) for row in region.rows)
    padded = _Table(_Region(rows, above.region.left), TableGrid(rows))
    if not above.grid.body:
        # Names with a blank row below them.
        return padded if not grid.headers else None
    if grid.headers and not _repeats(grid, above.grid):
        return None
    return padded if _are_alike(above.grid.body, rows) else None


def _repeats(grid: TableGrid, above: TableGrid) -> bool:
    """Return whether the names of a part are no names, because those above it are printed in another way."""
    bold = [all(cell.bold for cell in row if cell.text) for table in (above, grid) for row in table.header[:1]]
    return bold == [True, False]


def _padded(row: GridRow, before: int, width: int) -> GridRow:
    places = (*(GridCell("") for _ in range(before)), *row)
    return (*places[:width], *(GridCell("") for _ in range(width - len(places))))


def _are_alike(body: Sequence[GridRow], rows: Sequence[GridRow]) -> bool:
    """Return whether rows have words and figures in the columns where a table has them."""
    for above, below in zip(zip(*body, strict=True), zip(*rows, strict=True), strict=True):
        kinds = [[is_figure(cell.text) for cell in column if cell.text] for column in (above, below)]
        if all(kinds) and all(kinds[0]) and not any(kinds[1]):
            return False
    return True


def _is_note(row: GridRow) -> bool:
    texts = texts_of(row)
    return bool(texts) and _NOTE.match(texts[0]) is not None and not any(map(is_figure, texts[1:]))


def _without_notes(rows: tuple[GridRow, ...]) -> tuple[tuple[GridRow, ...], tuple[GridRow, ...]]:
    """Return the rows of a table, and the notes below them."""
    last = len(rows)
    # A line without the sign of a note goes on from the one above it.
    for at in range(len(rows) - 1, max(0, len(rows) - _MOST_NOTES), -1):
        if _is_note(rows[at]) or (_is_alone(rows[at]) and _is_long(texts_of(rows[at])[0])):
            last = at
        elif not _is_alone(rows[at]):
            break
    return rows[:last], rows[last:]


def _is_long(text: str) -> bool:
    return len(text) > _LONGEST_LABEL or (text.endswith((".", "!", "?")) and " " in text)


def _parted(region: _Region) -> Iterator[_Region]:
    """Yield the tables of a region that follow each other without a blank row."""
    rows = region.rows
    begin = table_of_grid(rows)
    starts = [0]
    if begin.headers and len(rows[0]) > 1:
        names = texts_of(begin.header[-1])
        for at in range(begin.above + begin.headers + 1, len(rows) - 1):
            if at > starts[-1] + 1 and _begins_table(rows, at, names):
                names = texts_of(rows[at])
                starts.append(_with_caption(rows, starts[-1] + 2, at))
    if len(starts) == 1:
        yield region
        return
    for start, end in zip(starts, [*starts[1:], len(rows)], strict=True):
        used = [at for row in rows[start:end] for at, cell in enumerate(row) if cell.text]
        first = min(used)
        yield _Region(tuple(row[first : max(used) + 1] for row in rows[start:end]), region.left + first)


def _with_caption(rows: Sequence[GridRow], least: int, at: int) -> int:
    """Return the row where a table begins whose names are in row `at`: that of its caption, where it has one."""
    while at > least and _is_alone(rows[at - 1]) and not _is_note(rows[at - 1]):
        at -= 1
    return at


def _begins_table(rows: Sequence[GridRow], at: int, names: Sequence[str]) -> bool:
    """Return whether a row among others names other columns than `names`.

    It has words where figures are above and below it. Such words are also the remarks of one row. Names are bold, or
    above columns of another kind or number, or written with capitals as those before them.
    """
    row = rows[at]
    texts = texts_of(row)
    # Most rows have a figure, which is soon seen.
    if len(texts) < 2 or any(text[0].isdigit() for text in texts) or not row[0].text or texts == names:
        return False
    if len(set(texts)) < len(texts) or any(map(is_figure, texts)) or any(map(_is_long, texts)):
        return False
    above = next((rows[before] for before in range(at - 1, -1, -1) if not _is_alone(rows[before])), row)
    counted = [place for place, cell in enumerate(row) if cell.text and is_figure(above[place].text)]
    below = next((one for one in rows[at + 1 : at + 3] if any(is_figure(one[place].text) for place in counted)), None)
    if below is None:
        return False
    if all(cell.bold for cell in row if cell.text):
        return not all(cell.bold for cell in above if cell.text)
    if len(texts) != len(names) or texts[0] == names[0] or _kinds(above) != _kinds(below):
        return True
    capitals = [text[:1].isupper() for text in texts]
    return len(counted) > 1 and len(counted) + 1 == len(texts) and capitals == [text[:1].isupper() for text in names]


def _kinds(row: GridRow) -> list[str]:
    """Return what the cells of a row hold: a year, another figure, words, or nothing."""
    return [
        "" if not cell.text else "year" if is_year(cell.text) else "figure" if is_figure(cell.text) else "words"
        for cell in row
    ]
