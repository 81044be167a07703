"""Workbooks (openpyxl) and CSV whose cells are never formulas; the same content gives the same bytes."""

from __future__ import annotations

import csv
import datetime
import io
import re
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ingestion.spreadsheets.row import column_letter

if TYPE_CHECKING:
    from openpyxl.cell import Cell as WorksheetCell
    from openpyxl.cell import MergedCell
    from openpyxl.worksheet.worksheet import Worksheet

_MOMENT = datetime.datetime(2000, 1, 1)
_ZIP_MOMENT = (1980, 1, 1, 0, 0, 0)
_MODIFIED = re.compile(rb"(<dcterms:modified[^>]*>)[^<]*(</dcterms:modified>)")
_LOOKS_ESCAPED = re.compile(r"_(?=x[0-9A-Fa-f]{4}_)")
# Excel opens no sheet with more.
_MOST_LINKS = 65_000
# What Excel cuts off, in the UTF-16 units in which it counts.
LONGEST = 32_767
_ILLEGAL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
# Spreadsheets take text that begins like this for a formula; full-width signs count in East Asian settings.
_FORMULA = re.compile(r"'*(?:[\t\r\n]|[ \u00a0]*[=+\-@＝＋－＠])")


@dataclass(frozen=True, slots=True)
class Cell:
    """A text or number, and the address that it leads to; grey where it says less than the others."""

    value: str | float | None
    link: str = ""
    grey: bool = False


@dataclass(frozen=True, slots=True)
class Choices:
    """A drop-down for the cells of a column.

    The rows `first` to `last` of the first column of another sheet.

    A `strict` one takes nothing else; the hint is shown when a cell is entered.
    """

    sheet: str
    first: int
    last: int
    strict: bool
    hint: str


@dataclass(frozen=True, slots=True)
class Sheet:
    """A sheet by its columns (heading, width in characters) and rows.

    A hidden one is for the import alone.

    `choices` gives columns a drop-down; `fills` gives columns colours (RRGGBB) by the text of their cells.
    """

    name: str
    columns: tuple[tuple[str, int], ...]
    rows: list[Sequence[Cell]] = field(default_factory=list)
    hidden: bool = False
    choices: Mapping[str, Choices] = field(default_factory=dict)
    fills: Mapping[str, Mapping[str, str]] = field(default_factory=dict)


def to_workbook(sheets: Sequence[Sheet]) -> bytes:
    """Return the bytes of an .xlsx with a frozen header, filters, wrapped text and links."""
    from openpyxl import Workbook

    workbook = Workbook()
    workbook.remove(workbook.worksheets[0])
    for sheet in sheets:
        written = workbook.create_sheet(sheet.name)
        _write_cells(written, sheet)
        if sheet.rows:
            _add_choices(written, sheet)
            _add_fills(written, sheet)
        if sheet.hidden:
            written.sheet_state = "hidden"
        written.freeze_panes = "B2"
        written.auto_filter.ref = f"A1:{column_letter(len(sheet.columns) - 1)}{len(sheet.rows) + 1}"
    workbook.properties.creator = "Sextant"
    workbook.properties.created = _MOMENT
    packed = io.BytesIO()
    workbook.save(packed)
    return _timeless(packed)


def _write_cells(written: Worksheet, sheet: Sheet) -> None:
    from openpyxl.styles import Alignment, Font, PatternFill

    wrapped = Alignment(wrap_text=True, vertical="top")
    header_font, header_fill = Font(bold=True, color="FFFFFF"), PatternFill("solid", fgColor="1A7F3C")
    link_font, grey_font = Font(color="0563C1", underline="single"), Font(color="6B6B6B", italic=True)
    for number, (name, width) in enumerate(sheet.columns, 1):
        heading = written.cell(1, number)
        _write_text(heading, name)
        heading.font, heading.fill, heading.alignment = header_font, header_fill, wrapped
        written.column_dimensions[column_letter(number - 1)].width = width
    links = 0
    for row, cells in enumerate(sheet.rows, 2):
        for column, given in enumerate(cells, 1):
            if given.value is None or given.value == "":
                continue
            cell = written.cell(row, column)
            if isinstance(given.value, str):
                _write_text(cell, given.value)
            else:
                cell.value = given.value
            if given.link and links < _MOST_LINKS:
                cell.hyperlink = given.link
                cell.font = link_font
                links += 1
            elif given.grey:
                cell.font = grey_font
            cell.alignment = wrapped


