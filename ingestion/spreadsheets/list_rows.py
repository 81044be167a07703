"""Rows of a list that a person keeps: a workbook, or a delimited text file of any common encoding."""

from __future__ import annotations

import codecs
import csv
import re
import warnings
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from zipfile import BadZipFile

from lxml import etree

from ingestion.extraction.file_type import OLE, is_locked
from ingestion.extraction.formats.delimited import sniff_delimiter
from ingestion.extraction.formats.refusals import damaged
from ingestion.extraction.formats.zip_container import Element, Package, open_package
from ingestion.extraction.number_format import general
from ingestion.file_reading import ExtractionLimits
from ingestion.spreadsheets.row import Row
from ingestion.text_encoding import guess_encoding
from ingestion.types.outcome import Refusal
from rag_engine.errors import InputError
from rag_engine.messages import Message
from rag_engine.text.file_kinds import why_no_file

_MARKS = {codecs.BOM_UTF8: "utf-8-sig", codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}
_PORTION = 1 << 20
_LONGEST_CELL = 1_000_000
_MOST_COLUMNS = 100
# The shared texts are held in memory, therefore less than a document may hold.
LIMITS = ExtractionLimits(unpacked_bytes=500_000_000, archive_ratio=150.0)
_MOST_ROWS = 1_048_576
_MOST_MARKS = 500_000
_MOST_LINKED_CELLS = 1_000
_HYPERLINK = re.compile(r'HYPERLINK\(\s*"([^"]{1,4000})"', re.IGNORECASE)
_RANGE = re.compile(r"\$?([A-Z]{1,3})\$?(\d{1,7})(?::\$?([A-Z]{1,3})\$?(\d{1,7}))?")
# Office spells characters that XML cannot hold, and what looks like such a spelling, as _x000D_.
_ESCAPED = re.compile(r"_x((?![Dd][89A-Fa-f])[0-9A-Fa-f]{4})_")


def read_rows(path: Path) -> Iterator[Row]:
    """Return the rows with content of a workbook or delimited file; InputError for any other content."""
    head = read_head(path)
    if head.startswith(OLE):
        raise _old_or_locked(path)
    if not head.startswith(b"PK"):
        yield from read_delimited(path)
        return
    try:
        yield from read_workbook(path)
    except Refusal as refusal:
        raise InputError(refusal.fault, help=refusal.help, retryable=False) from refusal


def read_delimited(path: Path) -> Iterator[Row]:
    """Return the rows of a text file whose cells are separated by comma, semicolon, tab or bar."""
    encoding = sniff_encoding(path)
    delimiter, skipped = _delimiter(path, encoding)
    csv.field_size_limit(_LONGEST_CELL)
    with path.open(encoding=encoding, newline="", errors="replace") as file:
        for _ in range(skipped):
            file.readline()
        try:
            for number, cells in enumerate(csv.reader(file, delimiter=delimiter), 1 + skipped):
                if any(cell.strip() for cell in cells):
                    yield Row(path.name, number, tuple(cells[:_MOST_COLUMNS]))
        except csv.Error as error:
            raise InputError(
                "{file} cannot be read as a table: {error}.",
                help="Save it as .xlsx, or as CSV in UTF-8.",
                file=path.name,
                error=error,
            ) from error


def read_head(path: Path) -> bytes:
    """Return the first four kilobytes; InputError if there is no such file, or it is a device or pipe."""
    if why := why_no_file(path):
        raise InputError("{why}.", help="Check the path.", why=why)
    try:
        with path.open("rb") as file:
            return file.read(4096)
    except OSError as error:
        raise InputError(
            "{path} cannot be read: {error}.",
            help="Check the name and the rights.",
            path=path,
            error=Message(error.strerror or ""),
        ) from error


def sniff_encoding(path: Path) -> str:
    """Return the encoding of a text file.

    By its byte order mark, else UTF-8 where it fits, else the one that its letters fit, else Windows-1252.
    """
    head = read_head(path)
    for mark, encoding in _MARKS.items():
        if head.startswith(mark):
            return encoding
    if b"\x00" in head:
        raise InputError(
            "{file} is neither a workbook nor a text file.",
            help="Source lists are .xlsx, .csv, .txt, a sitemap, a feed, or a folder of documents.",
            file=path.name,
        )
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        with path.open("rb") as file:
            while portion := file.read(_PORTION):
                decoder.decode(portion)
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        with path.open("rb") as file:
            return guess_encoding(file.read(_PORTION)) or "cp1252"
    return "utf-8"


