"""Ligatures that a PDF names by their last letter.

Drawn as wide as the glyph is, and called by one letter.
"""

from __future__ import annotations

from pathlib import Path

import pymupdf
import pytest

from ingestion.extraction.extract import extract
from ingestion.extraction.layout.text_layer_check import LigatureSearch
from ingestion.file_reading import ExtractionLimits

# The glyphs of a font: the letter that it is called, and its width in thousandths of the size.
_GLYPHS = {"fi": ("i", 500), "fl": ("l", 500), "ff": ("f", 540), "ffi": ("i", 760), "Th": ("h", 1080)}
_CODES = {name: number for number, name in enumerate(_GLYPHS, start=1)}
_WIDTHS = {"f": 278, "i": 222, "l": 222, "T": 611, "h": 556, "r": 333, "t": 278, ".": 278, " ": 278}
TEXT = (
    "[Th]e o[ffi]ce of the [fi]re service de[fi]nes a [fl]ood as water far out of its bed.",
    "[Th]ere is a di[ff]erence of e[ff]ort after a [fl]ash [fl]ood of four feet or far more.",
    "If Texan o[ffi]cials [fi]nd it of use, half of the sta[ff] is free of fees for a life of four years.",
)


def _shown(line: str) -> str:
    """Return a line as it is written in the page, in which what is in brackets is one glyph."""
    parts = line.replace("]", "[").split("[")
    return "".join(f"\\{_CODES[part]:03o}" if number % 2 else part for number, part in enumerate(parts))


def _font() -> str:
    widths = [width for _, width in _GLYPHS.values()] + [_WIDTHS.get(chr(code), 556) for code in range(32, 127)]
    names = " ".join(f"/{letter}" for letter, _ in _GLYPHS.values())
    between = " ".join("0" for _ in range(len(_GLYPHS) + 1, 32))
    shown = f"{' '.join(map(str, widths[: len(_GLYPHS)]))} {between} {' '.join(map(str, widths[len(_GLYPHS) :]))}"
    encoding = f"<</Type/Encoding/BaseEncoding/WinAnsiEncoding/Differences[1 {names}]>>"
    return (
        f"<</Type/Font/Subtype/TrueType/BaseFont/Helvetica/FirstChar 1/LastChar 126/Widths[{shown}]"
        f"/Encoding{encoding}>>"
    )


@pytest.fixture
def pdf(tmp_path: Path) -> Path:
    with pymupdf.open() as document:
        page = document.new_page()
        xref = page.insert_font(fontname="helv")
        page.insert_text((72, 60), " ", fontname="helv")
        document.update_object(xref, _font())
        rows = (f"BT /helv 11 Tf 72 {700 - 20 * row} Td ({_shown(line)}) Tj ET" for row, line in enumerate(TEXT))
        document.update_stream(page.get_contents()[0], " ".join(rows).encode())
        document.save(tmp_path / "plan.pdf")
    return tmp_path / "plan.pdf"


def test_a_glyph_as_wide_as_two_letters_is_spelled_as_both(pdf: Path) -> None:
    text = " ".join(extract(pdf, ExtractionLimits(), None).text.split())
    assert "The office of the fire service defines a flood as water" in text
    assert "There is a difference of effort after a flash flood" in text
    assert "If Texan officials find it of use, half of the staff is free" in text


def test_pages_whose_pairs_are_there_are_not_looked_at() -> None:
    usual = "the office of the fire service finds five floods and flees after half of the effort, far off for feet "
    lost = "the oice of the ire service inds ive loods after half of the efort for four feet of far more of it if left "
    assert not LigatureSearch().is_due(usual)
    assert not LigatureSearch().is_due("too short of f")
    assert LigatureSearch().is_due(2 * lost)
    document = LigatureSearch()
    assert not document.is_due(4 * usual)
    assert not document.is_due(2 * lost), "a short page of a document that has its pairs"
    assert document.is_due(5 * lost)


def test_a_real_report_is_spelled_as_it_is_printed(corpus: Path) -> None:
    text = extract(corpus / "en_us_cdc_mmwr_housing.pdf", ExtractionLimits(), None).text
    assert "The definition of inadequate housing" in text
    assert not [word for word in ("deinition", "conidence", " hey ", "signiican") if word in text]
