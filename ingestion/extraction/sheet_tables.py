"""Tables of a sheet: where each begins and ends, and what stands around them.

A sheet is cut at its blank rows and columns and where other names of columns begin. A part without names belongs to
the table above it. A text alone is a caption or a note, and no row.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import compress, groupby, pairwise

from ingestion.extraction.assemble import DraftBlock, paragraph
from ingestion.extraction.runs import AT_END
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
# In a table's text each row has the names of its columns, which make it longer than its cells.
NAMED_AGAIN = 3
# A text alone below a table is a note if it is longer or ends as a sentence.
_LONGEST_LABEL = 60
# More texts below each other are a list.
_MOST_LINES = 12
_MOST_NOTES = 30
_FEWEST_KEYS = 2
_MOST_NAMES, _MOST_TITLES = 3, 4
_TELLING = 500
_LATEST_HEADER = 6
# Tables beside each other, parts within parts, and parts before one that it may go on from.
_MOST_SIDES, _DEEPEST, _NEAR = 50, 20, 50


@dataclass(frozen=True, slots=True)
class _Region:
    """Rows without a blank row or column between them, and the columns of the sheet that they have."""

    rows: tuple[GridRow, ...]
    columns: tuple[int, ...]


@dataclass(slots=True)
class _Table:
    """A table with its columns of the sheet; its `rows` go on from those of its `grid`."""

    grid: TableGrid
    columns: tuple[int, ...]
    rows: list[GridRow]
    noted: bool = False

    def whole(self) -> TableGrid:
        """Return the table with all its rows."""
        return replace(self.grid, grid=tuple(self.rows))


def sheet_blocks(rows: Sequence[Sequence[GridCell]], page: int = 1, *, named: bool = False) -> Iterator[DraftBlock]:
    """Yield the tables of a sheet, each with its caption before and its notes behind it.

    With `named`, the first row names the columns of the first table also where it holds words alone.
    """
    left_out = tuple(run._replace(after=AT_END) for row in rows for cell in row for run in cell.left_out)
    laid: list[_Table | GridRow] = []
    grid = grid_of(rows)
    for region in _regions(_shown(grid) if left_out else grid):
        _lay(region, laid, named and not any(isinstance(part, _Table) for part in laid[-_NEAR:]))
    for _, parts in groupby(laid, key=type):
        yield from _blocks(list(parts), page)
    if left_out:
        yield DraftBlock(page, "table", (), left_out=left_out)


def _table(rows: Sequence[GridRow]) -> TableGrid:
    """Return the table of rows that all say something; its first rows tell whether it has names."""
    return replace(table_of_grid(rows[:_TELLING]), grid=tuple(rows))


def _blocks(parts: Sequence[_Table | GridRow], page: int) -> Iterator[DraftBlock]:
    texts = [part for part in parts if isinstance(part, tuple)]
    if len(texts) > _MOST_LINES:
        yield table_block(_table(texts), page)
        return
    for part in parts:
        yield table_block(part.whole(), page) if isinstance(part, _Table) else paragraph(" ".join(texts_of(part)), page)


def rows_within(rows: Iterable[list[GridCell]], most: int) -> tuple[list[list[GridCell]], int, bool]:
    """Return the first rows that fit in `most` characters, what is left of them, and whether all fit.

    An empty cell costs as much as a character.
    """
    kept: list[list[GridCell]] = []
    for row in rows:
        cost = sum(len(cell.text) + 1 for cell in row)
        if cost > most:
            return kept, most, False
        most -= cost
        kept.append(row)
    return kept, most, True


def _shown(grid: Sequence[GridRow]) -> list[GridRow]:
    """Return a grid without the rows and columns that hold words left out alone; they part nothing."""
    rows = [row for row in grid if _says(row) or not any(cell.left_out for cell in row)]
    columns = zip(*rows, strict=True)
    stay = [any(cell.text for cell in column) or not any(cell.left_out for cell in column) for column in columns]
    return [tuple(compress(row, stay)) for row in rows]


def _regions(grid: Sequence[GridRow], columns: Sequence[int] = (), depth: int = 0) -> Iterator[_Region]:
    """Yield the parts of a grid, cut at blank rows, then at blank columns, as long as there are any."""
    for says, band in groupby(grid, key=_says):
        if not says:
            continue
        rows = list(band)
        sides = _sides(rows) if depth < _DEEPEST else [range(len(rows[0]))]
        for side in sides:
            places = tuple(columns[at] for at in side) if columns else tuple(side)
            part = [tuple(row[at] for at in side) for row in rows] if len(side) < len(rows[0]) else rows
            if len(sides) > 1:
                yield from _regions(part, places, depth + 1)
            else:
                yield _Region(tuple(part), places)


def _says(row: GridRow) -> bool:
    return any(cell.text for cell in row)


def _is_alone(row: GridRow) -> bool:
    cells = [cell for cell in row if cell.text]
    return bool(cells) and all(cell is cells[0] for cell in cells)


def _sides(band: Sequence[GridRow]) -> list[Sequence[int]]:
    """Return the columns of each table in a band of rows, without those that are blank."""
    # A caption may go over the blank column between two tables.
    rows = [row for row in band if not _is_alone(row)] or band
    used = {at for row in rows for at, cell in enumerate(row) if cell.text}
    runs = [[at for _, at in run] for _, run in groupby(enumerate(sorted(used)), key=lambda pair: pair[1] - pair[0])]
    # Texts alone may be further left or right than the tables.
    for row in band if len(rows) < len(band) else ():
        used.update(at for at, cell in enumerate(row) if cell.text)
    sides = [runs[0]]
    for run in runs[1:]:
        parts = ([tuple(row[at] for at in side) for row in rows] for side in (sides[-1], run))
        if len(runs) < _MOST_SIDES and _stands_alone(*parts):
            sides.append(run)
        else:
            sides[-1] = [*sides[-1], *run]
    ends = [*(side[0] for side in sides[1:]), max(used) + 1]
    return [[at for at in sorted(used) if begin <= at < end] for begin, end in zip([0, *ends], ends, strict=False)]


def _stands_alone(left: Sequence[GridRow], right: Sequence[GridRow]) -> bool:
    """Return whether the columns right of a blank one are a table by themselves.

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


