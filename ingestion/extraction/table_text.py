"""Text of a table: a sentence for each row, under the names of its columns.

A figure without the names of its row and its column says nothing. Each row therefore repeats the names of its columns,
and can be found, quoted and marked alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from ingestion.extraction.assemble import DraftBlock, DraftLine, one_line
from ingestion.extraction.table_grid import (
    GridCell,
    GridRow,
    TableGrid,
    around,
    distinct,
    has_unit,
    is_one_cell,
    table_of,
    texts_of,
    unit_in,
)

# Names longer than this in sum would be most of every row; then they are said once.
_LONGEST_HEADER = 700
_LONGEST_LABEL = 80
_LONGEST_CAPTION = 160
# Points by which the labels of a group are further right than its name.
_INDENT = 2.0
_EMPTY = GridCell("")
_FIGURE = re.compile(r"\d")
_ENDED = re.compile(r"[!?;:]$")
_NUMBERED = re.compile(r"(?:[A-Z]|[IVX]{1,5}|\d{1,2})\.\s")
_ITEM = re.compile(r"\(?(?:\d{1,3}(?:\.\d{1,3})*|[A-Za-z]{1,2}|[ivxIVX]{1,5})[.)]|\d{1,2}|[•▪●○■□◦‣–—*-]")


def table(rows: Iterable[Iterable[str]], page: int = 1, headers: int | None = None) -> DraftBlock:
    """Return the block of a table without merged cells; its first `headers` rows name the columns.

    >>> [line.text for line in table([["Equipment", "Cost"], ["Drone", "10,000"]], headers=1).lines]
    ['Equipment | Cost', 'Equipment: Drone; Cost: 10,000']
    """
    return table_block(table_of([[GridCell(one_line(text)) for text in row] for row in rows], headers), page)


def table_block(grid: TableGrid, page: int = 1, font_size: float | None = None) -> DraftBlock:
    """Return the block of a table, with its cells."""
    return DraftBlock(page, "table", table_lines(grid), font_size, grid, grid.left_out)


def with_caption_units(blocks: Iterable[DraftBlock]) -> Iterator[DraftBlock]:
    """Yield the blocks, where a table takes the unit of its figures from its caption.

    An example of such a caption is "Costs in million euros". A caption gives no unit to a table whose columns have
    units.
    """
    caption = unit = ""
    for block in blocks:
        if block.grid is None:
            text = " ".join(line.text for line in block.lines)
            # A block of struck words alone stands between nothing.
            caption = caption if not text else text if len(text) <= _LONGEST_CAPTION else ""
            yield block
            continue
        # A table that goes on from the page before has its caption there.
        unit = block.grid.unit or (unit if block.grid.repeated else unit_in(caption))
        caption = ""
        if unit == block.grid.unit or any(map(has_unit, block.grid.names())):
            yield block
        else:
            grid = replace(block.grid, unit=unit)
            yield replace(block, lines=table_lines(grid), grid=grid)


def table_lines(table: TableGrid) -> tuple[DraftLine, ...]:
    """Return the lines of a table: those above its header, its header, its rows with column names.

    A row is a paragraph by itself, which no sentence crosses. A row that is one cell names a group of rows, and each
    row of the group repeats it. The same holds for a row with a label alone, further left than the labels below.
    """
    names = table.names() if table.grid else ()
    names = names if sum(map(len, names)) <= _LONGEST_HEADER else ("",) * len(names)
    lines = [_line(row, " | ".join(texts_of(row))) for row in table.grid[: table.above]]
    header = [_line(row, " | ".join(texts_of(row))) for row in table.header]
    if table.repeated:
        # Where its rows do not repeat it, it has to be said, and has no place on this page.
        header = [] if any(names) else [DraftLine(line.text, joint="\n\n") for line in header]
    lines += header
    group, inner = "", _EMPTY
    for row, following in pairwise((*table.body, ())):
        texts = texts_of(row)
        if [text for text in names if text] == texts or not texts:
            continue
        if len(row) > 1 and is_one_cell(row):
            group, inner = texts[0] if len(texts[0]) <= _LONGEST_LABEL else "", _EMPTY
            lines.append(_line(row, texts[0]))
            continue
        if inner.text and not _is_further_right(row, inner):
            inner = _EMPTY
        if texts == [row[0].text] and len(texts[0]) <= _LONGEST_LABEL and _is_further_right(following, row[0]):
            inner = row[0]
        sentence = _sentence(row, names, alone=len(table.grid) == 1)
        sentence = f"{sentence} ({table.unit})" if table.unit and _FIGURE.search(sentence) else sentence
        # What stands out below a group is the sum of several, what has a number like its own the next.
        closed = _NUMBERED.match(group) and _NUMBERED.match(row[0].text)
        grouped = group and not closed and not (row[0].bold and row[0].text)
        under = [group] * bool(grouped) + [inner.text] * (inner.text != "" and inner is not row[0])
        lines.append(_line(row, " – ".join([*(name.rstrip(":") for name in under), sentence])))
    return tuple(lines)


def _is_further_right(row: GridRow, label: GridCell) -> bool:
    """Return whether a row's own label is further right than another, as under the name of a group."""
    first = row[0].box if len(row) > 2 and row[0].text else None
    return first is not None and label.box is not None and first.x0 > label.box.x0 + _INDENT


def _sentence(row: GridRow, names: Sequence[str], *, alone: bool) -> str:
    """Return the sentence of a row, such as "Equipment: Drone; Cost: 10,000 euros".

    Without names of columns it is "Drone: 10,000 euros".
    """
    cells = list(distinct(row))
    texts = [cell.text for cell, _ in cells if cell.text]
    if not any(names):
        if alone or len(row) != 2 or len(texts) != 2 or len(texts[0]) > _LONGEST_LABEL or _ENDED.search(texts[0]):
            return " | ".join(texts)
        # The number or the bullet of an item names nothing.
        return f"{texts[0]} {texts[1]}" if _ITEM.fullmatch(texts[0]) else ": ".join(texts)
    parts = []
    for cell, places in cells:
        name = " / ".join(dict.fromkeys(names[place] for place in places if names[place])).rstrip(":")
        if cell.text:
            parts.append(f"{name}: {cell.text}" if name and name != cell.text else cell.text)
    if names[0] or not row[0].text or len(parts) < 2:
        return "; ".join(parts)
    # The column of the rows' own names often has none.
    return f"{parts[0].rstrip(':')} – {'; '.join(parts[1:])}"


def _line(row: GridRow, text: str) -> DraftLine:
    boxes = [cell.box for cell, _ in distinct(row) if cell.box is not None and cell.text]
    return DraftLine(text, around(boxes) if boxes else None, "\n\n", row[0].page)
