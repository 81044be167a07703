"""Tables over the end of a page, under their header on the next and with whole rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from ingestion.extraction.assemble import DraftBlock, DraftLine
from ingestion.extraction.layout.hyphenation import HYPHENS, join_lines
from ingestion.extraction.layout.paragraphs import ends_sentence
from ingestion.extraction.table_grid import GridCell, TableGrid, around, continued, distinct, texts_of
from ingestion.extraction.table_text import table_lines

# Characters from which a cell holds prose, whose rest may begin with a capital; and from which that is prose too.
_PROSE = 25
# Points by which the words of a column may begin further left on one page than on another.
_NEAR = 6.0


def with_whole_tables(pages: Iterable[Sequence[DraftBlock]], vocabulary: frozenset[str]) -> Iterator[list[DraftBlock]]:
    """Yield the blocks of pages, where a table has its header on each page and each row is whole."""
    above: list[DraftBlock] | None = None
    for blocks in pages:
        following = list(blocks)
        if above is not None:
            _continue(above, following, vocabulary)
            yield above
        above = following
    if above is not None:
        yield above


def _continue(above: list[DraftBlock], following: list[DraftBlock], vocabulary: frozenset[str]) -> None:
    """Move the rest of a page's last row from the next page to it, whose table gets its header."""
    last = next((at for at in range(len(above) - 1, -1, -1) if above[at].kind != "note"), None)
    table = above[last].grid if last is not None else None
    if last is None or table is None:
        return
    whole = table
    while (at := next((at for at, block in enumerate(following) if block.kind != "note"), None)) is not None:
        block = following[at]
        if block.grid is not None:
            block = _with_grid(block, _under_header(table, block.grid))
        whole, left = _with_rest_in(block, whole, vocabulary)
        if left is not None:
            following[at] = left
            break
        del following[at]
    if whole is not table:
        above[last] = _with_grid(above[last], whole)


def _with_grid(block: DraftBlock, grid: TableGrid) -> DraftBlock:
    return block if grid is block.grid else replace(block, lines=table_lines(grid), grid=grid)


def _under_header(table: TableGrid, following: TableGrid) -> TableGrid:
    """Return the first table of a page, under the header on the page before if it continues that."""
    if _begins_alike(table, following):
        following = replace(following, grid=following.grid[max(1, table.headers) :], above=0, headers=0)
    elif following.headers and _is_rest(_by_column(following.grid[0], table), table):
        following = replace(following, above=0, headers=0)
    return continued(table, following) or following


def _begins_alike(table: TableGrid, following: TableGrid) -> bool:
    """Return whether the rows that a table begins with are printed again."""
    names = [texts_of(row) for row in (table.header or table.grid[:1])]
    return len(names[0]) > 1 and [texts_of(row) for row in following.grid[: len(names)]] == names


def _with_rest_in(
    block: DraftBlock, table: TableGrid, vocabulary: frozenset[str]
) -> tuple[TableGrid, DraftBlock | None]:
    """Return the table with the rest of its last row in a block, and what is left of that."""
    rows = list(block.grid.body) if block.grid is not None else [_pieces(block)] if block.kind == "text" else []
    taken = 0
    for row in rows:
        rest = _by_column(row, table)
        if not _is_rest(rest, table) or (block.grid is None and not _is_cell_text(rest, table)):
            break
        table = _with_rest(table, rest, vocabulary)
        taken += 1
    if block.grid is None and not taken:
        return table, block
    if taken == len(rows):
        return table, None
    if block.grid is None or not taken:
        return table, block
    first = block.grid.above + block.grid.headers
    grid = (*block.grid.grid[:first], *block.grid.grid[first + taken :])
    return table, _with_grid(block, replace(block.grid, grid=grid))


def _pieces(block: DraftBlock) -> tuple[GridCell, ...]:
    """Return the words of a block of text as cells: those side by side, or in columns one after the other."""
    if block.places:
        return block.places
    columns: list[list[DraftLine]] = []
    for line in block.lines:
        above = columns[-1][-1].box if columns else None
        if above is None or line.box is None or line.box.y0 < above.y0:
            columns.append([line])
        else:
            columns[-1].append(line)
    return tuple(
        GridCell(
            "".join(f"{line.text}{line.joint}" for line in lines).strip(),
            box=around(line.box for line in lines if line.box is not None) if lines[0].box is not None else None,
        )
        for lines in columns
    )


def _by_column(row: Sequence[GridCell], table: TableGrid) -> dict[int, str]:
    """Return the texts of cells by the columns of a table that they are in; empty if they are in none."""
    cells = [(cell, places) for cell, places in distinct(tuple(row)) if cell.text]
    if len(row) == len(table.grid[0]):
        return {places[0]: cell.text for cell, places in cells} if all(len(places) == 1 for _, places in cells) else {}
    starts = _starts(table)
    columns: dict[int, str] = {}
    for cell, _ in cells:
        box = cell.box
        if box is None or not starts:
            return {}
        column = sum(start - _NEAR <= box.x0 for start in starts) - 1
        beyond = starts[column + 1] if column + 1 < len(starts) else float("inf")
        if column < 0 or column in columns or box.x1 > beyond + _NEAR:
            return {}
        columns[column] = cell.text
    return columns


def _starts(table: TableGrid) -> list[float]:
    """Return where the columns of a table begin; nothing if one of them is only in merged cells."""
    starts: dict[int, float] = {}
    for row in table.grid:
        for cell, places in distinct(row):
            if cell.box is not None and cell.text and len(places) == 1:
                starts[places[0]] = min(starts.get(places[0], cell.box.x0), cell.box.x0)
    return [starts[column] for column in sorted(starts)] if len(starts) == len(table.grid[0]) else []


def _is_rest(rest: Mapping[int, str], table: TableGrid) -> bool:
    """Return whether texts are the rest of the cells of a table's last row.

    One goes on with a sentence or a word; or it is alone in its row where all others have a name, and is prose.
    """
    if not rest or not table.body:
        return False
    last = table.grid[-1]
    going_on = [column for column, text in rest.items() if _goes_on(last[column].text, text)]
    if 0 in rest and 0 not in going_on:
        return False
    if not all(column in going_on or _is_prose(last[column].text, text) for column, text in rest.items()):
        return False
    return bool(going_on) or (0 not in rest and len(rest) == 1 and all(row[0].text for row in table.body))


def _is_cell_text(rest: Mapping[int, str], table: TableGrid) -> bool:
    """Return whether a text goes on in cells; a paragraph below the table begins at its left edge."""
    last = table.grid[-1]
    return all(_goes_on(last[column].text, text) for column, text in rest.items()) and list(rest) != [0]


def _goes_on(text: str, rest: str) -> bool:
    return bool(text) and (text.endswith(HYPHENS) or (rest[0].islower() and not ends_sentence(text)))


def _is_prose(text: str, rest: str) -> bool:
    return len(text) >= _PROSE and (not ends_sentence(text) or len(rest) >= _PROSE) and rest[0].isalpha()


def _with_rest(table: TableGrid, rest: Mapping[int, str], vocabulary: frozenset[str]) -> TableGrid:
    """Return a table with the rest of the cells of its last row."""
    cells: dict[int, GridCell] = {}
    for column, text in rest.items():
        cell = table.grid[-1][column]
        upper, lower = join_lines([(cell.text, None), (text, None)], vocabulary)
        cells[id(cell)] = replace(cell, text=f"{upper.text}{upper.joint}{lower.text}")
    return replace(table, grid=tuple(tuple(cells.get(id(cell), cell) for cell in row) for row in table.grid))