def _lay(region: _Region, laid: list[_Table | GridRow], named: bool) -> None:
    """Add a region to what is laid: as texts, as a table, or as more rows of the table above it."""
    if all(map(_is_alone, region.rows)):
        above = next((part for part in laid[: -_NEAR - 1 : -1] if isinstance(part, _Table)), None)
        if above is not None and any(map(_is_note, region.rows)):
            above.noted = True
        laid.extend(region.rows)
        return
    # A table keeps the texts above its names, as far as its names are looked for.
    titles = max(0, next(at for at, row in enumerate(region.rows) if not _is_alone(row)) - _MOST_TITLES)
    laid.extend(region.rows[:titles])
    for part in _parted(_Region(region.rows[titles:], region.columns)):
        rows, notes = _without_notes(part.rows)
        if rows:
            _lay_table(_Region(rows, part.columns), laid, named)
        laid.extend(notes)


def _lay_table(region: _Region, laid: list[_Table | GridRow], named: bool) -> None:
    grid = _table(_spread(region.rows))
    if named and not grid.headers and _names_all(region.rows):
        grid = replace(grid, above=0, headers=1)
    for at in range(len(laid) - 1, max(-1, len(laid) - 1 - _NEAR), -1):
        above = laid[at]
        # Tables beside each other go on below each other.
        if isinstance(above, _Table):
            if (rows := _more_rows(above, region, grid)) is not None:
                _join(above, rows, laid, at)
                return
            if above.columns[0] == region.columns[0]:
                break
    laid.append(_Table(grid, region.columns, list(grid.grid)))


def _spread(rows: tuple[GridRow, ...]) -> tuple[GridRow, ...]:
    """Return the rows; a name above several columns, written above the first, is in all of them."""
    for at, (row, below) in enumerate(pairwise(rows[:_LATEST_HEADER])):
        filled = [place for place, cell in enumerate(row) if cell.text]
        names = [cell.text for cell in below[filled[0] :]]
        if not all(names) or len(filled) == len(row) or filled == [0]:
            continue
        if any(is_figure(name) and not is_year(name) for name in (*names, *texts_of(row))):
            continue
        if len(set(names)) < len(names) or (not row[0].text and below[0].text and len(filled) > 1):
            ends = [*filled[1:], len(row)]
            wide = (row[place] for place, end in zip(filled, ends, strict=True) for _ in range(place, end))
            return (*rows[:at], (*row[: filled[0]], *wide), *rows[at + 1 :])
    return rows


