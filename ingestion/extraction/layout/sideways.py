"""Text that is set on its side: turned level to be read, and the boxes of what was read turned back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from ingestion.extraction.layout.quarter_turns import size_of, turned
from ingestion.extraction.layout.ruled_tables import PlacedWord, holds, may_hold_table, rows_with_tables
from ingestion.extraction.layout.ruling_lines import Frame, Shape, frames_of
from ingestion.extraction.layout.text_rows import PrintedLine, TextRow, rows_of
from rag_engine.types.document import Box

# Sizes of type by which the lines of a block are apart at most.
_LEADING = 0.5
# The words in frames of a page turned by quarters, and the boxes of its bold print.
WordsIn = Callable[[Sequence[Frame], int], tuple[Sequence[PlacedWord], Sequence[Box]]]


def page_rows(
    lines: Sequence[PrintedLine],
    frames: Sequence[Frame],
    drawn: Sequence[Shape],
    size: tuple[float, float],
    number: int,
    words_in: WordsIn,
) -> tuple[TextRow, ...]:
    """Return the rows of a page of this size with level frames, those on their side too."""
    if not any(line.turned for line in lines):
        return _side_rows(lines, frames, 0, number, words_in)
    width, height = size
    lines = _with_cells_of_tables(lines, frames)
    level = [line for line in lines if not line.turned]
    rows = _side_rows(level, frames, 0, number, words_in)
    for quarters in sorted({line.turned for line in lines} - {0}):
        turn = partial(turned, quarters=quarters, width=width, height=height)
        side = in_blocks([replace(line, box=turn(line.box)) for line in lines if line.turned == quarters], quarters)
        shapes = [replace(shape, box=turn(shape.box)) for shape in drawn]
        sideways = _side_rows(side, frames_of(shapes, *size_of(quarters, width, height)), quarters, number, words_in)
        rows = _in_printed_order(rows, sideways, side[0].block)
    return rows


def _side_rows(
    lines: Sequence[PrintedLine], frames: Sequence[Frame], quarters: int, number: int, words_in: WordsIn
) -> tuple[TextRow, ...]:
    """Return the rows of the lines of a page that have one direction."""
    frames = [frame for frame in frames if may_hold_table(frame, lines)]
    return rows_with_tables(lines, frames, *words_in(frames, quarters), number) if frames else rows_of(lines)


def in_blocks(lines: Sequence[PrintedLine], quarters: int) -> list[PrintedLine]:
    """Return lines, those of one side that are right below each other in one block.

    Their boxes are those on the page turned by these quarters. MuPDF parts many that run upwards.
    """
    joined: list[PrintedLine] = []
    for line in lines:
        above = joined[-1] if joined else line
        gap = line.box.y0 - above.box.y1
        near = (
            line.turned == above.turned == quarters
            and line.box.y0 > above.box.y0 - 0.5 * line.size
            and gap < _LEADING * line.size
        )
        joined.append(replace(line, block=above.block) if near else line)
    return joined


def _with_cells_of_tables(lines: Sequence[PrintedLine], frames: Sequence[Frame]) -> list[PrintedLine]:
    """Return the lines of a page, where those on their side in a level table count as level."""
    tables = []
    for frame in frames:
        inside = [line for line in lines if holds(frame.box, line.box)]
        if 2 * sum(line.turned > 0 for line in inside) <= len(inside):
            tables.append(frame.box)
    return [
        replace(line, turned=0) if line.turned and any(holds(box, line.box) for box in tables) else line
        for line in lines
    ]


def _in_printed_order(level: Sequence[TextRow], sideways: Sequence[TextRow], first: int) -> tuple[TextRow, ...]:
    """Return the rows of a page as its blocks follow each other; `first` is the first block on its side.

    A table is where the rows before it end, since it has no block of the library's.
    """
    rows: list[TextRow] = []
    waiting = list(reversed(level))
    reached = first
    for row in sideways:
        reached = max(reached, row.block)
        while waiting and waiting[-1].block < reached:
            rows.append(waiting.pop())
        rows.append(row)
    return (*rows, *reversed(waiting))
