"""Struck and hidden words are out of the text in every format that can say so, and are counted."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from pathlib import Path

import openpyxl
import pptx
import pymupdf
import pytest
from openpyxl.cell.rich_text import CellRichText, TextBlock
from openpyxl.cell.text import InlineFont
from openpyxl.styles import Font
from pptx.util import Inches

from ingestion.extraction.extract import extract
from ingestion.file_reading import ExtractionLimits
from tests.ingestion.documents import docx

BEFORE, OUT, AFTER = "Owners inspect dykes every ", "five", " two years."
STANDS = "Owners inspect dykes every two years."
WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_ODF = "urn:oasis:names:tc:opendocument:xmlns"
_SPACES = " ".join(f'xmlns:{name}="{_ODF}:{name}:1.0"' for name in ("office", "text", "style", "table"))


def word(look: str) -> Callable[[Path], Path]:
    def write(folder: Path) -> Path:
        runs = f"<w:r><w:rPr>{look}</w:rPr><w:t>{OUT}</w:t></w:r>"
        said = '<w:r><w:t xml:space="preserve">{}</w:t></w:r>'
        return docx(folder / "a.docx", f"<w:p>{said.format(BEFORE)}{runs}{said.format(AFTER)}</w:p>")

    return write


def word_by_style(folder: Path) -> Path:
    file = word('<w:rStyle w:val="Old"/>')(folder)
    style = '<w:style w:styleId="{}">{}</w:style>'
    with zipfile.ZipFile(file, "a") as archive:
        archive.writestr(
            "word/styles.xml",
            f'<w:styles xmlns:w="{WORD}">'
            + style.format("Repealed", "<w:rPr><w:strike/></w:rPr>")
            + style.format("Old", '<w:basedOn w:val="Repealed"/>')
            + "</w:styles>",
        )
    return file


def odt(look: str, parent: str = "") -> Callable[[Path], Path]:
    def write(folder: Path) -> Path:
        styles = f'<style:style style:name="B" style:family="text"><style:text-properties {look}/></style:style>'
        styles += '<style:style style:name="T" style:family="text" style:parent-style-name="B"/>'
        body = f'<text:p>{BEFORE}<text:span text:style-name="T">{OUT}</text:span>{AFTER}</text:p>'
        with zipfile.ZipFile(folder / "a.odt", "w") as archive:
            archive.writestr("mimetype", "application/vnd.oasis.opendocument.text")
            archive.writestr("META-INF/manifest.xml", "<manifest/>")
            archive.writestr(
                "content.xml",
                f"<office:document-content {_SPACES}><office:automatic-styles>{styles}</office:automatic-styles>"
                f"<office:body><office:text>{body}</office:text></office:body></office:document-content>",
            )
        return folder / "a.odt"

    return write


def text(name: str, written: str) -> Callable[[Path], Path]:
    def write(folder: Path) -> Path:
        (folder / name).write_text(written, encoding="utf-8")
        return folder / name

    return write


def html(marked: str) -> Callable[[Path], Path]:
    return text("a.html", f"<html><body><p>{BEFORE}{marked}{AFTER}</p></body></html>")


def rtf(marked: str) -> Callable[[Path], Path]:
    return text("a.rtf", rf"{{\rtf1\ansi\deff0{{\fonttbl{{\f0 Times;}}}}\f0 {BEFORE}{marked}{AFTER}\par}}")


def slides(folder: Path) -> Path:
    deck = pptx.Presentation()
    line = deck.slides.add_slide(deck.slide_layouts[6]).shapes.add_textbox(*[Inches(1)] * 4).text_frame.paragraphs[0]
    for said in (BEFORE, OUT, AFTER):
        run = line.add_run()
        run.text = said
        if said == OUT:
            run.font._element.set("strike", "sngStrike")
    deck.save(folder / "a.pptx")
    return folder / "a.pptx"


def hidden_slide(folder: Path) -> Path:
    deck = pptx.Presentation()
    for said in (STANDS, OUT):
        slide = deck.slides.add_slide(deck.slide_layouts[6])
        slide.shapes.add_textbox(*[Inches(1)] * 4).text_frame.text = said
    slide._element.set("show", "0")
    deck.save(folder / "a.pptx")
    return folder / "a.pptx"


def sheet(change: Callable[[openpyxl.Workbook], None]) -> Callable[[Path], Path]:
    def write(folder: Path) -> Path:
        book = openpyxl.Workbook()
        change(book)
        book.save(folder / "a.xlsx")
        return folder / "a.xlsx"

    return write


def struck_in_a_cell(book: openpyxl.Workbook) -> None:
    book.worksheets[0].append([CellRichText(BEFORE, TextBlock(InlineFont(strike=True), OUT), AFTER)])


def struck_cell(book: openpyxl.Workbook) -> None:
    book.worksheets[0].append([STANDS, OUT])
    book.worksheets[0]["B1"].font = Font(strike=True)


def hidden_sheet(book: openpyxl.Workbook) -> None:
    book.worksheets[0].append([STANDS])
    other = book.create_sheet("five")
    other.sheet_state = "hidden"


def hidden_row(book: openpyxl.Workbook) -> None:
    book.worksheets[0].append([STANDS])
    book.worksheets[0].append([OUT])
    book.worksheets[0].row_dimensions[2].hidden = True


def hidden_column(book: openpyxl.Workbook) -> None:
    book.worksheets[0].append([STANDS, OUT])
    book.worksheets[0].column_dimensions["B"].hidden = True


def pdf(folder: Path) -> Path:
    with pymupdf.open() as document:
        page = document.new_page()
        page.insert_text((72, 100), f"{BEFORE}{OUT}{AFTER}")
        box = page.search_for(OUT)[0]
        middle = (box.y0 + box.y1) / 2
        page.draw_line((box.x0, middle), (box.x1, middle), width=0.6)
        under = page.search_for("two")[0]
        page.draw_line((under.x0, under.y1 - 1), (under.x1, under.y1 - 1), width=0.6)
        document.save(folder / "a.pdf")
    return folder / "a.pdf"


STRUCK = {
    "DOCX": word("<w:strike/>"),
    "DOCX, doubly": word("<w:dstrike/>"),
    "DOCX, by style": word_by_style,
    "ODT": odt('style:text-line-through-style="solid"'),
    "HTML, del": html(f"<del>{OUT}</del>"),
    "HTML, s": html(f"<s>{OUT}</s>"),
    "HTML, style": html(f'<span style="text-decoration: line-through">{OUT}</span>'),
    "RTF": rtf(rf"{{\strike {OUT}}}"),
    "RTF, switched off": rtf(rf"\strike {OUT}\strike0 "),
    "PPTX": slides,
    "XLSX, in a cell": sheet(struck_in_a_cell),
    "XLSX, a cell": sheet(struck_cell),
    "Markdown": text("a.md", f"{BEFORE}~~{OUT}~~{AFTER}\n"),
    "PDF": pdf,
}
HIDDEN = {
    "DOCX": word("<w:vanish/>"),
    "ODT": odt('text:display="none"'),
    "RTF": rtf(rf"{{\v {OUT}}}"),
    "PPTX, a slide": hidden_slide,
    "XLSX, a sheet": sheet(hidden_sheet),
    "XLSX, a row": sheet(hidden_row),
    "XLSX, a column": sheet(hidden_column),
}
CASES = [("Struck", name, write) for name, write in STRUCK.items()]
CASES += [("Hidden", name, write) for name, write in HIDDEN.items()]


@pytest.mark.parametrize(("kind", "write"), [(kind, write) for kind, _, write in CASES], ids=[
    f"{kind} {name}" for kind, name, _ in CASES
])  # fmt: skip
def test_what_does_not_stand_is_out_and_counted(tmp_path: Path, kind: str, write: Callable[[Path], Path]) -> None:
    extracted = extract(write(tmp_path), ExtractionLimits(), None)
    assert " ".join(extracted.text.split()).removeprefix("Sheet ") == STANDS
    assert [str(one).startswith(f"{kind} words") and str(one).endswith(": 1.") for one in extracted.warnings] == [True]


@pytest.mark.parametrize("look", ['<w:strike w:val="0"/>', "<w:u/>", ""])
def test_what_is_not_struck_stays(tmp_path: Path, look: str) -> None:
    extracted = extract(word(look)(tmp_path), ExtractionLimits(), None)
    assert (extracted.text, extracted.warnings) == (f"{BEFORE}{OUT}{AFTER}", ())


def test_a_line_across_a_part_of_a_word_of_a_pdf_strikes_nothing(tmp_path: Path) -> None:
    with pymupdf.open() as document:
        page = document.new_page()
        page.insert_text((72, 100), "The twenty-first session.")
        box = page.search_for("y-f")[0]
        page.draw_line((box.x0, (box.y0 + box.y1) / 2), (box.x1, (box.y0 + box.y1) / 2), width=0.6)
        document.save(tmp_path / "a.pdf")
    extracted = extract(tmp_path / "a.pdf", ExtractionLimits(), None)
    assert (extracted.text, extracted.warnings) == ("The twenty-first session.", ())


def test_what_was_struck_before_a_tracked_change_stands(tmp_path: Path) -> None:
    look = "<w:rPrChange><w:rPr><w:strike/><w:vanish/></w:rPr></w:rPrChange>"
    extracted = extract(word(look)(tmp_path), ExtractionLimits(), None)
    assert (extracted.text, extracted.warnings) == (f"{BEFORE}{OUT}{AFTER}", ())


def test_struck_words_of_a_header_are_out_and_counted(tmp_path: Path) -> None:
    file = docx(tmp_path / "a.docx", "<w:p><w:r><w:t>Owners inspect dykes.</w:t></w:r></w:p>")
    run = "<w:r><w:rPr><w:strike/></w:rPr><w:t>Draft </w:t></w:r><w:r><w:t>Act</w:t></w:r>"
    with zipfile.ZipFile(file, "a") as archive:
        archive.writestr("word/header1.xml", f'<w:hdr xmlns:w="{WORD}"><w:p>{run}</w:p></w:hdr>')
    extracted = extract(file, ExtractionLimits(), None)
    assert extracted.text == "Act\n\nOwners inspect dykes."
    assert len(extracted.warnings) == 1


def test_moved_words_stand_once_at_their_new_place(tmp_path: Path) -> None:
    said = "<w:r><w:t>{}</w:t></w:r>"
    body = f"<w:p><w:moveFrom>{said.format('Fines double.')}</w:moveFrom>{said.format('Dykes are inspected.')}</w:p>"
    body += f"<w:p><w:moveTo>{said.format('Fines double.')}</w:moveTo></w:p>"
    assert extract(docx(tmp_path / "a.docx", body), ExtractionLimits(), None).text == (
        "Dykes are inspected.\n\nFines double."
    )


def test_what_is_struck_over_paragraphs_of_rtf_is_out_of_each(tmp_path: Path) -> None:
    body = (
        r"{\rtf1\ansi\deff0{\fonttbl{\f0 Times;}}\f0 One stays.\par \strike Two goes.\par Three goes.\plain\par Four.}"
    )
    (tmp_path / "a.rtf").write_text(body)
    extracted = extract(tmp_path / "a.rtf", ExtractionLimits(), None)
    assert extracted.text == "One stays.\n\nFour."
    assert [str(one).rpartition(" ")[2] for one in extracted.warnings] == ["4."]


def test_a_struck_row_of_a_table_in_html_is_out(tmp_path: Path) -> None:
    rows = "<tr><th>Duty<th>Years</tr><tr><td>Inspect<td><s>five</s> two</tr>"
    (tmp_path / "a.html").write_text(f"<html><body><table>{rows}</table></body></html>")
    assert extract(tmp_path / "a.html", ExtractionLimits(), None).text.endswith("Duty: Inspect; Years: two")
