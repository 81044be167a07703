"""Rows of two books' indexes that are read with the right pages, and the pages that have the term.

    python -m benchmarks.pipeline.index_tables [--shared DIR]

The tables of the books were made from them in another way, line by line. A row counts as found if a record names its
term, alone or under a head, with the same pages of the PDF. Anchors are looked for on the pages of all records.
"""

from __future__ import annotations

import argparse
import re
import time
import unicodedata
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

from benchmarks.report import machine, write_table
from ingestion.book_index.index_records import index_of_document
from ingestion.sandbox.sandbox import Sandbox
from rag_engine.book_index.anchors import IndexRecord, anchors
from rag_engine.book_index.matching import IndexedPassage, IndexTerms
from rag_engine.chunking.semantic import cut_children
from rag_engine.config import ChunkSizes
from rag_engine.text.sentences import sentence_spans
from rag_engine.types.document import ExtractedText
from rag_engine.types.passage import Parent

ROOT = Path(__file__).resolve().parents[2]
BOOKS = {"es_lshort_latex_a4": "es", "it_lshort_latex": "it"}
PARENT_SIZE = 2500


@dataclass(frozen=True, slots=True)
class Measured:
    """Counts of one book; seconds by the clock."""

    book: str
    rows: int
    found: int
    records: int
    anchors: int
    named: int
    extracting: float
    reading: float
    anchoring: float
    matching: float


def measure(folder: Path, book: str, language: str, sandbox: Sandbox) -> Measured:
    """Return what was read in one book and its table."""
    start = time.perf_counter()
    file = sandbox.read(folder / f"{book}.pdf")
    extracted = file.extracted
    extracting = time.perf_counter() - start
    start = time.perf_counter()
    records = index_of_document(file).records
    reading = time.perf_counter() - start
    rows = given_rows(folder / f"{book}.index_table.tsv")
    parents = parents_of(extracted, language)
    start = time.perf_counter()
    placed = anchors(records, extracted, parents, language)
    anchoring = time.perf_counter() - start
    terms = IndexTerms(
        IndexedPassage(one.term, one.subterm, language, book, f"{book}_p{one.child[0]}_c{one.child[1]}", one.page)
        for one in placed
    )
    start = time.perf_counter()
    for record in records:
        terms.match(f"{record.subterm} {record.term}?", language)
    matching = (time.perf_counter() - start) / len(records)
    return Measured(
        book,
        len(rows),
        rows_found(records, rows),
        len(records),
        len(placed),
        sum(anchor.found for anchor in placed),
        extracting,
        reading,
        anchoring,
        matching,
    )


def given_rows(path: Path) -> list[tuple[str, frozenset[int]]]:
    """Return the terms of a given table with their pages of the PDF."""
    lines = path.read_text(encoding="utf-8").splitlines()
    names = lines[0].split("\t")
    rows = [dict(zip(names, line.split("\t"), strict=True)) for line in lines[1:]]
    return [(row["term"], frozenset(map(int, row["pdf_pages"].split(";")))) for row in rows]


def rows_found(records: tuple[IndexRecord, ...], rows: list[tuple[str, frozenset[int]]]) -> int:
    """How many of the rows a record names with exactly their pages."""
    known: defaultdict[str, set[frozenset[int]]] = defaultdict(set)
    for record in records:
        for name in (record.entry, (record.subterm or record.term).rpartition(", ")[2], record.subterm or record.term):
            known[fold(name)].add(frozenset(record.pages))
    return sum(pages in known[fold(term)] for term, pages in rows)


def fold(term: str) -> str:
    """Return a term without spaces, its ligatures spelled out."""
    return re.sub(r"\s+", "", unicodedata.normalize("NFKC", term))


def parents_of(extracted: ExtractedText, language: str) -> list[Parent]:
    """Sentences gathered into parents of one size, so that no encoder is needed."""
    parents: list[Parent] = []
    gathered: list[tuple[int, int]] = []
    config = ChunkSizes()
    spans = sentence_spans(extracted.text, language)
    for span, following in zip(spans, [*spans[1:], None], strict=True):
        gathered.append(span)
        start = gathered[0][0]
        if following is None or following[1] - start > PARENT_SIZE:
            text = extracted.text[start : span[1]]
            children = cut_children(text, [(a - start, b - start) for a, b in gathered], config)
            parents.append(Parent(len(parents), start, span[1], text, children))
            gathered = []
    return parents


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shared", type=Path, default=ROOT.parent / "shared")
    folder = parser.parse_args().shared / "data" / "indexbook"
    with Sandbox(ocr="none") as sandbox:
        measured = [measure(folder, book, language, sandbox) for book, language in BOOKS.items()]
    write_table(
        "index_tables",
        "Indexes of books",
        [
            "book", "rows given", "found with their pages", "records", "anchors", "term found on the page",
            "extraction s", "index s", "anchors s", "a question ms",
        ],
        [
            [
                one.book, str(one.rows), f"{one.found} ({one.found / one.rows:.1%})", str(one.records),
                str(one.anchors), f"{one.named} ({one.named / one.anchors:.1%})", f"{one.extracting:.1f}",
                f"{one.reading:.1f}", f"{one.anchoring:.1f}", f"{1000 * one.matching:.2f}",
            ]
            for one in measured
        ],
        [machine("pymupdf")],
    )  # fmt: skip


if __name__ == "__main__":
    main()
