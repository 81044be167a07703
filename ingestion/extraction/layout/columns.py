"""Rows whose cells stand in columns without rules to a table; pure geometry."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from ingestion.extraction.layout.text_rows import TextRow
from ingestion.extraction.table_grid import GridCell, TableGrid, table_of, without_leader
from rag_engine.types import Box


@dataclass(slots=True)
class _Column:
    """The horizontal extent of a column."""

    x0: float
    x1: float


def aligned_table(rows: Sequence[TextRow], page: int) -> TableGrid:
    """Return the table of rows of a page, each cell in the column that it stands in.

    The columns are those of the rows that have as many cells as most; a cell that reaches over several is merged.
    """
    columns = _columns(rows)
    laid: list[list[GridCell]] = []
    for row in rows:
        places = [replace(cell, text=without_leader(cell.text), page=page) for cell in _cells(row)]
        if laid and len(places) == 1 and _continues(places[0], laid[-1], columns):
            laid[-1] = _continued(laid[-1], places[0], columns)
            continue
        placed = _placed(places, columns)
        if laid and _ends_label(laid[-1], placed):
            above = laid.pop()[0]
            label = replace(placed[0], text=f"{above.text} {placed[0].text}", box=_around(above.box, placed[0].box))
            placed = [label, *placed[1:]]
        laid.append(placed)
    return table_of(laid, aligned=True)


def _ends_label(above: Sequence[GridCell], row: Sequence[GridCell]) -> bool:
    """Return whether a row begins with the rest of a label that is alone in the row above."""
    alone = bool(above[0].text) and not any(cell.text for cell in above[1:])
    return alone and above[0].columns == row[0].columns == 1 and row[0].text[:1].islower()


def _cells(row: TextRow) -> Sequence[GridCell]:
    return row.places or (GridCell(row.text, box=row.box, bold=row.bold),)


def _columns(rows: Sequence[TextRow]) -> list[_Column]:
    counts = Counter(len(row.places) for row in rows if len(row.places) > 1)
    usual = max(counts, key=lambda count: (counts[count], count))
    columns: list[_Column] = []
    for row in rows:
        if len(row.places) != usual:
            continue
        boxes = [cell.box for cell in row.places if cell.box is not None]
        if not columns:
            columns = [_Column(box.x0, box.x1) for box in boxes]
            continue
        for column, box in zip(columns, boxes, strict=True):
            # Rows that are not aligned with the others do not widen a column over its neighbours.
            if box.x0 < column.x1 and column.x0 < box.x1:
                column.x0, column.x1 = min(column.x0, box.x0), max(column.x1, box.x1)
    return columns


def _placed(cells: Sequence[GridCell], columns: Sequence[_Column]) -> list[GridCell]:
    """Return the cells of a row with empty ones in the columns that none stands in."""
    row: list[GridCell] = []
    at = 0
    for number, cell in enumerate(cells):
        first, beyond = _reach(cell, columns)
        # As many places as there are cells to come are left free.
        first = max(at, min(first, len(columns) - (len(cells) - number)))
        beyond = max(first + 1, min(beyond, len(columns) - (len(cells) - number - 1)))
        row += [GridCell("") for _ in range(first - at)]
        # A line of words over all columns is none of the table's names, unless it stands out.
        single = len(cells) == 1 and not cell.bold
        row.append(cell if single else replace(cell, columns=beyond - first))
        row += [GridCell("") for _ in range(beyond - first - 1)] if single else []
        at = beyond
    return row


def _reach(cell: GridCell, columns: Sequence[_Column]) -> tuple[int, int]:
    """Return the first column that a cell stands in, and the one behind the last; else those of the nearest."""
    box = cell.box
    if box is None:
        return 0, 1
    inside = [at for at, one in enumerate(columns) if box.x0 < one.x1 - 1 and one.x0 + 1 < box.x1]
    if inside:
        return inside[0], inside[-1] + 1
    nearest = min(range(len(columns)), key=lambda at: abs(columns[at].x0 + columns[at].x1 - box.x0 - box.x1))
    return nearest, nearest + 1


def _continues(cell: GridCell, above: Sequence[GridCell], columns: Sequence[_Column]) -> bool:
    """Return whether a cell that is alone in its row is the rest of one in the row above."""
    first, beyond = _reach(cell, columns)
    upper = _at(above, first)
    return beyond == first + 1 and upper is not None and bool(upper.text) and cell.text[:1].islower()


def _continued(above: Sequence[GridCell], cell: GridCell, columns: Sequence[_Column]) -> list[GridCell]:
    upper = _at(above, _reach(cell, columns)[0])
    return [
        replace(one, text=f"{one.text} {cell.text}", box=_around(one.box, cell.box)) if one is upper else one
        for one in above
    ]


def _at(row: Sequence[GridCell], column: int) -> GridCell | None:
    reached = 0
    for cell in row:
        reached += cell.columns
        if column < reached:
            return cell
    return None


def _around(a: Box | None, b: Box | None) -> Box | None:
    if a is None or b is None:
        return a or b
    return Box(min(a.x0, b.x0), min(a.y0, b.y0), max(a.x1, b.x1), max(a.y1, b.y1))
