"""Tables as every reader gives them: a grid of cells, which may be merged, and its header."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, pairwise, takewhile

from ingestion.extraction.runs import AT_END, Run
from ingestion.patterns import load_patterns
from rag_engine.types.document import Box

_LONGEST_NAME = 80
_LATEST_HEADER = 5
_MOST_HEADERS = 4
_MOST_SPAN = 1_000
# Names longer than this in sum would be most of every row.
_LONGEST_HEADER = 400
_NAME_PARTS = re.compile(r"[–()\[\]/,;:]")
_PATTERNS = load_patterns("tables")
_LEADER = re.compile(r"\s?(?:\.\s?){3,}$|\s?…{2,}$")
_ENDED = re.compile(r"[.!?;:]$")


@dataclass(frozen=True, slots=True)
class GridCell:
    """A cell with its text on one line, the columns and rows that it covers, its box and page.

    `left_out` has its words that are struck or hidden.
    """

    text: str
    columns: int = 1
    rows: int = 1
    box: Box | None = None
    bold: bool = False
    page: int = 0
    left_out: tuple[Run, ...] = ()


_EMPTY = GridCell("")
GridRow = tuple[GridCell, ...]


@dataclass(frozen=True, slots=True)
class TableGrid:
    """A table as a grid: a merged cell is in each of its places.

    The `headers` rows after the first `above` rows name the columns; those above are its title and date. `unit` is the
    unit of its figures, as it is printed near them ("in million euros"). `repeated` means that the header is printed on
    the page before. `left_out` has the words of its cells that are struck or hidden.
    """

    grid: tuple[GridRow, ...]
    above: int = 0
    headers: int = 0
    unit: str = ""
    repeated: bool = False
    left_out: tuple[Run, ...] = ()

    @property
    def body(self) -> tuple[GridRow, ...]:
        """The rows below the header."""
        return self.grid[self.above + self.headers :]

    @property
    def header(self) -> tuple[GridRow, ...]:
        """The rows that name the columns."""
        return self.grid[self.above : self.above + self.headers]

    def texts(self) -> tuple[tuple[str, ...], ...]:
        """Return the text of every place, row by row."""
        return tuple(tuple(cell.text for cell in row) for row in self.grid)

    def names(self) -> tuple[str, ...]:
        """Return the name of each column: the header's texts above it, from the outermost inwards."""
        levels = self._levels()
        if sum(len(text) for column in levels for text in column) > _LONGEST_HEADER:
            # What several columns in a row are under is said with the first of them.
            levels = [
                column[
                    sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(column[:-1], before, strict=False))) :
                ]
                for before, column in pairwise([(), *levels])
            ]
        return tuple(map(_name, levels))

    def _levels(self) -> list[tuple[str, ...]]:
        """Return the distinct texts of the header above each column."""
        # A text over all columns is the table's title and tells none from another.
        telling = [row for row in self.header if not _is_title(row)]
        columns = zip(*telling, strict=True) if telling else [()] * (len(self.grid[0]) if self.grid else 0)
        return [tuple(dict.fromkeys(cell.text for cell in column if cell.text)) for column in columns]


def _name(texts: Sequence[str]) -> str:
    """Return the name of a column, its unit in brackets."""
    if len(texts) > 1 and _PATTERNS["unit_alone"].fullmatch(texts[-1]):
        return f"{' – '.join(texts[:-1])} ({texts[-1].strip('()[]')})"
    return " – ".join(texts)


def around(boxes: Iterable[Box]) -> Box:
    """Return the upright rectangle around boxes; there is one at least."""
    lefts, tops, rights, bottoms = zip(*((box.x0, box.y0, box.x1, box.y1) for box in boxes), strict=True)
    return Box(min(lefts), min(tops), max(rights), max(bottoms))


