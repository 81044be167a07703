"""Places on a page that is turned by quarters, so that text on its side is level; pure geometry."""

from __future__ import annotations

from dataclasses import astuple, replace

from ingestion.extraction.assemble import DraftBlock
from ingestion.extraction.table_grid import GridCell, TableGrid
from rag_engine.types.document import Box

_QUARTERS = {(1, 0): 0, (0, -1): 1, (-1, 0): 2, (0, 1): 3}


def quarters_of(along: tuple[float, float]) -> int:
    """Return the clockwise quarter turns that make a direction of text level; 0 for slanted text.

    >>> quarters_of((0.0, -1.0)), quarters_of((0.7, 0.7))
    (1, 0)
    """
    x, y = along
    return _QUARTERS.get((round(x), round(y)), 0) if min(abs(x), abs(y)) < 0.02 else 0


def turned(box: Box, quarters: int, width: float, height: float) -> Box:
    """Return a box of a page of this size on the page turned clockwise.

    >>> turned(Box(10, 20, 30, 80), 1, 600, 800)
    Box(x0=720, y0=10, x1=780, y1=30)
    """
    for _ in range(quarters % 4):
        box = Box(height - box.y1, box.x0, height - box.y0, box.x1)
        width, height = height, width
    return box


def size_of(quarters: int, width: float, height: float) -> tuple[float, float]:
    """Return the width and height of a page turned by quarters."""
    return (height, width) if quarters % 2 else (width, height)


def turned_back(box: Box, quarters: int, width: float, height: float) -> Box:
    """Return a box of a turned page on the page itself, which has this size."""
    back = turned(box, -quarters, *size_of(quarters, width, height))
    return Box(*(round(edge, 2) for edge in astuple(back)))


def block_turned_back(block: DraftBlock, quarters: int, width: float, height: float) -> DraftBlock:
    """Return a block that was read on a turned page, with its places on the page of this size."""

    def back(box: Box | None) -> Box | None:
        return box and turned_back(box, quarters, width, height)

    grid = block.grid and _grid_turned_back(block.grid, quarters, width, height)
    return replace(block, lines=tuple(replace(line, box=back(line.box)) for line in block.lines), grid=grid)


def _grid_turned_back(table: TableGrid, quarters: int, width: float, height: float) -> TableGrid:
    """Return a table with its cells on the page itself; a merged cell stays one."""
    cells: dict[int, GridCell] = {}
    for cell in (cell for row in table.grid for cell in row):
        if id(cell) not in cells:
            box = cell.box and turned_back(cell.box, quarters, width, height)
            cells[id(cell)] = replace(cell, box=box)
    return replace(table, grid=tuple(tuple(cells[id(cell)] for cell in row) for row in table.grid))
