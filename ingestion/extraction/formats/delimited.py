"""Tables as text: CSV, TSV and their kin, read as sheets are."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Literal

from ingestion.extraction.assemble import Draft, one_line
from ingestion.extraction.formats.text import read_text, text_blocks
from ingestion.extraction.sheet_tables import NAMED_AGAIN, rows_within, sheet_blocks
from ingestion.extraction.table_grid import GridCell
from ingestion.file_reading import ExtractionLimits
from rag_engine.messages import Message

_DELIMITERS = (",", ";", "\t", "|")
_SNIFFED = 65_536
_SNIFFED_ROWS = 50
# A cell over so many lines begins with a quotation mark that is no sign of CSV.
_MOST_LINES = 100


def extract_delimited(path: Path, limits: ExtractionLimits) -> Draft:
    """Return the tables of a delimited text; a text without delimiters is read as plain text."""
    text, warnings = read_text(path)
    delimiter, skipped = sniff_delimiter(text[:_SNIFFED])
    if not delimiter:
        return Draft(list(text_blocks(text)), warnings=warnings)
    text = text.split("\n", skipped)[-1]
    rows, _, whole = rows_within(_rows(text, delimiter), limits.max_characters // NAMED_AGAIN)
    if not whole:
        cut = Message("It was read as far as row {row:,}; split it to have the rest.", row=len(rows))
        warnings = (*warnings, cut)
    return Draft(list(sheet_blocks(rows, named=True)), warnings=warnings)


def sniff_delimiter(start: str) -> tuple[str, int]:
    """Return the delimiter that gives most first rows equal cells, and the lines to skip before them.

    It is "" if most rows have one cell with any, or no two have equally many. Excel writes and honours a first line of
    the form "sep=;".
    """
    first = start.split("\n", 1)[0].strip().strip('"').lower()
    if first.startswith("sep=") and len(first) == 5:
        return first[4], 1
    # A stray quotation mark makes one row of all.
    return _best_delimiter(start, csv.QUOTE_MINIMAL) or _best_delimiter(start, csv.QUOTE_NONE), 0


def _best_delimiter(start: str, quoting: Literal[0, 3]) -> str:
    best, best_score = "", 0.0
    for delimiter in _DELIMITERS:
        try:
            rows = csv.reader(start.splitlines(True), delimiter=delimiter, quoting=quoting)
            widths = [len(row) for row in islice(rows, _SNIFFED_ROWS) if any(map(str.strip, row))]
        except csv.Error:
            continue
        counts = Counter(width for width in widths if width > 1)
        width, count = max(counts.items(), key=lambda one: (one[1], one[0]), default=(0, 0))
        # The share of rows counts, not their number: text over many lines makes many rows for the wrong delimiter.
        score = width * count / len(widths) if widths else 0.0
        if score > best_score and count > 1 and 2 * counts.total() >= len(widths):
            best, best_score = delimiter, score
    return best


def _rows(text: str, delimiter: str) -> Iterator[list[GridCell]]:
    for row in _split(text, delimiter):
        yield [GridCell(one_line(cell)) for cell in row]


def _split(text: str, delimiter: str) -> Iterator[list[str]]:
    """Yield the rows; from a quotation mark on that is no sign of CSV, without regard to such marks."""
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    done = 0
    try:
        for row in rows:
            if rows.line_num - done > _MOST_LINES:
                break
            done = rows.line_num
            yield row
        else:
            return
    except csv.Error:
        # A cell longer than the library takes.
        pass
    rest = islice(io.StringIO(text, newline=""), done, None)
    for line in rest:
        yield line.rstrip("\r\n").split(delimiter)