def table_of(rows: Iterable[Sequence[GridCell]], headers: int | None = None, *, aligned: bool = False) -> TableGrid:
    """Return the table of rows of cells; each cell knows its extent.

    The first `headers` rows name the columns; None if the format does not say. Where the cells are only `aligned`, a
    row of words above others names nothing unless it is printed in another way.
    """
    given = list(rows)
    # Also of rows that hold nothing else.
    left_out = tuple(run._replace(after=AT_END) for row in given for cell in row for run in cell.left_out)
    grid = grid_of(given)
    if headers is not None:
        kept = [row for row in grid[:headers] if _says(row)]
        grid = (*kept, *(row for row in grid[headers:] if _says(row)))
        above = next((at for at, row in enumerate(kept) if not _is_title(row)), 0)
        return _with_unit(TableGrid(grid, above, len(kept) - above, left_out=left_out))
    return replace(table_of_grid(grid, aligned=aligned), left_out=left_out)


def table_of_grid(grid: Iterable[GridRow], *, aligned: bool = False) -> TableGrid:
    """Return the table of a grid whose format does not say which rows name the columns."""
    rows = tuple(filter(_says, grid))
    above, found = _guessed_header(rows, aligned)
    return _with_unit(TableGrid(rows, above, found))


def continued(table: TableGrid, following: TableGrid) -> TableGrid | None:
    """Return a table under the header of the table before that it continues; None if it does not.

    It has as many columns, and either no names for them or the same.
    """
    if not table.headers or not table.grid or not following.grid or len(table.grid[0]) != len(following.grid[0]):
        return None
    if following.headers and following.names() != table.names():
        return None
    return TableGrid((*table.header, *following.body), 0, table.headers, following.unit or table.unit, repeated=True)


def texts_of(row: GridRow) -> list[str]:
    """Return the texts of a row from left to right, the text of a merged cell once."""
    return [cell.text for cell, _ in distinct(row) if cell.text]


def distinct(row: GridRow) -> Iterator[tuple[GridCell, list[int]]]:
    """Yield the cells of a row from left to right, a merged one once, with the columns that it covers."""
    for _, grouped in groupby(enumerate(row), key=lambda place: id(place[1])):
        places = list(grouped)
        yield places[0][1], [at for at, _ in places]


def _says(row: GridRow) -> bool:
    return any(cell.text for cell in row)


def is_one_cell(row: GridRow) -> bool:
    """Return whether a row of several columns is a single text.

    Its cell covers all columns, or is bold and alone in the first.
    """
    if len(row) < 2:
        return False
    first = row[0]
    others = any(cell.text for cell in row if cell is not first)
    return bool(first.text) and not others and (row[-1] is first or (first.bold and len(row) > 2))


def _is_title(row: GridRow) -> bool:
    """Return whether a row near the top says something in its first cell alone."""
    return len(row) > 1 and bool(row[0].text) and len(texts_of(row)) == 1


def grid_of(rows: Sequence[Sequence[GridCell]]) -> tuple[GridRow, ...]:
    """Return the rows with each cell in all places that it covers, and all of one length."""
    hanging: dict[int, tuple[GridCell, int]] = {}
    laid: list[list[GridCell]] = []
    for cells in rows:
        row: list[GridCell] = []
        waiting = iter(cells)
        while True:
            while len(row) in hanging:
                held, left = hanging.pop(len(row))
                if left > 1:
                    hanging[len(row)] = held, left - 1
                row.append(held)
            cell = next(waiting, None)
            if cell is None:
                break
            for _ in range(min(max(1, cell.columns), _MOST_SPAN)):
                if cell.rows > 1:
                    hanging[len(row)] = cell, cell.rows - 1
                row.append(cell)
        laid.append(row)
    width = max(map(len, laid), default=0)
    return tuple(tuple(row + [replace(_EMPTY) for _ in range(width - len(row))]) for row in laid)


def _guessed_header(grid: Sequence[GridRow], aligned: bool) -> tuple[int, int]:
    """Return the number of rows above the header, and of the header itself.

    Both are 0 if no row reads like names of columns.
    """
    for above, row in enumerate(grid[:_LATEST_HEADER]):
        filled = [places for cell, places in distinct(row) if cell.text]
        # A name over several columns is part of the header; a single text before it is the title.
        if len(row) > 1 and len(filled) < 2 and (0 in filled[0] or len(filled[0]) == 1):
            continue
        if len(row) < 2 or not _names_columns(row, grid[above + 1 :], aligned):
            return 0, 0
        count = 1
        while count < _MOST_HEADERS and _goes_on(grid[above + count - 1], grid[above + count :], aligned):
            count += 1
        return above, count
    return 0, 0


