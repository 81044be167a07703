"""Rows of a list that a person keeps: a workbook, or a delimited text file of any common encoding."""

from __future__ import annotations

import codecs
import csv
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from ingestion.extraction.file_type import OLE, is_locked
from ingestion.spreadsheets.row import Row
from ingestion.spreadsheets.workbook_reader import read_workbook
from ingestion.types import Refusal
from rag_engine.errors import InputError
from rag_engine.text.file_kinds import why_no_file

_DELIMITERS = (",", ";", "\t", "|")
_MARKS = {codecs.BOM_UTF8: "utf-8-sig", codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}
_PORTION = 1 << 20
_LONGEST_CELL = 1_000_000
_MOST_COLUMNS = 100


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
        raise InputError(refusal.template, help=refusal.cure, retryable=False, **refusal.values) from refusal


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
    """Return the first four kilobytes; InputError when there is no such file, or it is a device or pipe."""
    if why := why_no_file(path):
        raise InputError("{why}.", help="Check the path.", why=why)
    try:
        with path.open("rb") as file:
            return file.read(4096)
    except OSError as error:
        raise InputError(
            "{path} cannot be read: {error}.", help="Check the name and the rights.", path=path, error=error.strerror
        ) from error


def sniff_encoding(path: Path) -> str:
    """Return the encoding of a text file: by its byte order mark, else UTF-8 where it fits, else Windows-1252."""
    head = read_head(path)
    for mark, encoding in _MARKS.items():
        if head.startswith(mark):
            return encoding
    if b"\x00" in head:
        raise InputError(
            "{file} is neither a workbook nor a text file.",
            help="Seeds are .xlsx, .csv, .txt, a sitemap, a feed, or a folder of documents.",
            file=path.name,
        )
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        with path.open("rb") as file:
            while portion := file.read(_PORTION):
                decoder.decode(portion)
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return "cp1252"
    return "utf-8"


def _delimiter(path: Path, encoding: str) -> tuple[str, int]:
    """Return the delimiter that gives most first rows an equal number of cells, and the lines to skip before them.

    Excel writes and honours a first line of the form "sep=;".
    """
    with path.open(encoding=encoding, newline="", errors="replace") as file:
        start = file.read(65_536)
    first = start.split("\n", 1)[0].strip().strip('"').lower()
    if first.startswith("sep=") and len(first) == 5:
        return start.lower().split("sep=", 1)[1][0], 1
    best, best_score = ",", 0.0
    for delimiter in _DELIMITERS:
        try:
            widths = [len(row) for row in islice(csv.reader(start.splitlines(True), delimiter=delimiter), 50) if row]
        except csv.Error:
            continue
        counts = Counter(width for width in widths if width > 1)
        width, count = max(counts.items(), key=lambda one: (one[1], one[0]), default=(0, 0))
        # The share of rows counts, not their number: text over many lines makes many rows for the wrong delimiter.
        score = width * count / len(widths) if widths else 0.0
        if score > best_score:
            best, best_score = delimiter, score
    return best, 0


def _old_or_locked(path: Path) -> InputError:
    """Return the kind of a file in the old container: Excel's old format, or a workbook with a password."""
    if is_locked(path):
        return InputError("{file} asks for a password.", help="Save a copy without one and take that.", file=path.name)
    return InputError(
        "{file} is in the format of Excel before 2007 (.xls).",
        help="Open it in Excel or LibreOffice and save it as .xlsx.",
        file=path.name,
    )