def _names_all(rows: Sequence[GridRow]) -> bool:
    """Return whether the first row of a table of words has a name for each of three columns or more."""
    names = texts_of(rows[0])
    different = len(set(names)) == len(names) == len(rows[0]) > 2
    return different and len(rows) > 1 and not any(is_figure(name) or _is_long(name) for name in names)


def _more_rows(above: _Table, region: _Region, grid: TableGrid) -> tuple[GridRow, ...] | None:
    """Return the rows of a region in the columns of the table above it; None if they are no rows of it."""
    if not set(region.columns) <= set(above.columns) or (grid.headers and not _repeats(grid, above.grid)):
        return None
    rows = tuple(_padded(row, region.columns, above.columns) for row in region.rows)
    return rows if _are_alike(above.grid.body[:_TELLING], rows[:_TELLING]) else None


def _join(above: _Table, rows: tuple[GridRow, ...], laid: list[_Table | GridRow], at: int) -> None:
    """Add rows to the table at a place; the texts between name groups of rows."""
    between = [row for row in laid[at + 1 :] if isinstance(row, tuple)]
    if above.noted or len(between) < len(laid) - at - 1 or any(map(_is_note, between)):
        part = TableGrid(rows)
        whole = continued(above.grid, part) or part
        laid.append(_Table(whole, above.columns, list(whole.grid)))
        return
    names_alone = not above.grid.headers and len(above.rows) <= _MOST_NAMES
    above.rows += [*(_padded(row, above.columns, above.columns) for row in between), *rows]
    # Names may have a blank row below them.
    above.grid = _table(above.rows) if names_alone else above.grid
    del laid[at + 1 :]


def _repeats(grid: TableGrid, above: TableGrid) -> bool:
    """Return whether the names of a part are no names, because those above it are printed in another way."""
    bold = [all(cell.bold for cell in row if cell.text) for table in (above, grid) for row in table.header[:1]]
    return bold == [True, False]


def _padded(row: GridRow, columns: Sequence[int], wanted: Sequence[int]) -> GridRow:
    """Return a row in other columns, blank where it has none."""
    cells = dict(zip(columns, row, strict=False))
    return tuple(cells.get(at) or GridCell("") for at in wanted)


def _are_alike(body: Sequence[GridRow], rows: Sequence[GridRow]) -> bool:
    """Return whether rows have words where a table has words, and figures where it has figures.

    Only its first column has words alone; in others a figure may be missing from all rows above.
    """
    for at, columns in enumerate(zip(zip(*body, strict=True), zip(*rows, strict=True), strict=True)):
        above, below = ([is_figure(cell.text) for cell in column if cell.text] for column in columns)
        if above and below and all(above) and not any(below):
            return False
        if not at and len(above) > 1 and not any(above) and below and all(below):
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
    begin = table_of_grid(rows[:_TELLING])
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
        used = sorted({at for row in rows[start:end] for at, cell in enumerate(row) if cell.text})
        part = tuple(tuple(row[at] for at in used) for row in rows[start:end])
        yield _Region(part, tuple(region.columns[at] for at in used))


def _with_caption(rows: Sequence[GridRow], least: int, at: int) -> int:
    """Return the row where a table with names in row `at` begins, that of its caption if it has one."""
    while at > least and _is_alone(rows[at - 1]) and not _is_note(rows[at - 1]):
        at -= 1
    return at


def _begins_table(rows: Sequence[GridRow], at: int, names: Sequence[str]) -> bool:
    """Return whether a row among others names other columns than `names`.

    It has words where figures are above and below it. Such words are also the remarks of one row. Names are bold, or
    above columns of another kind or number, or written with capitals as those before them.
    """
    row = rows[at]
    # Most rows have a figure, which is soon seen.
    if not row[0].text or any(cell.text[:1].isdigit() for cell in row):
        return False
    texts = texts_of(row)
    if len(texts) < 2 or texts == names:
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
