"""Marks of a sheet that openpyxl passes over: merged cells, hidden places, formulas without a value."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

from ingestion.extraction.formats.legacy_office import converted
from ingestion.extraction.formats.zip_container import UNPACKING_ERRORS, Package, open_package
from ingestion.extraction.number_format import GENERAL, Value, format_value
from ingestion.file_reading import ExtractionLimits, time_for
from ingestion.types.outcome import Refusal
from rag_engine.messages import Message

# Row and column of a cell from 1.
RowColumn = tuple[int, int]

_MERGED = re.compile(rb'<(?:\w+:)?mergeCell\s+ref="([A-Z]{1,3}\d{1,7}:[A-Z]{1,3}\d{1,7})"')
_ROW = re.compile(rb'<(?:\w+:)?row\b[^>]{0,200}?\sr="(\d{1,7})"[^>]{0,200}>')
_COLUMN = re.compile(rb"<(?:\w+:)?col\b[^>]{0,300}>")
# Also of no height or width.
_HIDDEN = re.compile(rb'\s(?:hidden="(?:1|true)"|(?:ht|width)="0(?:\.0+)?")')
_EDGES = re.compile(rb'\s(min|max)="(\d{1,5})"')
_LONGEST_FORMULA = 9_000
# An empty value of a formula that gives a text is its value.
_UNSAVED = re.compile(
    rb"<(?:\w+:)?c\b(?P<cell>[^>]{0,200})>\s{0,9}<(?:\w+:)?f\b[^>]{0,300}(?:/>|>(?P<formula>[^<]{0,9000})</(?:\w+:)?f>)"
    rb"\s{0,9}(?P<value><(?:\w+:)?v\s{0,9}(?:/>|>\s{0,9}</(?:\w+:)?v>))?\s{0,9}</(?:\w+:)?c>"
)
_REFERENCE = re.compile(rb'\sr="([A-Z]{1,3}\d{1,7})"')
_TEXT = re.compile(rb'\st="str"')
# Their results are days, and a spreadsheet shows them so where no format says otherwise.
_GIVES_DATE = re.compile(rb"\s*(?:DATE|TODAY|EDATE|EOMONTH|DATEVALUE)\(", re.IGNORECASE)
_ODF_CELL = re.compile(rb"<table:table-cell\b[^>]{0,20000}>")
_CONTENT = "content.xml"
_CHUNK = 1 << 20
# Of more no workbook is made.
_MOST_CHUNKS = 500
# Excel takes no more.
_MOST_COLUMNS = 16_384
_MOST_MERGED = 20_000
_MOST_FORMULAS = 200_000
_SHARE = 0.6
# What LibreOffice writes for a formula that it cannot compute.
_NOT_COMPUTED = re.compile(r"#NAME\?|#REF!|Err:\d+")


@dataclass(slots=True)
class SheetMarks:
    """Rows and columns that each merged cell covers, and hidden rows and columns from 1.

    `unsaved` has the formulas without a value, and whether they give a date. It holds a limited number of them;
    `formulas` counts all.
    """

    spans: dict[RowColumn, tuple[int, int]] = field(default_factory=dict)
    rows: set[int] = field(default_factory=set)
    columns: set[int] = field(default_factory=set)
    unsaved: dict[RowColumn, bool] = field(default_factory=dict)
    formulas: int = 0


def read_marks(package: Package, part: str) -> SheetMarks:
    """Return the marks of a sheet; none if the package has no such part."""
    marks = SheetMarks()
    if part not in package.names:
        return marks
    kept = b""
    with package.stream(part) as stream:
        while chunk := stream.read(_CHUNK):
            read = kept + chunk
            _read_merged(read, marks)
            if _HIDDEN.search(read):
                _read_hidden(read, marks)
            if b"f>" in read or b"<f" in read:
                _read_formulas(read, len(kept), marks)
            kept = chunk[-_LONGEST_FORMULA:]
    return marks


def _read_merged(read: bytes, marks: SheetMarks) -> None:
    from openpyxl.utils.cell import range_boundaries

    for found in _MERGED.finditer(read):
        first, top, last, bottom = (edge or 1 for edge in range_boundaries(found[1].decode("ascii")))
        # A long one is the frame of a sheet and no cell.
        if (bottom - top + 1) * (last - first + 1) <= _MOST_MERGED and len(marks.spans) < _MOST_MERGED:
            marks.spans[top, first] = bottom - top + 1, last - first + 1


def _read_hidden(read: bytes, marks: SheetMarks) -> None:
    marks.rows.update(int(found[1]) for found in _ROW.finditer(read) if _HIDDEN.search(found[0]))
    for found in _COLUMN.finditer(read):
        edges = dict(_EDGES.findall(found[0]))
        if _HIDDEN.search(found[0]) and edges.keys() == {b"min", b"max"}:
            marks.columns.update(range(int(edges[b"min"]), min(int(edges[b"max"]), _MOST_COLUMNS) + 1))


def _read_formulas(read: bytes, known: int, marks: SheetMarks) -> None:
    """Take up the formulas without a value that end behind the bytes known from the chunk before."""
    from openpyxl.utils.cell import coordinate_to_tuple

    for found in _UNSAVED.finditer(read):
        if found.end() <= known or (found["value"] and _TEXT.search(found["cell"])):
            continue
        marks.formulas += 1
        reference = _REFERENCE.search(found["cell"])
        if reference and len(marks.unsaved) < _MOST_FORMULAS:
            place = coordinate_to_tuple(reference[1].decode("ascii"))
            marks.unsaved[place] = _GIVES_DATE.match(found["formula"] or b"") is not None


def count_unsaved(path: Path) -> int:
    """Return the number of formulas without a value in an OpenDocument spreadsheet.

    LibreOffice computes them when it opens the file.
    """
    count, kept = 0, b""
    with open_package(path) as package:
        if _CONTENT not in package.names:
            return 0
        with suppress(*UNPACKING_ERRORS), package.stream(_CONTENT) as stream:
            for chunk in islice(iter(partial(stream.read, _CHUNK), b""), _MOST_CHUNKS):
                read = kept + chunk
                # A cell may be cut at the end of the chunk.
                whole, kept = read[: read.rfind(b"<")], read[read.rfind(b"<") :]
                cells = _ODF_CELL.findall(whole)
                count += sum(b"table:formula=" in cell and b"office:value-type=" not in cell for cell in cells)
    return count


def told_formulas(formulas: int, computed: int) -> Iterator[Message]:
    """Yield warnings that count the formulas whose values the workbook does not hold."""
    if computed:
        yield Message("Formulas without a saved value, computed by LibreOffice: {count:,}.", count=computed)
    if formulas > computed:
        yield Message(
            "Formulas without a saved value, whose cells are missing: {count:,}. Open the file in a spreadsheet "
            "program, save it and add it again.",
            count=formulas - computed,
        )


def compute(
    path: Path, limits: ExtractionLimits, sheets: Mapping[str, SheetMarks]
) -> Mapping[str, Mapping[RowColumn, str]]:
    """Return what LibreOffice shows for the formulas without a value, by the names of their sheets.

    It is empty without LibreOffice, or if that makes nothing of the workbook.
    """
    from openpyxl import load_workbook

    # The sheets have to be read in what is left of the file's time.
    seconds = time_for(path.stat().st_size, limits) * _SHARE
    try:
        with converted(path, "xlsx", replace(limits, seconds=seconds)) as copy:
            workbook = load_workbook(copy, read_only=True, data_only=True)
            shown = {
                sheet.title: dict(_results(sheet, sheets[sheet.title].unsaved))
                for sheet in workbook.worksheets
                if sheet.title in sheets and sheets[sheet.title].unsaved
            }
            workbook.close()
            return shown
    except Refusal:
        return {}


def _results(sheet: Any, places: Mapping[RowColumn, bool]) -> Collection[tuple[RowColumn, str]]:
    """Return the places whose formula was computed, each with the text that is shown."""
    from openpyxl.utils.datetime import from_excel

    results = []
    last = max(row for row, _ in places)
    sheet.reset_dimensions()
    for number, row in enumerate(sheet.iter_rows(max_row=last), 1):
        for column, cell in enumerate(row, 1):
            if (number, column) not in places:
                continue
            value: Value = "" if cell.value is None else cell.value
            if isinstance(value, str) and _NOT_COMPUTED.fullmatch(value):
                continue
            code = getattr(cell, "number_format", GENERAL)
            if places[number, column] and code == GENERAL and isinstance(value, int | float):
                value = from_excel(value, sheet.parent.epoch)
            results.append(((number, column), format_value(value, code)))
    return results
