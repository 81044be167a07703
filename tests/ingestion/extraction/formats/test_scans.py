"""Files that are pictures, which are read as scanned pages are."""

from __future__ import annotations

from pathlib import Path

import pytest
from PIL import Image, ImageDraw, ImageFont

from ingestion.extraction.extract import extract
from ingestion.extraction.file_type import UPLOAD_SUFFIXES
from ingestion.extraction.ocr.choose import choose_ocr
from ingestion.file_reading import ExtractionLimits
from ingestion.types.outcome import Refusal
from rag_engine.backends.drawing.page_renderer import PageRenderer
from tests.ingestion.documents import ReadingOcr

LIMITS = ExtractionLimits()
_UPRIGHT, _TURNED = 1, 6
_ORIENTATION = 274


def _drawn(*lines: str) -> Image.Image:
    drawn = Image.new("L", (1240, 1754), 255)
    for row, line in enumerate(lines):
        ImageDraw.Draw(drawn).text((100, 100 + 90 * row), line, fill=0, font=ImageFont.load_default(44))
    return drawn


PAGES = [
    _drawn("The lock of Hollin is closed", "from the first of June."),
    _drawn("The fee is 75 crowns", "for a boat."),
]


@pytest.mark.needs("tesseract")
@pytest.mark.parametrize("compression", ["group4", "tiff_lzw"])
def test_each_page_of_a_tiff_is_read(tmp_path: Path, compression: str) -> None:
    pages = [page.convert("1") for page in PAGES]
    pages[0].save(tmp_path / "fax.tif", save_all=True, append_images=pages[1:], compression=compression, dpi=(150, 150))
    extracted = extract(tmp_path / "fax.tif", LIMITS, choose_ocr("tesseract", LIMITS))
    assert (extracted.pages, extracted.ocr_pages, extracted.media_type) == (2, (1, 2), "image/tiff")
    pages_of = {extracted.text[line.start : line.end]: line.page for line in extracted.lines}
    assert pages_of["The fee is 75 crowns"] == 2


@pytest.mark.needs("tesseract")
@pytest.mark.parametrize("orientation", [_UPRIGHT, _TURNED])
def test_a_photograph_of_a_page_is_read_as_it_was_held(tmp_path: Path, orientation: int) -> None:
    exif = Image.Exif()
    exif[_ORIENTATION] = orientation
    taken = PAGES[0] if orientation == _UPRIGHT else PAGES[0].rotate(90, expand=True)
    taken.save(tmp_path / "notice.jpg", exif=exif)
    extracted = extract(tmp_path / "notice.jpg", LIMITS, choose_ocr("tesseract", LIMITS))
    assert "The lock of Hollin is closed" in extracted.text
    assert extracted.lines[0].box is not None
    assert extracted.lines[0].box.y0 < 200


@pytest.mark.parametrize(("suffix", "magic"), [("tif", "TIFF"), ("jpg", "JPEG"), ("png", "PNG")])
def test_a_picture_is_a_page_that_is_drawn_where_its_words_are(tmp_path: Path, suffix: str, magic: str) -> None:
    path = tmp_path / f"a.{suffix}"
    PAGES[0].save(path, magic)
    engine = ReadingOcr("The lock of Hollin is closed")
    [line] = extract(path, LIMITS, engine).lines
    [picture] = engine.pictures
    assert (picture.width, picture.height) == (1240, 1754)
    renderer = PageRenderer()
    try:
        width, height = map(float, renderer.size(path, 1).result().split())
        drawing = renderer.page(path, 1, [line.box] if line.box else [], width=600).result()
    finally:
        renderer.close()
    assert width / height == pytest.approx(1240 / 1754, rel=0.01)
    assert line.box is not None
    assert line.box.x1 < width
    assert drawing.startswith(b"\x89PNG")


@pytest.mark.parametrize("suffix", ["tif", "tiff", "jpg", "jpeg", "png"])
def test_a_scan_without_ocr_is_refused_as_one(tmp_path: Path, suffix: str) -> None:
    assert suffix in UPLOAD_SUFFIXES
    PAGES[0].save(tmp_path / f"a.{suffix}")
    with pytest.raises(Refusal) as refused:
        extract(tmp_path / f"a.{suffix}", LIMITS, None)
    assert refused.value.reason == "ocr_missing"


@pytest.mark.parametrize(
    "content", [b"\x89PNG\r\n\x1a\n" + bytes(900), b"II*\x00" + b"\xff" * 900, b"\xff\xd8\xff" + bytes(900)]
)
def test_a_damaged_picture_is_refused_as_such(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "a").write_bytes(content)
    with pytest.raises(Refusal) as refused:
        extract(tmp_path / "a", LIMITS, ReadingOcr("words that nobody wrote"))
    assert refused.value.reason in ("damaged", "no_pages", "no_text")


def test_a_picture_of_more_pixels_than_a_poster_is_drawn_smaller(tmp_path: Path) -> None:
    Image.new("1", (30_000, 10_000), 1).save(tmp_path / "a.png")
    engine = ReadingOcr("The lock of Hollin is closed")
    extract(tmp_path / "a.png", LIMITS, engine)
    assert engine.pictures[0].width * engine.pictures[0].height <= 41_000_000


def test_pages_beyond_the_limit_are_too_many(tmp_path: Path) -> None:
    PAGES[0].save(tmp_path / "a.tif", save_all=True, append_images=PAGES)
    with pytest.raises(Refusal) as refused:
        extract(tmp_path / "a.tif", ExtractionLimits(max_pages=2), ReadingOcr("words"))
    assert refused.value.reason == "too_many_pages"