def _delimiter(path: Path, encoding: str) -> tuple[str, int]:
    """Return the delimiter of a file, a comma if there is none, and the lines to skip at its beginning."""
    with path.open(encoding=encoding, newline="", errors="replace") as file:
        start = file.read(65_536)
    delimiter, skipped = sniff_delimiter(start)
    # Columns have names, which their delimiter parts.
    names = start.split("\n", skipped + 1)[skipped] if skipped < start.count("\n") + 1 else ""
    return delimiter if delimiter and delimiter in names else ",", skipped


def _old_or_locked(path: Path) -> InputError:
    """Return the kind of a file in the old container: Excel's old format, or a workbook with a password."""
    if is_locked(path):
        return InputError("{file} asks for a password.", help="Save a copy without one and take that.", file=path.name)
    return InputError(
        "{file} is in the format of Excel before 2007 (.xls).",
        help="Open it in Excel or LibreOffice and save it as .xlsx.",
        file=path.name,
    )


@dataclass(slots=True)
class _Marks:
    """Links, merged ranges and formulas of a sheet; positions are (row from 1, column from 0)."""

    links: dict[tuple[int, int], str] = field(default_factory=dict)
    unsaved: set[tuple[int, int]] = field(default_factory=set)
    merged: dict[int, list[tuple[int, int, int]]] = field(default_factory=dict)


def read_workbook(path: Path) -> Iterator[Row]:
    """Return the rows of all sheets, hidden ones too, that hold anything.

    A merged value is in each of its cells.

    Refusal if the file is damaged, locked by a password, or unpacks to more than a workbook may.
    """
    from openpyxl.reader.excel import ExcelReader
    from openpyxl.utils.exceptions import InvalidFileException

    # openpyxl warns of styles and extensions it drops, none of which holds text, and of impossible dates.
    warnings.filterwarnings("ignore", module="openpyxl")
    try:
        # An open file, since openpyxl judges a path by its suffix.
        with open_package(path, LIMITS) as package, path.open("rb") as file:
            _refuse_entities(package, path)
            reader = ExcelReader(file, read_only=True, data_only=True)
            reader.read()
            parts = {sheet.name: relation.target for sheet, relation in reader.parser.find_sheets()}
            for sheet in reader.wb.worksheets:
                sheet.reset_dimensions()
                marks = _read_marks(package, parts[sheet.title], path)
                rows = sheet.iter_rows(max_col=_MOST_COLUMNS, max_row=None, values_only=True)
                yield from _rows(sheet.title, rows, marks)
            reader.wb.close()
    except (
        InvalidFileException, BadZipFile, SyntaxError, zlib.error, EOFError, KeyError, ValueError, TypeError,
        IndexError, AttributeError,
    ) as error:  # fmt: skip
        raise damaged(path, error) from error
    except OSError as error:
        # openpyxl's own, of a package without a workbook, and none of the disk.
        if error.errno is not None:
            raise
        raise damaged(path, error) from error


def unescape(text: str) -> str:
    """Return the text with Office's spelling of special characters (_x000D_) resolved.

    >>> unescape("Losses of 2_x0025_ of GDP")
    'Losses of 2% of GDP'
    """
    return _ESCAPED.sub(lambda match: chr(int(match.group(1), 16)), text) if "_x" in text else text


def _rows(name: str, rows: Iterator[tuple[object, ...]], marks: _Marks) -> Iterator[Row]:
    # By column: the last row that a merged value covers, the value, and its link.
    spans: dict[int, tuple[int, str, str]] = {}
    linked: dict[int, list[int]] = {}
    for row, column in [*marks.links, *marks.unsaved]:
        linked.setdefault(row, []).append(column)
    for number, values in enumerate(rows, 1):
        if number > _MOST_ROWS:
            return
        here = linked.get(number, ())
        width = next((end for end in range(len(values), 0, -1) if values[end - 1] is not None), 0)
        if not here and not width:
            continue
        cells = [unescape(value) if isinstance(value, str) else general(value) for value in values[:width]]
        cells += [""] * (max(here, default=-1) + 1 - len(cells))
        links = {column: marks.links[number, column] for column in here if (number, column) in marks.links}
        unsaved = tuple(sorted(column for column in here if (number, column) in marks.unsaved))
        for first, last, last_row in marks.merged.get(number, ()):
            spanned = (last_row, cells[first] if first < len(cells) else "", links.get(first, ""))
            spans |= dict.fromkeys(range(first, last + 1), spanned)
        for column, (last_row, value, link) in list(spans.items()):
            if last_row < number:
                del spans[column]
                continue
            cells += [""] * (column + 1 - len(cells))
            cells[column] = cells[column] or value
            if link:
                links.setdefault(column, link)
        if any(cells) or links or unsaved:
            yield Row(name, number, tuple(cells), links, unsaved)