def _names_columns(row: GridRow, below: Sequence[GridRow], aligned: bool) -> bool:
    """Return whether a row names the columns.

    Its cells are short words in nearly all columns, above figures or longer texts.

    The print decides if the row is bold and most of the rest is not. Otherwise a table of two columns of words pairs
    names with values, and has no header.
    """
    if not below or any(len(text) > _LONGEST_NAME or _ENDED.search(text) for text in texts_of(row) if text):
        return False
    cells = [cell for cell in row if cell.text]
    counted = sum(is_figure(cell.text) and not is_year(cell.text) for cell in cells)
    if 2 * counted >= len(cells):
        return False
    others = [cell for one in below for cell in one if cell.text]
    if all(cell.bold for cell in cells) and 2 * sum(cell.bold for cell in others) < len(others):
        return 2 * len(cells) > len(row)
    if len(cells) < len(row) - 1 or any(is_figure(cell.text) and not is_year(cell.text) for cell in cells):
        return False
    columns = list(zip(*(one for one in below if not _is_of_units(one)), strict=True))
    figures = [_mostly_figures(column) for column in columns]
    if any(figures):
        return all(row[at].text for at, counts in enumerate(figures) if counts)
    lengths = [len(cell.text) for cell in cells]
    texts = {cell.text.casefold() for cell in cells}
    return (
        not aligned
        and len(row) > 2
        and len(texts) == len(cells)
        and 1.5 * max(lengths) < max(len(cell.text) for cell in others)
    )


def without_leader(text: str) -> str:
    """Return the text of a cell without the dots that lead to the next: "All ages . . . . ."."""
    return _LEADER.sub("", text) or text


def is_figure(text: str) -> bool:
    """Return whether a cell holds a number with its usual signs, or the sign for no number."""
    return _PATTERNS["value"].match(text) is not None


def is_year(text: str) -> bool:
    """Return whether a cell holds a year or a span of years."""
    return _PATTERNS["year"].fullmatch(text) is not None


def _mostly_figures(column: Sequence[GridCell]) -> bool:
    texts = [cell.text for cell in column if cell.text]
    return bool(texts) and 2 * sum(map(is_figure, texts)) > len(texts)


def _is_bold(row: GridRow) -> bool:
    return all(cell.bold for cell in row if cell.text)


def _is_of_units(row: GridRow) -> bool:
    return all(_PATTERNS["unit_alone"].fullmatch(text) for text in texts_of(row))


def _goes_on(row: GridRow, below: Sequence[GridRow], aligned: bool) -> bool:
    """Return whether the header has one more row: below a name over several columns are the names of each.

    Where the cells are only `aligned`, each line of a name is a row, down to the first that has figures or is not bold
    as the one above.
    """
    if len(below) < 2 or _is_title(below[0]) or is_one_cell(below[0]):
        return False
    following = below[0]
    if any(is_figure(text) and not is_year(text) for text in texts_of(following)):
        return _is_of_units(following)
    merged = any(len(places) > 1 and cell.text for cell, places in distinct(row)) and not is_one_cell(row)
    names = [cell for cell in following if cell.text]
    if any(len(cell.text) > _LONGEST_NAME for cell in names) or not names:
        return False
    if aligned and not merged:
        alike = _is_bold(row) == _is_bold(following)
        return alike and (_is_bold(row) or any(map(_mostly_figures, zip(*below[1:], strict=True))))
    return _is_of_units(following) or merged


def _with_unit(table: TableGrid) -> TableGrid:
    """Return the table with the unit that is printed above its header, where it is."""
    above = " ".join(text for row in table.grid[: table.above] for text in texts_of(row))
    return replace(table, unit=unit_in(above))


def unit_in(caption: str) -> str:
    """Return the unit that a caption gives for all figures.

    >>> unit_in("Costs (in million euros)")
    'in million euros'
    """
    found = _PATTERNS["unit"].search(caption)
    return " ".join(found["unit"].split()) if found else ""


def has_unit(name: str) -> bool:
    """Return whether the name of a column has a unit: "Share (%)", "Difference – Percent"."""
    parts = (part.strip() for part in _NAME_PARTS.split(name))
    return any(_PATTERNS["unit_alone"].fullmatch(part) for part in parts if part)
