"""A long table says in each of its parts what its columns are, in every format that has tables."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import openpyxl
import pptx
import pymupdf
import pytest

from ingestion.extraction.assemble import assemble, table
from ingestion.extraction.extract import extract
from ingestion.types import ExtractionLimits
from rag_engine.chunking.semantic import cut_children
from rag_engine.config import ChunkSizes
from rag_engine.text.sentences import sentence_spans
from tests.ingestion.documents import docx

HEADER = ("River", "Gauge level in metres", "Year of the flood")
ROWS = [(f"Tributary number {n} of the river", f"{n}.5", f"{1900 + n}") for n in range(120)]
SHOWN = " | ".join(HEADER)


def make_xlsx(path: Path) -> Path:
    workbook = openpyxl.Workbook()
    workbook.worksheets[0].append(["Floods of the century"])
    for row in (HEADER, *ROWS):
        workbook.worksheets[0].append(row)
    workbook.save(path)
    return path


def make_docx(path: Path) -> Path:
    def row(cells: tuple[str, ...], more: str = "") -> str:
        return f"<w:tr>{more}{''.join(f'<w:tc><w:p><w:r><w:t>{c}</w:t></w:r></w:p></w:tc>' for c in cells)}</w:tr>"

    named = row(HEADER, "<w:trPr><w:tblHeader/></w:trPr>")
    return docx(path, f"<w:tbl>{named}{''.join(map(row, ROWS))}</w:tbl>")


def make_html(path: Path) -> Path:
    def row(cells: tuple[str, ...], tag: str = "td") -> str:
        return f"<tr>{''.join(f'<{tag}>{cell}</{tag}>' for cell in cells)}</tr>"

    path.write_text(f"<!doctype html><table>{row(HEADER, 'th')}{''.join(map(row, ROWS))}</table>", encoding="utf-8")
    return path


def make_md(path: Path) -> Path:
    lines = ["| " + " | ".join(row) + " |" for row in (HEADER, ("---",) * 3, *ROWS)]
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def make_pptx(path: Path) -> Path:
    presentation = pptx.Presentation()
    slide = presentation.slides.add_slide(presentation.slide_layouts[6])
    grid = slide.shapes.add_table(len(ROWS) + 1, 3, 0, 0, 9_000_000, 6_000_000).table
    for at, row in enumerate((HEADER, *ROWS)):
        for column, cell in enumerate(row):
            grid.cell(at, column).text = cell
    presentation.save(path)
    return path


def make_pdf(path: Path) -> Path:
    with pymupdf.open() as document:
        for first in range(0, len(ROWS), 40):
            page = document.new_page()
            for at, row in enumerate((HEADER, *ROWS[:40]) if not first else ROWS[first : first + 40]):
                for column, cell in enumerate(row):
                    page.insert_text((72 + 190 * column, 100 + 14 * at), cell, fontsize=9)
        document.save(path)
    return path


@pytest.mark.parametrize("make", [make_xlsx, make_docx, make_html, make_md, make_pptx, make_pdf])
def test_every_child_of_a_long_table_names_its_columns(tmp_path: Path, make: Callable[[Path], Path]) -> None:
    extracted = extract(make(tmp_path / f"a.{make.__name__[5:]}"), ExtractionLimits(), None)
    for child in cut_children(extracted.text, sentence_spans(extracted.text, "en"), ChunkSizes()):
        assert SHOWN in child.text
    for row in ROWS:
        assert extracted.text.count(" | ".join(row)) == 1
    between = [part for part in extracted.text.split(SHOWN) if part.strip()]
    assert max(map(len, between)) < 1_100
    assert all(extracted.text[line.start : line.end].strip() for line in extracted.lines)


def test_a_short_table_names_its_columns_once() -> None:
    text, _, _ = assemble([table([HEADER, *ROWS[:5]])])
    assert text.count(SHOWN) == 1


def test_a_first_row_of_figures_or_of_long_sentences_is_no_header() -> None:
    figures = [("Po", "12"), *[(f"{n}", "a row of the table that says something of interest") for n in range(60)]]
    assert assemble([table([("1", "12"), *figures])])[0].count("1 | 12\n") == 1
    sentences = ("Each town keeps a plan. " * 8, "Each region too. " * 8)
    assert assemble([table([sentences, *figures])])[0].count(" | Each region too.") == 1