def _refuse_entities(package: Package, path: Path) -> None:
    """Refuse a part that declares entities: openpyxl's parser would expand them, Office has none."""
    for name in package.names:
        if name.endswith((".xml", ".rels")):
            head = package.read(name, most=65_536).replace(b"\x00", b"")
            if b"<!DOCTYPE" in head or b"<!ENTITY" in head:
                raise Refusal(
                    "damaged",
                    "{file} declares entities in its part {name!r}, which no workbook does.",
                    help="Do not trust where it came from; ask for another copy.",
                    file=path.name,
                    name=name,
                )


def _read_marks(package: Package, part: str, path: Path) -> _Marks:
    """Return the links, merged ranges and formulas without a value of a sheet, keeping no row."""
    marks = _Marks()
    if not _has_marks(package, part):
        return marks
    # The addresses outside of the workbook that a part names, by their id.
    place = PurePosixPath(part)
    named = package.find(f"{place.parent}/_rels/{place.name}.rels")
    relations = [] if named is None else [one.attrib for one in named.iter("{*}Relationship")]
    targets = {
        str(relation.get("Id")): str(relation.get("Target"))
        for relation in relations
        if relation.get("TargetMode") == "External"
    }
    with package.stream(part) as stream:
        tags = ("{*}row", "{*}hyperlink", "{*}mergeCell")
        for _, element in etree.iterparse(
            stream, tag=tags, resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False
        ):
            kind = etree.QName(element).localname
            if kind == "row":
                for formula in element.iter("{*}f"):
                    _mark_formula(formula, marks)
            elif kind == "hyperlink":
                _mark_link(element, targets, marks)
            elif area := _area(element.get("ref")):
                row, column, last_row, last_column = area
                marks.merged.setdefault(row, []).append((column, last_column, last_row))
            element.clear()
            while element.getprevious() is not None:
                del element.getparent()[0]
            if len(marks.links) + len(marks.unsaved) + len(marks.merged) > _MOST_MARKS:
                raise Refusal(
                    "too_large",
                    "{file} has more than {most:,} links, formulas and merged ranges in one sheet.",
                    help="Split it into several workbooks.",
                    file=path.name,
                    most=_MOST_MARKS,
                )
    return marks


def _has_marks(package: Package, part: str) -> bool:
    """Return whether the sheet has links, merged ranges or formulas at all.

    A search costs a tenth of parsing it.
    """
    wanted = (b"hyperlink", b"mergeCell", b"f>")
    with package.stream(part) as stream:
        tail = b""
        while portion := stream.read(_PORTION):
            if any(word in tail + portion for word in wanted):
                return True
            tail = portion[-16:]
    return False


def _mark_formula(formula: Element, marks: _Marks) -> None:
    cell = formula.getparent()
    area = _area(cell.get("r")) if cell is not None else None
    if cell is None or area is None:
        return
    if found := _HYPERLINK.search(formula.text or ""):
        marks.links[area[:2]] = found.group(1)
        return
    value = next(iter(cell.iterchildren("{*}v")), None)
    if value is None or (not value.text and cell.get("t") != "str"):
        marks.unsaved.add(area[:2])


def _mark_link(element: Element, targets: dict[str, str], marks: _Marks) -> None:
    target = targets.get(next((str(v) for k, v in element.attrib.items() if str(k).endswith("}id")), ""), "")
    area = _area(element.get("ref"))
    if not target or area is None:
        return
    if element.get("location"):
        target += "#" + str(element.get("location"))
    row, column, last_row, last_column = area
    cells = ((r, c) for r in range(row, last_row + 1) for c in range(column, last_column + 1))
    for position, _ in zip(cells, range(_MOST_LINKED_CELLS), strict=False):
        marks.links.setdefault(position, target)


def _area(reference: str | None) -> tuple[int, int, int, int] | None:
    """Return first and last row and column of A1 or A1:B2; None beyond the columns that are read."""
    from openpyxl.utils.cell import column_index_from_string

    match = _RANGE.fullmatch(reference or "")
    if not match:
        return None
    letters, row, last_letters, last_row = match.groups()
    column = column_index_from_string(letters) - 1
    last = min(column_index_from_string(last_letters or letters), _MOST_COLUMNS) - 1
    return (int(row), column, int(last_row or row), last) if column < _MOST_COLUMNS else None
