"""Tables of law as XML: HTML's, Formex's and CALS's."""

from __future__ import annotations

from collections.abc import Callable
from itertools import takewhile

from lxml import etree

from ingestion.extraction.assemble import DraftBlock, one_line
from ingestion.extraction.formats.law.schemes import Scheme, local_name
from ingestion.extraction.formats.zip_container import Element, whole_number
from ingestion.extraction.runs import Run, left_out, standing
from ingestion.extraction.table_grid import GridCell, table_of
from ingestion.extraction.table_text import table_block

_Read = Callable[[Element], list[Run]]


def rows_of(table: Element, scheme: Scheme) -> list[Element]:
    """Return the rows of a table; those of one nested in a cell belong to that cell."""
    rows = [row for row in table.iter(etree.Element) if scheme.role(row) == "row"]
    return [row for row in rows if next(one for one in row.iterancestors() if scheme.role(one) == "table") is table]


def law_table(rows: list[Element], scheme: Scheme, read: _Read) -> DraftBlock:
    """Return the block of a table; `read` gives the words of a cell."""
    headers = sum(1 for _ in takewhile(_names_columns, rows))
    cells = [[_cell(cell, read(cell)) for cell in row if scheme.role(cell) == "cell"] for row in rows]
    return table_block(table_of(cells, headers or None))


def _cell(cell: Element, runs: list[Run]) -> GridCell:
    columns = whole_number(cell.get("colspan") or cell.get("COLSPAN"), _columns_between(cell))
    # CALS counts the rows below the first.
    rows = whole_number(cell.get("rowspan") or cell.get("ROWSPAN"), whole_number(cell.get("morerows"), 0) + 1)
    bold = local_name(cell) == "th"
    return GridCell(one_line(standing(runs)), max(1, columns), max(1, rows), bold=bold, left_out=left_out(runs))


def _names_columns(row: Element) -> bool:
    """Return whether a row is in the head of its table or has only head cells."""
    parent = row.getparent()
    cells = [cell for cell in row if isinstance(cell.tag, str)]
    all_heads = bool(cells) and all(local_name(cell) == "th" for cell in cells)
    in_head = parent is not None and local_name(parent) == "thead"
    return all_heads or in_head or row.get("TYPE") == "HEADER"


def _columns_between(cell: Element) -> int:
    """Return over how many columns a cell of CALS goes, whose first and last column have names."""
    group = next((one for one in cell.iterancestors() if local_name(one) == "tgroup"), None)
    names = [] if group is None else [one.get("colname") for one in group if local_name(one) == "colspec"]
    first, last = cell.get("namest"), cell.get("nameend")
    return names.index(last) - names.index(first) + 1 if first in names and last in names else 1