def _write_text(cell: WorksheetCell | MergedCell, text: str) -> None:
    """Write a text as one, in Excel's eyes too: openpyxl guesses formulas and errors from it."""
    cell.value = _LOOKS_ESCAPED.sub("_x005F_", text)
    cell.data_type = "s"
    cell.quotePrefix = True


def _cells_of(sheet: Sheet, heading: str) -> str:
    """Return the range of the cells below a heading."""
    letter = column_letter([name for name, _ in sheet.columns].index(heading))
    return f"{letter}2:{letter}{len(sheet.rows) + 1}"


def _add_choices(written: Worksheet, sheet: Sheet) -> None:
    from openpyxl.worksheet.datavalidation import DataValidation

    for heading, choices in sheet.choices.items():
        validation = DataValidation(
            type="list",
            formula1=f"'{choices.sheet}'!$A${choices.first}:$A${choices.last}",
            allow_blank=True,
            showErrorMessage=choices.strict,
            showInputMessage=True,
            error=f"Choose a value of the sheet {choices.sheet}.",
            promptTitle=heading,
            prompt=choices.hint,
        )
        validation.add(_cells_of(sheet, heading))
        written.add_data_validation(validation)


def _add_fills(written: Worksheet, sheet: Sheet) -> None:
    """Colour cells by conditions, so that the colour follows a person's entry."""
    from openpyxl.formatting.rule import Rule
    from openpyxl.styles import PatternFill
    from openpyxl.styles.differential import DifferentialStyle

    for heading, colours in sheet.fills.items():
        for text, colour in colours.items():
            style = DifferentialStyle(fill=PatternFill("solid", bgColor=colour))
            rule = Rule(type="cellIs", operator="equal", formula=[f'"{text}"'], dxf=style)
            written.conditional_formatting.add(_cells_of(sheet, heading), rule)


def _timeless(packed: io.BytesIO) -> bytes:
    """Return the same archive without the moment of its making, which openpyxl and zip both write down."""
    made = io.BytesIO()
    moment = _MOMENT.isoformat().encode() + b"Z"
    with zipfile.ZipFile(packed) as old, zipfile.ZipFile(made, "w") as new:
        for entry in old.infolist():
            body = old.read(entry)
            if entry.filename == "docProps/core.xml":
                body = _MODIFIED.sub(lambda match: match.group(1) + moment + match.group(2), body)
            timeless = zipfile.ZipInfo(entry.filename, _ZIP_MOMENT)
            timeless.compress_type = zipfile.ZIP_DEFLATED
            new.writestr(timeless, body)
    return made.getvalue()


def storable(text: str) -> str:
    """Return the text without forbidden characters, cut with an ellipsis to the length of a cell."""
    kept = _ILLEGAL.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))
    if len(kept) * 2 <= LONGEST or len(kept.encode("utf-16-le")) // 2 <= LONGEST:
        return kept
    return kept.encode("utf-16-le")[: (LONGEST - 1) * 2].decode("utf-16-le", "ignore") + "…"


def neutral(text: str) -> str:
    """Return the text with an apostrophe before it where a spreadsheet would take it for a formula.

    >>> neutral("=SUM(A1:A9)"), neutral("Flood plan")
    ("'=SUM(A1:A9)", 'Flood plan')
    """
    return f"'{text}" if _FORMULA.match(text) else text


def without_apostrophe(text: str) -> str:
    """Return the text that `neutral` was given."""
    return text[1:] if text.startswith("'") and _FORMULA.match(text) else text


def to_csv(headings: Sequence[str], rows: Iterable[Sequence[str | float | None]]) -> bytes:
    """Return a table as CSV with the byte order mark that Excel needs to read it as UTF-8."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\r\n")
    writer.writerow(headings)
    for row in rows:
        writer.writerow([neutral(value) if isinstance(value, str) else value for value in row])
    return text.getvalue().encode("utf-8-sig")
