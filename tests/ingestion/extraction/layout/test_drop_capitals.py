"""Drop capitals belong to the first of the lines that they stand beside."""

from __future__ import annotations

from pathlib import Path

import pymupdf
import pytest

from ingestion.extraction.extract import extract
from ingestion.file_reading import ExtractionLimits
from tests.ingestion.documents import drawing

BESIDE = (
    "he river authority publishes maps of floods every six years and",
    "reviews them after every flood. Each town keeps pumps, and the",
    "region pays for them as long as the law on water says so, until",
)
BELOW = ("the end of the year in which the next map is due.", "The fire service is asked for its view.")


def _page(path: Path, letter: str, first: str, *, size: float = 40, sunk: float = 26) -> str:
    with drawing(path) as document:
        page = document.new_page()
        page.insert_text((72, 72), "Flood hazard maps", fontsize=16, fontname="hebo")
        page.insert_text((72, 110 + sunk), letter, fontsize=size)
        indent = 75 + pymupdf.get_text_length(letter, fontsize=size)
        for row, line in enumerate((first, *BESIDE[1:])):
            page.insert_text((indent, 110 + 13 * row), line)
        for row, line in enumerate(BELOW, start=3):
            page.insert_text((72, 110 + 13 * row), line)
    return extract(path, ExtractionLimits(), None).text


@pytest.mark.parametrize(("size", "sunk"), [(40, 26), (26, 13), (40, 0)])
def test_a_drop_capital_begins_its_paragraph(tmp_path: Path, size: float, sunk: float) -> None:
    text = _page(tmp_path / "x.pdf", "T", BESIDE[0], size=size, sunk=sunk)
    assert "\n\nThe river authority publishes maps of floods every six years and reviews them" in text
    assert "says so, until the end of the year" in text


def test_a_quotation_mark_stands_before_the_letter(tmp_path: Path) -> None:
    assert '\n\n"The river authority' in _page(tmp_path / "x.pdf", '"T', BESIDE[0])


def test_a_letter_that_is_a_word_stays_one_where_the_page_knows_the_next_word(tmp_path: Path) -> None:
    assert "\n\nA flood is kept in view" in _page(tmp_path / "x.pdf", "A", "flood is kept in view by the town, and the")
    assert "\n\nAfter a flood" in _page(tmp_path / "x.pdf", "A", "fter a flood the towns are reviewed by the")


def test_a_large_letter_beside_nothing_stays_by_itself(tmp_path: Path) -> None:
    with drawing(tmp_path / "x.pdf") as document:
        page = document.new_page()
        page.insert_text((72, 100), "A", fontsize=40)
        page.insert_text((72, 160), "The annex lists the pumps of each town.")
    assert "The annex lists" in extract(tmp_path / "x.pdf", ExtractionLimits(), None).text
