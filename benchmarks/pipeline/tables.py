"""Cells of tables in real PDF that keep the names of their row and column, and two table finders.

    python -m benchmarks.pipeline.tables [--shared DIR] [--missed]

The truth is data/eval/table_cells.tsv, read from the drawn pages: each cell with its row's name and the names of its
column from the outermost to the innermost. A cell of ours counts if one sentence of the page holds it with all names.
A cell of a table finder counts if its row has the name and its column has all names among its first four rows. A
merged cell there names every column that it covers.
"""

from __future__ import annotations

import argparse
import csv
import importlib
import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import Any

import pymupdf

from benchmarks.report import machine, write_table
from ingestion.extraction.extract import extract
from ingestion.file_reading import ExtractionLimits
from rag_engine.config import DATA

ROOT = Path(__file__).resolve().parents[2]
TRUTH = DATA / "eval" / "table_cells.tsv"
_HEADER_ROWS = 4

# The rows of a table finder, a cell None where it found none.
Grid = Sequence[Sequence[str | None]]


@dataclass(frozen=True, slots=True)
class TableCell:
    """A cell of a printed table: its row's name, the names of its column, and its text."""

    row: str
    header: tuple[str, ...]
    value: str


def truths() -> dict[tuple[str, int], list[TableCell]]:
    """Return the cells of each page."""
    with TRUTH.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    return {
        place: [TableCell(row["row"], tuple(row["header"].split(" / ")), row["value"]) for row in of_page]
        for place, of_page in groupby(rows, key=lambda row: (row["file"], int(row["page"])))
    }


def plain(text: str) -> str:
    """Return the text without white space and hyphens, by which finders differ in the same cell."""
    return "".join(text.split()).replace("-", "").casefold()


def said(cell: TableCell, sentences: Sequence[str]) -> bool:
    """Return whether a sentence names the row, and holds the value right behind all names of its column."""
    return any(
        plain(cell.row) in plain(sentence) and any(_is_value(part, cell) for part in _parts(sentence))
        for sentence in sentences
    )


def _parts(sentence: str) -> Iterator[tuple[str, str]]:
    for part in sentence.split("; "):
        name, _, value = part.rpartition(": ")
        yield name, value


def _is_value(part: tuple[str, str], cell: TableCell) -> bool:
    name, value = part
    return plain(value) == plain(cell.value) and all(plain(one) in plain(name) for one in cell.header)


def found(cell: TableCell, grids: Sequence[Grid]) -> bool:
    """Return whether the value stands in a row with the name, below all names of its column."""
    for grid in grids:
        names = _filled(grid[:_HEADER_ROWS])
        for row in grid:
            if not any(text and plain(cell.row) in plain(text) for text in row):
                continue
            for at, text in enumerate(row):
                above = plain(" ".join(texts[at] for texts in names if at < len(texts)))
                if (
                    text is not None
                    and plain(text) == plain(cell.value)
                    and all(plain(n) in above for n in cell.header)
                ):
                    return True
    return False


def _filled(rows: Grid) -> list[list[str]]:
    """Return rows with each text in the places to its right that hold none, as a merged cell reads."""
    filled: list[list[str]] = []
    for row in rows:
        texts: list[str] = []
        for text in row:
            texts.append(text if text else texts[-1] if texts and text is None else "")
        filled.append(texts)
    return filled


@cache
def our_sentences(path: Path, page: int) -> tuple[str, ...]:
    """Return the lines of the tables on a page, as they are indexed and quoted."""
    extracted = extract(path, ExtractionLimits(), None)
    return tuple(
        line
        for block in extracted.blocks
        if block.kind == "table" and block.page == page
        for line in extracted.text[block.start : block.end].split("\n\n")
    )


def of_pymupdf(path: Path, page: int) -> list[Grid]:
    """Return the tables that PyMuPDF finds on a page."""
    with pymupdf.open(path) as document:
        return [table.extract() for table in document[page - 1].find_tables().tables]


def of_pdfplumber(path: Path, page: int) -> list[Grid]:
    """Return the tables that pdfplumber finds on a page."""
    library: Any = importlib.import_module("pdfplumber")
    with library.open(path) as document:
        grids: list[Grid] = document.pages[page - 1].extract_tables()
    return grids


def counted(
    corpus: Path, judge: Callable[[Path, int, TableCell], bool], missed: list[str] | None = None
) -> dict[tuple[str, int], int]:
    """Return how many cells of each page are right; those that are not are added to `missed`."""
    right: dict[tuple[str, int], int] = {}
    for (name, page), cells in truths().items():
        right[name, page] = 0
        for cell in cells:
            if judge(corpus / name, page, cell):
                right[name, page] += 1
            elif missed is not None:
                missed.append(f"{name} {page}: {cell.row} | {' / '.join(cell.header)} | {cell.value}")
    return right


def timed(corpus: Path, read: Callable[[Path, int], list[Grid]]) -> tuple[dict[tuple[str, int], int], float]:
    """Return how many cells a table finder gets right on each page, and the pages that it reads a second."""
    grids: dict[tuple[Path, int], list[Grid]] = {}
    began = time.process_time()
    for name, page in truths():
        grids[corpus / name, page] = read(corpus / name, page)
    seconds = time.process_time() - began
    return counted(corpus, lambda path, page, cell: found(cell, grids[path, page])), len(grids) / seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shared", type=Path, default=Path(os.environ.get("SEXTANT_SHARED", ROOT.parent / "shared")))
    parser.add_argument("--missed", action="store_true", help="list the cells that come out without their names")
    arguments = parser.parse_args()
    corpus = arguments.shared / "data" / "corpus"
    missed: list[str] = []
    ours = counted(corpus, lambda path, page, cell: said(cell, our_sentences(path, page)), missed)
    pymupdf_right, pymupdf_rate = timed(corpus, of_pymupdf)
    plumber_right, plumber_rate = timed(corpus, of_pdfplumber)
    if arguments.missed:
        print(*missed, sep="\n")
    totals = {place: len(cells) for place, cells in truths().items()}
    rows = [
        [name, str(page), str(total), *(str(right[name, page]) for right in (ours, pymupdf_right, plumber_right))]
        for (name, page), total in totals.items()
    ]
    shares = [sum(right.values()) / sum(totals.values()) for right in (ours, pymupdf_right, plumber_right)]
    rows.append(["all", "", str(sum(totals.values())), *(f"{share:.1%}" for share in shares)])
    write_table(
        "tables",
        "Cells of tables with the names of their rows and columns",
        ["document", "page", "cells", "ours", "PyMuPDF find_tables", "pdfplumber"],
        rows,
        [
            machine("pymupdf"),
            f"Pages a second: find_tables {pymupdf_rate:.1f}, pdfplumber {plumber_rate:.1f}; ours as in extraction.md.",
            "`python -m benchmarks.pipeline.tables`; truth in data/eval/table_cells.tsv, read from the drawn pages.",
        ],
    )


if __name__ == "__main__":
    main()
