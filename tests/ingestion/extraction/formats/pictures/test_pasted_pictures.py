"""Pictures in office files: pages of text are read, icons and photographs are not, others counted."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import docx
import numpy as np
import openpyxl
import pptx
import pytest
from docx.shared import Inches
from openpyxl.drawing.image import Image as SheetImage
from PIL import Image, ImageDraw, ImageFont
from pptx.chart.data import CategoryChartData
from pptx.enum.chart import XL_CHART_TYPE

from ingestion.extraction.extract import extract
from ingestion.extraction.ocr.choose import choose_ocr
from ingestion.file_reading import ExtractionLimits
from ingestion.types.outcome import Refusal
from tests.ingestion.documents import ReadingOcr

LIMITS = ExtractionLimits()
WORDS = ("The lock of Hollin is closed", "from the first of June")
UNREAD = "Pictures that were not read: 1."


def picture(width: int = 1240, height: int = 1754, lines: tuple[str, ...] = WORDS, color: int = 255) -> bytes:
    """Return a PNG with lines of text."""
    drawn = Image.new("L", (width, height), color)
    for row, line in enumerate(lines):
        ImageDraw.Draw(drawn).text((60, 60 + 80 * row), line, fill=0, font=ImageFont.load_default(44))
    return _png(drawn)


def _png(drawn: Image.Image) -> bytes:
    file = io.BytesIO()
    drawn.save(file, "PNG")
    return file.getvalue()


def _word(path: Path, text: str, *pictures: bytes, width: float = 6) -> Path:
    document = docx.Document()
    if text:
        document.add_paragraph(text)
    for one in pictures:
        document.add_picture(io.BytesIO(one), width=Inches(width))
    document.save(str(path))
    return path


def _odt(path: Path, content: bytes) -> Path:
    spaces = " ".join(
        f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{full}:1.0"'
        for name, full in (("office", "office"), ("text", "text"), ("draw", "drawing"), ("svg", "svg-compatible"))
    )
    image = '<draw:image xmlns:xlink="http://www.w3.org/1999/xlink" xlink:href="Pictures/1.png"/>'
    frame = f'<draw:frame svg:width="17cm" svg:height="24cm">{image}</draw:frame>'
    body = f"<text:p>Please find enclosed</text:p><text:p>{frame}</text:p>"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.text")
        archive.writestr(
            "content.xml",
            f"<office:document-content {spaces}><office:body><office:text>{body}</office:text></office:body>"
            "</office:document-content>",
        )
        archive.writestr("Pictures/1.png", content)
    return path


def _epub(path: Path, content: bytes) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("mimetype", "application/epub+zip")
        archive.writestr(
            "META-INF/container.xml",
            '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
            '<rootfile full-path="book/a.opf"/></rootfiles></container>',
        )
        archive.writestr(
            "book/a.opf",
            '<package xmlns="http://www.idpf.org/2007/opf"><metadata/><manifest>'
            '<item id="a" href="text/a.xhtml" media-type="application/xhtml+xml"/></manifest>'
            '<spine><itemref idref="a"/></spine></package>',
        )
        page = '<html><body><p>Please find enclosed</p><img alt="" src="../one%20page.png"/></body></html>'
        archive.writestr("book/text/a.xhtml", page)
        archive.writestr("book/one page.png", content)
    return path


def _deck(path: Path, content: bytes) -> Path:
    presentation = pptx.Presentation()
    slide = presentation.slides.add_slide(presentation.slide_layouts[5])
    slide.shapes.title.text = "Please find enclosed"
    slide.shapes.add_picture(io.BytesIO(content), 0, Inches(2), height=Inches(5))
    presentation.save(str(path))
    return path


def _workbook(path: Path, content: bytes) -> Path:
    workbook = openpyxl.Workbook()
    sheet = workbook.create_sheet("Letters", 0)
    sheet.append(["Please find enclosed"])
    sheet.add_image(SheetImage(io.BytesIO(content)), "C3")
    workbook.save(path)
    return path


def _rtf(path: Path, content: bytes) -> Path:
    digits = content.hex().encode()
    shown = rb"{\pict\picwgoal8640\pichgoal12240\pngblip " + digits + b"}"
    path.write_bytes(rb"{\rtf1 Please find enclosed\par {\*\shppict" + shown + rb"}{\nonshppict" + shown + b"}}")
    return path


_MAKERS = {
    "docx": lambda path, content: _word(path, "Please find enclosed", content),
    "odt": _odt,
    "epub": _epub,
    "pptx": _deck,
    "xlsx": _workbook,
    "rtf": _rtf,
}


@pytest.mark.parametrize("suffix", _MAKERS)
def test_a_page_pasted_as_a_picture_is_read_and_without_ocr_counted(tmp_path: Path, suffix: str) -> None:
    path = _MAKERS[suffix](tmp_path / f"a.{suffix}", picture())
    read = extract(path, LIMITS, ReadingOcr(*WORDS))
    assert "Please find enclosed" in read.text
    assert "closed from the first of June" in read.text
    assert read.warnings == ()
    assert all(line.box is None for line in read.lines)
    unread = extract(path, LIMITS, None)
    assert "June" not in unread.text
    assert unread.warnings == (UNREAD,)


@pytest.mark.needs("tesseract")
def test_pages_that_follow_each_other_are_read_in_their_order(tmp_path: Path) -> None:
    pages = [picture(lines=(f"Page {number} of the notice", "of the water board")) for number in (1, 2)]
    text = extract(_word(tmp_path / "a.docx", "", *pages), LIMITS, choose_ocr("tesseract", LIMITS)).text
    assert text.index("Page 1 of the notice") < text.index("Page 2 of the notice")


def test_a_picture_within_a_page_is_a_figure(tmp_path: Path) -> None:
    path = _word(tmp_path / "a.docx", "Fees of the crane", picture(1600, 500), width=5)
    assert extract(path, LIMITS, ReadingOcr(*WORDS)).text == f"Fees of the crane\n\n[Figure] {' '.join(WORDS)}"


def test_icons_and_photographs_and_letterheads_are_not_read(tmp_path: Path) -> None:
    grain = _png(Image.fromarray(np.random.default_rng(1).integers(0, 255, (500, 800), dtype=np.uint8)))
    icon, letterhead = picture(96, 96, ()), picture(1600, 500)
    path = _word(tmp_path / "a.docx", "A report", grain, icon, letterhead, letterhead, letterhead, width=5)
    engine = ReadingOcr(*WORDS)
    assert extract(path, LIMITS, engine).text == "A report"
    assert engine.pictures == []


def test_pictures_beyond_a_number_are_counted_and_not_read(tmp_path: Path) -> None:
    pictures = [picture(800, 300, (f"Box {number} of the plan",)) for number in range(110)]
    engine = ReadingOcr(*WORDS)
    extracted = extract(_word(tmp_path / "a.docx", "A report", *pictures, width=5), LIMITS, engine)
    assert len(engine.pictures) == 100
    assert extracted.warnings == ("Pictures that were not read: 10.",)


def test_a_picture_in_which_there_are_no_words_adds_nothing(tmp_path: Path) -> None:
    extracted = extract(_word(tmp_path / "a.docx", "A report", picture(lines=())), LIMITS, ReadingOcr("~ |", "; ,"))
    assert extracted.text == "A report"
    assert extracted.warnings == ()


@pytest.mark.parametrize(
    "content", [b"\x01\x00\x00\x00" + bytes(3000), b"\x89PNG\r\n\x1a\nbroken", b"<html>not a picture"]
)
def test_a_picture_that_cannot_be_drawn_is_counted(tmp_path: Path, content: bytes) -> None:
    extracted = extract(_odt(tmp_path / "a.odt", content), LIMITS, ReadingOcr(*WORDS))
    assert extracted.text == "Please find enclosed"
    assert extracted.warnings == (UNREAD,)


@pytest.mark.parametrize(("ocr", "reason"), [(None, "ocr_missing"), (ReadingOcr("~ |"), "no_text")])
def test_a_file_of_nothing_but_pictures_is_not_called_blank(
    tmp_path: Path, ocr: ReadingOcr | None, reason: str
) -> None:
    with pytest.raises(Refusal) as refused:
        extract(_word(tmp_path / "a.docx", "", picture()), LIMITS, ocr)
    assert refused.value.reason == reason
    assert "blank" not in f"{refused.value.message} {refused.value.help}"


def test_a_chart_in_a_text_is_a_table_in_its_place(tmp_path: Path) -> None:
    deck = pptx.Presentation()
    data = CategoryChartData()
    data.categories = ["2019", "2020"]
    data.add_series("Flood", (12, 40))
    frame = deck.slides.add_slide(deck.slide_layouts[6]).shapes.add_chart(XL_CHART_TYPE.PIE, 0, 0, 9, 9, data)
    path = _word(tmp_path / "a.docx", "Costs by year")
    drawing = (
        '<w:p><w:r><w:drawing><c:chart xmlns:c="http://schemas.openxmlformats.org/drawingml/2006/chart" '
        'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships" r:id="rId99"/></w:drawing>'
        "</w:r></w:p>"
    )
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    parts["word/charts/chart1.xml"] = frame.chart.part.blob
    parts["word/document.xml"] = parts["word/document.xml"].replace(b"<w:sectPr", drawing.encode() + b"<w:sectPr", 1)
    parts["word/_rels/document.xml.rels"] = parts["word/_rels/document.xml.rels"].replace(
        b"</Relationships>", b'<Relationship Id="rId99" Type="chart" Target="charts/chart1.xml"/></Relationships>'
    )
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    assert extract(path, LIMITS, None).text.split("\n\n") == [
        "Costs by year",
        "Flood",
        "2019 – Flood: 12",
        "2020 – Flood: 40",
    ]


def test_a_chart_in_an_opendocument_text_is_a_table_in_its_place(tmp_path: Path) -> None:
    table = "".join(
        f"<table:table-row>{''.join(f'<table:table-cell><text:p>{text}</text:p></table:table-cell>' for text in row)}"
        "</table:table-row>"
        for row in (("", "Flood"), ("2019", "12"))
    )
    path = _odt(tmp_path / "a.odt", picture())
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    parts["content.xml"] = parts["content.xml"].replace(
        b"<draw:image", b'<draw:object xmlns:xlink="http://www.w3.org/1999/xlink" xlink:href="./Object 1"/><draw:image'
    )
    spaces = " ".join(f'xmlns:{name}="urn:{name}"' for name in ("office", "chart", "table", "text"))
    parts["Object 1/content.xml"] = (
        f"<office:document {spaces}><office:body><office:chart><chart:chart><chart:title><text:p>Damage</text:p>"
        f"</chart:title><table:table>{table}</table:table></chart:chart></office:chart></office:body></office:document>"
    ).encode()
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    extracted = extract(path, LIMITS, None)
    assert extracted.text.split("\n\n") == ["Please find enclosed", "Damage", "Flood", "2019 – Flood: 12"]
    assert extracted.warnings == ()
