"""XLSX by openpyxl: one page per sheet."""

from __future__ import annotations

import datetime
import re
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from ingestion.extraction.assemble import Draft, DraftBlock, one_line, paragraph
from ingestion.extraction.formats.refusals import damaged
from ingestion.extraction.formats.zip_container import UNPACKING_ERRORS, Package, open_package
from ingestion.extraction.runs import Look, Run, left_out, standing
from ingestion.extraction.table_grid import GridCell, table_of
from ingestion.extraction.table_text import table_block
from ingestion.file_reading import ExtractionLimits
from rag_engine.messages import Message

_MERGED = re.compile(rb'<(?:\w+:)?mergeCell\s+ref="([A-Z]{1,3}\d{1,7}:[A-Z]{1,3}\d{1,7})"')
_ROW = re.compile(rb'<(?:\w+:)?row\b[^>]{0,200}?\sr="(\d{1,7})"[^>]{0,200}>')
_COLUMN = re.compile(rb"<(?:\w+:)?col\b[^>]{0,300}>")
_HIDDEN = re.compile(rb'\shidden="(?:1|true)"')
_EDGES = re.compile(rb'\s(min|max)="(\d{1,5})"')
_CHUNK = 1 << 20
_LONGEST_REFERENCE = 400
# Excel takes no more.
_MOST_COLUMNS = 16_384
_MOST_MERGED = 20_000
# Currencies and units of a number's format: "€", [$EUR], [$₺-41F]; not colours, conditions and fillers.
_UNIT = re.compile(r'"([^"]*)"|\[\$([^\]-]*)[^\]]*\]|\[[^\]]*\]|[_*].|\\(.)|([€$£¥₺%])')
_HEAD_ROWS = 8
_SHIFTS = {"superscript": Look.RAISED, "subscript": Look.LOWERED}
# In a table's text each row has the names of its columns.
_NAMED_AGAIN = 3

# Rows and columns that a cell covers, by its row and column from 1.
_Spans = dict[tuple[int, int], tuple[int, int]]


@dataclass(frozen=True, slots=True)
class _Sheet:
    """Merged cells, and hidden rows and columns from 1. Read row by row, openpyxl passes over them."""

    spans: _Spans
    rows: frozenset[int] = frozenset()
    columns: frozenset[int] = frozenset()


def extract_xlsx(path: Path, limits: ExtractionLimits) -> Draft:
    """Return the blocks of an XLSX, its title and its number of sheets.

    The blocks are sheet names and rows; a formula gives its last value.
    """
    from openpyxl import load_workbook
    from openpyxl.utils.exceptions import InvalidFileException

    blocks: list[DraftBlock] = []
    notes: list[Message] = []
    left = limits.max_characters // _NAMED_AGAIN
    with open_package(path, limits) as package, warnings.catch_warnings(), _rich_text():
        # openpyxl warns of styles and extensions it drops; none of them holds text.
        warnings.simplefilter("ignore")
        try:
            workbook = load_workbook(path, read_only=True, data_only=True, rich_text=True)
            for number, sheet in enumerate(workbook.worksheets, 1):
                # Some programs declare A1 as the range of a full sheet, and openpyxl would stop there.
                sheet.reset_dimensions()
                hidden = sheet.sheet_state != "visible"
                blocks.append(paragraph([Run(sheet.title, Look.HIDDEN if hidden else Look.PLAIN)], number, "heading"))
                part = str(getattr(sheet, "_worksheet_path", "")).lstrip("/")
                rows, cut = _fitting(_rows(sheet, _passed_over(package, part), hidden=hidden), left)
                left -= sum(map(_characters, rows))
                if cut:
                    notes.append(
                        Message(
                            "Sheet “{sheet}” was read as far as row {row:,}; split it to have the rest.",
                            sheet=sheet.title,
                            row=len(rows),
                        )
                    )
                blocks.append(table_block(table_of(rows), number))
            title = workbook.properties.title or ""
            workbook.close()
        except (InvalidFileException, SyntaxError, LookupError, ValueError, TypeError, *UNPACKING_ERRORS) as error:
            raise damaged(path, error) from error
    return Draft(blocks, title, len(workbook.worksheets), tuple(notes))


@contextmanager
def _rich_text() -> Iterator[None]:
    """Have openpyxl keep what is struck within the cells of a sheet also where it reads row by row."""
    from openpyxl.worksheet import _read_only
    from openpyxl.worksheet._reader import WorkSheetParser

    _read_only.WorkSheetParser = partial(WorkSheetParser, rich_text=True)  # type: ignore[attr-defined]
    try:
        yield
    finally:
        _read_only.WorkSheetParser = WorkSheetParser  # type: ignore[attr-defined]


def _fitting(rows: Iterable[list[GridCell]], most: int) -> tuple[list[list[GridCell]], bool]:
    """Return the first rows that fit in `most` characters, and whether all fit."""
    kept: list[list[GridCell]] = []
    for row in rows:
        most -= _characters(row)
        if most < 0:
            return kept, True
        kept.append(row)
    return kept, False


