"""XLSX by openpyxl: one page per sheet."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from ingestion.extraction.assemble import Draft, DraftBlock, one_line, paragraph, unread_comments
from ingestion.extraction.formats.refusals import damaged
from ingestion.extraction.formats.sheet_marks import RowColumn, SheetMarks, compute, read_marks, told_formulas
from ingestion.extraction.formats.zip_container import UNPACKING_ERRORS, open_package
from ingestion.extraction.number_format import GENERAL, format_value, general
from ingestion.extraction.runs import Look, Run, left_out, standing
from ingestion.extraction.sheet_tables import NAMED_AGAIN, rows_within, sheet_blocks
from ingestion.extraction.table_grid import GridCell
from ingestion.file_reading import ExtractionLimits
from rag_engine.messages import Message

_ESCAPED = re.compile(r"_x([0-9A-Fa-f]{4})_")
_SHIFTS = {"superscript": Look.RAISED, "subscript": Look.LOWERED}


def extract_xlsx(path: Path, limits: ExtractionLimits) -> Draft:
    """Return the blocks of an XLSX, its title and its number of sheets.

    The blocks are sheet names and rows; a formula gives its last value.
    """
    from openpyxl import load_workbook
    from openpyxl.utils.exceptions import InvalidFileException

    blocks: list[DraftBlock] = []
    notes: list[Message] = []
    left = limits.max_characters // NAMED_AGAIN
    with open_package(path, limits) as package, warnings.catch_warnings(), _rich_text():
        # openpyxl warns of styles and extensions it drops; none of them holds text.
        warnings.simplefilter("ignore")
        try:
            workbook = load_workbook(path, read_only=True, data_only=True, rich_text=True)
            marks = {sheet.title: read_marks(package, _part(sheet)) for sheet in workbook.worksheets}
            computed = compute(path, limits, marks) if any(one.formulas for one in marks.values()) else {}
            for number, sheet in enumerate(workbook.worksheets, 1):
                # Some programs declare A1 as the range of a full sheet, and openpyxl would stop there.
                sheet.reset_dimensions()
                hidden = sheet.sheet_state != "visible"
                blocks.append(paragraph([Run(sheet.title, Look.HIDDEN if hidden else Look.PLAIN)], number, "heading"))
                read = _rows(sheet, marks[sheet.title], computed.get(sheet.title, {}), hidden=hidden)
                rows, left, whole = rows_within(read, left)
                if not whole:
                    notes.append(
                        Message(
                            "Sheet “{sheet}” was read as far as row {row:,}; split it to have the rest.",
                            sheet=sheet.title,
                            row=len(rows),
                        )
                    )
                blocks += sheet_blocks(rows, number)
            notes += unread_comments(package.count(r"xl/(?:[^/]+/)?comments?\d*\.xml", "{*}comment"))
            title = workbook.properties.title or ""
            workbook.close()
        except (InvalidFileException, SyntaxError, LookupError, ValueError, TypeError, *UNPACKING_ERRORS) as error:
            raise damaged(path, error) from error
    notes += told_formulas(sum(one.formulas for one in marks.values()), sum(map(len, computed.values())))
    return Draft(blocks, title, len(workbook.worksheets), tuple(notes))


def _part(sheet: Any) -> str:
    return str(getattr(sheet, "_worksheet_path", "")).lstrip("/")


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


def _rows(
    sheet: Any, marks: SheetMarks, computed: Mapping[RowColumn, str], *, hidden: bool
) -> Iterator[list[GridCell]]:
    """Yield the rows with the merged cells, each once and not in the places that it covers."""
    spans, styles = marks.spans, _Styles(sheet.parent)
    covered = {
        (row + down, column + across)
        for (row, column), (rows, columns) in spans.items()
        for down in range(rows)
        for across in range(columns)
        if down or across
    }
    for number, row in enumerate(sheet.iter_rows(), 1):
        hidden_row = hidden or number in marks.rows
        cells = []
        for column, cell in enumerate(row, 1):
            if covered and (number, column) in covered:
                continue
            # A cell is told from its neighbours by being another object.
            made = GridCell("") if cell.value is None else _cell(cell.value, styles[cell._style_id])  # noqa: SLF001
            if computed and (number, column) in computed:
                made = replace(made, text=one_line(computed[number, column]))
            if hidden_row or column in marks.columns:
                made = GridCell("", left_out=(*left_out([Run(made.text, Look.HIDDEN)]), *made.left_out))
            if spans and (number, column) in spans:
                rows, columns = spans[number, column]
                made = replace(made, rows=rows, columns=columns)
            cells.append(made)
        yield cells


class _Style(NamedTuple):
    """How cells of a style are printed."""

    code: str
    bold: bool
    look: Look


class _Styles(dict[int, _Style]):
    """The styles of a workbook by their numbers, each looked up once."""

    def __init__(self, workbook: Any) -> None:
        super().__init__()
        self._workbook = workbook

    def __missing__(self, number: int) -> _Style:
        from openpyxl.cell.read_only import ReadOnlyCell

        cell = ReadOnlyCell(self._workbook.worksheets[0], 1, 1, "", style_id=number)
        self[number] = _Style(cell.number_format, bool(cell.font.bold), _look_of(cell.font))
        return self[number]


def _cell(value: Any, style: _Style) -> GridCell:
    if type(value) is str:
        value = _unescaped(value)
    if style.look or isinstance(value, list):
        runs = list(_runs(value, style))
        return GridCell(one_line(standing(runs)), bold=style.bold, left_out=left_out(runs))
    text = one_line(value if type(value) is str and style.code == GENERAL else format_value(value, style.code))
    if not text and value:
        # Its format shows nothing (";;;").
        return GridCell("", left_out=left_out([Run(general(value), Look.HIDDEN)]))
    return GridCell(text, bold=style.bold)


def _unescaped(text: str) -> str:
    """Return a text with the characters that Excel writes by their numbers."""
    return _ESCAPED.sub(lambda found: chr(int(found[1], 16)), text) if "_x" in text else text


def _runs(value: Any, style: _Style) -> Iterator[Run]:
    """Yield the runs of a cell: those of rich text, or the whole."""
    from openpyxl.cell.rich_text import CellRichText, TextBlock

    if not isinstance(value, CellRichText):
        yield Run(format_value(value, style.code), style.look)
        return
    for part in value:
        text, look = (part.text, _look_of(part.font)) if isinstance(part, TextBlock) else (str(part), style.look)
        yield Run(_unescaped(text), look)


def _look_of(font: Any) -> Look:
    return (Look.STRUCK if font.strike else Look.PLAIN) | _SHIFTS.get(font.vertAlign, Look.PLAIN)
