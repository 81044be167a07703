"""Reading order for lines that come without one."""

from __future__ import annotations

from collections.abc import Sequence

from ingestion.types import OcrLine


def columns_first(lines: Sequence[OcrLine]) -> tuple[OcrLine, ...]:
    """Return lines column by column, each column a block.

    From the top down, a line continues the only open column above it; where columns part, the right one
    opens a block of its own; a line that spans several columns closes them and opens the next.
    """
    columns: list[list[OcrLine]] = []
    closed: set[int] = set()
    for row in _rows(lines):
        for line in row:
            above = [
                index
                for index, column in enumerate(columns)
                if index not in closed and column[-1].box.x0 < line.box.x1 and line.box.x0 < column[-1].box.x1
            ]
            if len(above) == 1:
                columns[above[0]].append(line)
            else:
                closed.update(above)
                columns.append([line])
    return tuple(OcrLine(line.text, line.box, block) for block, column in enumerate(columns) for line in column)


def _rows(lines: Sequence[OcrLine]) -> list[list[OcrLine]]:
    """Return the rows, each from left to right: a line whose top is above the middle of a row's first line is in it."""
    rows: list[list[OcrLine]] = []
    for line in sorted(lines, key=lambda line: line.box.y0):
        if rows and line.box.y0 < (rows[-1][0].box.y0 + rows[-1][0].box.y1) / 2:
            rows[-1].append(line)
        else:
            rows.append([line])
    return [sorted(row, key=lambda line: line.box.x0) for row in rows]