def _characters(row: Sequence[GridCell]) -> int:
    """Return the characters of a row; an empty cell costs as much as one."""
    return sum(len(cell.text) + 1 for cell in row)


def _rows(sheet: Any, passed_over: _Sheet, *, hidden: bool) -> Iterator[list[GridCell]]:
    """Yield the rows with the merged cells, each once and not in the places that it covers."""
    from openpyxl.cell.rich_text import CellRichText

    spans = passed_over.spans
    # Asking each cell takes longer.
    looks = any(font.strike or font.vertAlign in _SHIFTS for font in sheet.parent._fonts)  # noqa: SLF001
    covered = {
        (row + down, column + across)
        for (row, column), (rows, columns) in spans.items()
        for down in range(rows)
        for across in range(columns)
        if down or across
    }
    for number, row in enumerate(sheet.iter_rows(), 1):
        cells = []
        for column, cell in enumerate(row, 1):
            if (number, column) in covered:
                continue
            unseen = hidden or number in passed_over.rows or column in passed_over.columns
            bold = number <= _HEAD_ROWS and bool(cell.value and cell.font.bold)
            if unseen or (cell.value is not None and (looks or isinstance(cell.value, CellRichText))):
                runs = [Run(run.text, run.look | Look.HIDDEN) if unseen else run for run in _runs(cell)]
                made = GridCell(one_line(standing(runs)), bold=bold, left_out=left_out(runs))
            else:
                made = GridCell(_printed(cell), bold=bold)
            if spans and (number, column) in spans:
                rows, columns = spans[number, column]
                made = replace(made, rows=rows, columns=columns)
            cells.append(made)
        yield cells


def _passed_over(package: Package, part: str) -> _Sheet:
    """Return what openpyxl passes over in a sheet."""
    from openpyxl.utils.cell import range_boundaries

    spans: _Spans = {}
    rows: set[int] = set()
    columns: set[int] = set()
    if part not in package.names:
        return _Sheet(spans)
    kept = b""
    with package.stream(part) as stream:
        while chunk := stream.read(_CHUNK):
            read = kept + chunk
            for found in _MERGED.finditer(read):
                first, top, last, bottom = (edge or 1 for edge in range_boundaries(found[1].decode("ascii")))
                # A long one is the frame of a sheet and no cell.
                if (bottom - top + 1) * (last - first + 1) <= _MOST_MERGED and len(spans) < _MOST_MERGED:
                    spans[top, first] = bottom - top + 1, last - first + 1
            if _HIDDEN.search(read):
                rows.update(int(found[1]) for found in _ROW.finditer(read) if _HIDDEN.search(found[0]))
                for found in _COLUMN.finditer(read):
                    edges = dict(_EDGES.findall(found[0]))
                    if _HIDDEN.search(found[0]) and edges.keys() == {b"min", b"max"}:
                        columns.update(range(int(edges[b"min"]), min(int(edges[b"max"]), _MOST_COLUMNS) + 1))
            kept = chunk[-_LONGEST_REFERENCE:]
    return _Sheet(spans, frozenset(rows), frozenset(columns))


def _runs(cell: Any) -> Iterator[Run]:
    """Yield the runs of a cell: those of rich text, or the whole."""
    from openpyxl.cell.rich_text import CellRichText, TextBlock

    whole = Look.PLAIN if cell.value is None else _look_of(cell.font)
    if not isinstance(cell.value, CellRichText):
        yield Run(_printed(cell), whole)
        return
    for part in cell.value:
        yield Run(part.text, _look_of(part.font)) if isinstance(part, TextBlock) else Run(str(part), whole)


def _look_of(font: Any) -> Look:
    return (Look.STRUCK if font.strike else Look.PLAIN) | _SHIFTS.get(font.vertAlign, Look.PLAIN)


def _printed(cell: Any) -> str:
    """Return the text of a cell, a number with the unit of its format."""
    value = cell.value
    if not isinstance(value, int | float) or isinstance(value, bool) or cell.number_format == "General":
        return one_line(shown(value))
    unit = one_line("".join("".join(found) for found in _UNIT.findall(cell.number_format.partition(";")[0])))
    if unit == "%":
        return f"{100 * value:.10g}%"
    return f"{shown(value)} {unit}".strip()


def shown(value: object) -> str:
    """Return the text of a cell as a spreadsheet shows it.

    It is "" for an empty cell, without a decimal point for whole numbers, and in ISO form for dates.

    >>> shown(12.0), shown(datetime.datetime(2024, 3, 1)), shown(None)
    ('12', '2024-03-01', '')
    """
    if value is None:
        return ""
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    if isinstance(value, datetime.datetime) and value.time() == datetime.time():
        return value.date().isoformat()
    return str(value)
