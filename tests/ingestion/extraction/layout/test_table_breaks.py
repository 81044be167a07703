"""A table that goes on over the end of a page keeps its header and its rows whole."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from textwrap import wrap

import pymupdf
import pytest

from ingestion.extraction.extract import extract
from ingestion.file_reading import ExtractionLimits
from rag_engine.types.document import ExtractedText
from tests.ingestion.documents import drawing

HEAD = ("Measure", "Ports", "What is done")
WIDTHS = (110, 110, 250)
CELLS = (17, 17, 46)
FULL = (
    "Closing",
    "All ports of the northern coast and of the isles",
    "The quay is closed when the water stands above the second mark, and the ferries sail to the outer mole "
    "until the harbour master opens it.",
)
BELOW = "The warden of the harbour keeps the book of the pumps and shows it to everybody who asks for it."


class _Sheet:
    """Pages on which rows of a table are drawn one below the other."""

    def __init__(self, document: pymupdf.Document, *, ruled: bool) -> None:
        self._document, self._ruled = document, ruled

    def begin(self, height: float) -> None:
        self._page, self._height = self._document.new_page(), height

    def row(self, cells: Sequence[Sequence[str]]) -> None:
        beyond = self._height + 14 * max(map(len, cells)) + 6
        for column, lines in enumerate(cells):
            x = 72 + sum(WIDTHS[:column])
            for line, words in enumerate(lines):
                self._page.insert_text((x + 3, self._height + 12 + 14 * line), words, fontsize=10)
            if self._ruled:
                self._page.draw_rect((x, self._height, x + WIDTHS[column], beyond))
        self._height = beyond

    def write(self, cells: Sequence[str]) -> None:
        self.row([wrap(cell, width) for cell, width in zip(cells, CELLS, strict=True)])

    def paragraph(self) -> None:
        for line, words in enumerate(wrap(BELOW * 3, 80)):
            self._page.insert_text((72, self._height + 40 + 15 * line), words, fontsize=11)


def cut(
    path: Path,
    full: Sequence[str] = FULL,
    *,
    kept: int = 1,
    ruled: bool = True,
    repeated: bool = True,
    more: bool = True,
) -> ExtractedText:
    """Draw a table whose last row has some lines of its cells on one page and the rest on the next."""
    lines = [wrap(cell, width) for cell, width in zip(full, CELLS, strict=True)]
    with drawing(path) as document:
        sheet = _Sheet(document, ruled=ruled)
        sheet.begin(600)
        sheet.write(HEAD)
        sheet.write(("Warning", "Aalen", "Sirens are sounded for one minute."))
        sheet.row([one[:kept] for one in lines])
        sheet.begin(70)
        if repeated:
            sheet.write(HEAD)
        sheet.row([one[kept:] for one in lines])
        if more:
            sheet.write(("Sandbags", "Dover", "Sandbags are brought to the low streets."))
            sheet.write(("Ferries", "Emden", "Ferries sail to the outer mole."))
        sheet.paragraph()
    return extract(path, ExtractionLimits(), None)


@pytest.mark.parametrize("ruled", [True, False])
@pytest.mark.parametrize("repeated", [True, False])
@pytest.mark.parametrize("more", [True, False])
def test_a_row_that_the_page_end_cuts_is_one_row(tmp_path: Path, ruled: bool, repeated: bool, more: bool) -> None:
    extracted = cut(tmp_path / "a.pdf", ruled=ruled, repeated=repeated, more=more)
    assert [row for block in extracted.blocks for row in block.rows if row[0] == "Closing"] == [FULL]
    assert FULL[2] in extracted.text
    assert extracted.text.count("Measure | Ports | What is done") == 1
    assert BELOW in extracted.text


def test_the_name_of_a_row_may_go_on_over_the_page_end_too(tmp_path: Path) -> None:
    extracted = cut(tmp_path / "a.pdf", ("Closing of the quay at night", *FULL[1:]))
    assert f"Measure: Closing of the quay at night; Ports: {FULL[1]}; What is done: {FULL[2]}" in extracted.text


def test_a_sentence_that_begins_in_the_rest_of_a_cell_stays_in_its_row(tmp_path: Path) -> None:
    done = ("The quay is closed while water stands above.", "The ferries of the port sail to the outer mole.")
    extracted = cut(tmp_path / "a.pdf", ("Closing", "Aalen", " ".join(done)))
    assert f"Measure: Closing; Ports: Aalen; What is done: {' '.join(done)}" in extracted.text


def _begun_before(document: pymupdf.Document) -> _Sheet:
    """Return a sheet at the head of its second page, with a table of one whole row on the first."""
    sheet = _Sheet(document, ruled=True)
    sheet.begin(600)
    sheet.write(HEAD)
    sheet.write(("Warning", "Aalen", "Sirens are sounded for one minute"))
    sheet.begin(70)
    return sheet


def test_new_rows_at_the_top_of_a_page_stay_rows(tmp_path: Path) -> None:
    with drawing(path := tmp_path / "a.pdf") as document:
        sheet = _begun_before(document)
        sheet.write(("", "Dover", "Sandbags are brought to the low streets"))
        sheet.write(("Ferries", "Emden", "ferries sail to the outer mole"))
    rows = [row for block in extract(path, ExtractionLimits(), None).blocks for row in block.rows]
    assert [row[1] for row in rows if row != HEAD] == ["Aalen", "Dover", "Emden"]


def test_a_paragraph_below_a_table_is_none_of_its_cells(tmp_path: Path) -> None:
    with drawing(path := tmp_path / "a.pdf") as document:
        sheet = _begun_before(document)
        sheet.paragraph()
    extracted = extract(path, ExtractionLimits(), None)
    assert extracted.blocks[0].rows[-1][2] == "Sirens are sounded for one minute"
    assert extracted.text.endswith(BELOW)
