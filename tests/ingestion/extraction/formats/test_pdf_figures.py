"""Figures inside pages of text: their place, their caption, and what OCR reads in them."""

from __future__ import annotations

from pathlib import Path

import pymupdf
import pytest

from ingestion.extraction.extract import extract
from ingestion.file_reading import ExtractionLimits, OcrEngine
from rag_engine.types.document import ExtractedText
from tests.ingestion.documents import ReadingOcr, drawing

PROSE = "The river authority publishes maps of floods every six years and reviews them after every flood. " * 2
CAPTION = "Figure 3. Pumps of the towns on the river"
LIMITS = ExtractionLimits()


def _pdf(path: Path, *, caption: str = CAPTION, box: tuple[float, ...] = (72, 200, 400, 360), pages: int = 1) -> Path:
    picture = pymupdf.Pixmap(pymupdf.csGRAY, pymupdf.IRect(0, 0, 400, 200), False)
    picture.clear_with(180)
    with drawing(path) as document:
        for _ in range(pages):
            page = document.new_page()
            page.insert_textbox((72, 72, 500, 190), PROSE)
            page.insert_image(pymupdf.Rect(box), pixmap=picture, keep_proportion=False)
            page.insert_text((72, 375), caption, fontsize=9)
            page.insert_textbox((72, 400, 500, 600), 2 * PROSE.replace("river", "fire"))
    return path


def _blocks(extracted: ExtractedText) -> list[str]:
    return [extracted.text[block.start : block.end] for block in extracted.blocks]


def test_a_figure_has_a_placeholder_in_front_of_its_caption(tmp_path: Path) -> None:
    blocks = _blocks(extract(_pdf(tmp_path / "x.pdf"), LIMITS, None))
    assert [text.split()[0] for text in blocks] == ["The", "[Figure]", "The"]
    assert blocks[1] == f"[Figure]\n{CAPTION}"


def test_a_figure_without_a_caption_stands_between_the_paragraphs_it_parts(tmp_path: Path) -> None:
    blocks = _blocks(extract(_pdf(tmp_path / "x.pdf", caption=""), LIMITS, None))
    assert blocks[1] == "[Figure]"
    assert len(blocks) == 3


def test_what_is_written_in_a_figure_is_read_and_has_its_place_on_the_page(tmp_path: Path) -> None:
    engine = ReadingOcr("Pumps by town", "Milltown 12 pumps", "Harbour 7 pumps")
    extracted = extract(_pdf(tmp_path / "x.pdf"), LIMITS, engine)
    assert _blocks(extracted)[1] == f"[Figure] Pumps by town Milltown 12 pumps Harbour 7 pumps\n{CAPTION}"
    [line] = [one for one in extracted.lines if extracted.text[one.start : one.end] == "Milltown 12 pumps"]
    assert line.box is not None
    assert 72 <= line.box.x0 < line.box.x1 <= 400
    assert 200 <= line.box.y0 < line.box.y1 <= 360
    assert extracted.ocr_pages == ()


@pytest.mark.parametrize("seen", [("x", "| ~ :"), ("%&", "\\ / |", "; ,"), ()])
def test_the_grain_of_a_photograph_is_no_text(tmp_path: Path, seen: tuple[str, ...]) -> None:
    assert _blocks(extract(_pdf(tmp_path / "x.pdf"), LIMITS, ReadingOcr(*seen)))[1] == f"[Figure]\n{CAPTION}"


@pytest.mark.parametrize(
    ("box", "pages"),
    [((72, 200, 120, 240), 1), ((72, 200, 400, 206), 1), ((60, 60, 520, 480), 1), ((72, 200, 400, 360), 3)],
)
def test_logos_rules_backgrounds_and_letterheads_are_no_figures(
    tmp_path: Path, box: tuple[float, ...], pages: int
) -> None:
    engine: OcrEngine = ReadingOcr("Ministry of Water and Floods")
    extracted = extract(_pdf(tmp_path / "x.pdf", box=box, pages=pages), LIMITS, engine)
    assert "[Figure]" not in extracted.text
    assert "Ministry" not in extracted.text


def test_the_figures_of_a_real_notice_are_read(corpus: Path) -> None:
    path = corpus / "en_us_federal_register_2020-17221.pdf"
    engine = ReadingOcr("Loss of electric trim through the main switches.")
    text = extract(path, LIMITS, engine).text
    assert len(engine.pictures) == text.count("[Figure] Loss of electric trim through the main switches.") == 11
