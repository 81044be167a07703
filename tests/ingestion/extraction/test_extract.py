from __future__ import annotations

import itertools
import re
import zipfile
from pathlib import Path

import openpyxl
import pptx
import pymupdf
import pytest
from docx import Document

from ingestion.extraction.extract import extract
from ingestion.file_reading import ExtractionLimits
from ingestion.sandbox.sandbox import Sandbox
from ingestion.types.outcome import Refusal
from rag_engine.types.document import ExtractedText
from tests.ingestion.documents import bare_pdf, docx, drawing, pdf

LIMITS = ExtractionLimits()


def check_positions(extracted: ExtractedText) -> None:
    text = extracted.text
    assert "\n\n".join(text[block.start : block.end] for block in extracted.blocks) == text
    gaps = [text[a.end : b.start] for a, b in itertools.pairwise(extracted.lines)]
    assert set(gaps) <= {" ", "", "\n", "\n\n"}
    assert extracted.lines[0].start == 0
    assert extracted.lines[-1].end == len(text)
    assert all(1 <= line.page <= extracted.pages for line in extracted.lines)
    pages = [block.page for block in extracted.blocks]
    assert pages == sorted(pages)


@pytest.mark.long
def test_every_file_of_the_corpus_gives_a_title_and_text_that_its_lines_cover(corpus: Path, sandbox: Sandbox) -> None:
    # Two of the scans have tests of their own in test_pdf.py.
    tested_there = {"scan_en_linn_typewritten.pdf", "scan_fr_francais.pdf"}
    for path in sorted(path for path in corpus.iterdir() if path.name not in tested_there):
        extracted = sandbox.read(path).extracted
        check_positions(extracted)
        assert len(extracted.text) > 300, path.name
        assert extracted.title, path.name


def refusal(path: Path, limits: ExtractionLimits = LIMITS) -> Refusal:
    with pytest.raises(Refusal) as caught:
        extract(path, limits, None)
    assert path.name in caught.value.args[0]
    assert caught.value.help
    return caught.value


def write(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("a.txt", b"", "empty"),
        ("a.pdf", b"<!DOCTYPE html><p>404 Not Found", "mislabelled"),
        ("a.bin", bytes(range(256)) * 20, "unsupported_type"),
        ("a.txt", bytes(range(256)) * 20, "unsupported_type"),
        ("a", bytes(range(256)) * 20, "unsupported_type"),
        ("a.doc", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(3000), "unsupported_type"),
    ],
)
def test_bytes_that_are_no_document_are_rejected_with_what_they_are(
    tmp_path: Path, name: str, content: bytes, reason: str
) -> None:
    found = refusal(write(tmp_path / name, content))
    assert (found.reason, found.status) == (reason, "refused")


def test_a_pdf_that_breaks_off_is_damaged(tmp_path: Path, corpus: Path) -> None:
    whole = (corpus / "en_eu_cedefop_finland_vet.pdf").read_bytes()
    assert refusal(write(tmp_path / "half.pdf", whole[: len(whole) // 2])).reason == "damaged"


def test_a_docx_that_breaks_off_is_damaged(tmp_path: Path) -> None:
    whole = docx(tmp_path / "a.docx", "<w:p><w:r><w:t>Text</w:t></w:r></w:p>").read_bytes()
    assert refusal(write(tmp_path / "half.docx", whole[: len(whole) // 2])).reason == "damaged"


def test_a_pdf_with_a_password_is_encrypted(tmp_path: Path) -> None:
    path = pdf(tmp_path / "a.pdf", ["secret"], encryption=pymupdf.PDF_ENCRYPT_AES_256, user_pw="x", owner_pw="y")
    assert refusal(path).reason == "encrypted"


def test_a_pdf_named_docx_is_refused_naming_both(tmp_path: Path) -> None:
    found = refusal(pdf(tmp_path / "a.pdf", ["hello"]).rename(tmp_path / "a.docx"))
    assert found.reason == "mislabelled"
    assert "DOCX" in str(found)
    assert "PDF" in str(found)


def test_a_file_without_a_known_suffix_is_read_as_what_it_is(tmp_path: Path) -> None:
    assert extract(pdf(tmp_path / "download", ["hello world"]), LIMITS, None).media_type == "application/pdf"


def test_a_pdf_without_pages_is_refused(tmp_path: Path) -> None:
    assert refusal(bare_pdf(tmp_path / "a.pdf", 0)).reason in ("no_pages", "damaged")


def test_ten_thousand_pages_are_too_many(tmp_path: Path) -> None:
    found = refusal(bare_pdf(tmp_path / "a.pdf", 10_000))
    assert found.reason == "too_many_pages"
    assert "10000" in str(found)


def test_a_blank_picture_is_no_text(tmp_path: Path, sandbox: Sandbox) -> None:
    with drawing(path := tmp_path / "blank.pdf") as document:
        picture = pymupdf.Pixmap(pymupdf.csGRAY, pymupdf.IRect(0, 0, 600, 800), False)
        picture.clear_with(255)
        page = document.new_page()
        page.insert_image(page.rect, pixmap=picture)
    with pytest.raises(Refusal) as caught:
        sandbox.read(path)
    assert caught.value.reason == "no_text"


def test_a_scan_without_ocr_has_failed_and_may_be_tried_again(corpus: Path) -> None:
    found = refusal(corpus / "scan_fr_francais.pdf")
    assert (found.reason, found.status, found.retryable) == ("ocr_missing", "failed", True)


@pytest.mark.parametrize(
    "damage", [b"Fl\x81\xfe\xa4\xa6\x90s", "Straße und Höhe".encode() + b"\xff", b"Stra\xdfe" + bytes(5_000)]
)
def test_bytes_that_are_no_text_are_refused_with_the_first_and_its_place(tmp_path: Path, damage: bytes) -> None:
    found = refusal(write(tmp_path / "a.txt", damage))
    assert found.reason in ("not_utf8", "unsupported_type")
    assert found.reason == "unsupported_type" or " at offset " in str(found)


def test_utf16_with_its_mark_is_read(tmp_path: Path) -> None:
    assert extract(write(tmp_path / "a.txt", "Çevre planı".encode("utf-16")), LIMITS, None).text == "Çevre planı"


def test_a_zip_bomb_is_too_large_and_never_unpacked(tmp_path: Path) -> None:
    path = docx(tmp_path / "bomb.docx", "<w:p/>" + " " * 60_000_000)
    assert path.stat().st_size < 1_000_000
    assert refusal(path).reason == "too_large"


def test_entities_are_not_expanded(tmp_path: Path) -> None:
    secret = write(tmp_path / "secret", b"do not read me")
    prolog = f'<!DOCTYPE d [<!ENTITY e SYSTEM "{secret.as_uri()}">]>'
    path = docx(tmp_path / "a.docx", "<w:p><w:r><w:t>Seen &e;</w:t></w:r></w:p>", prolog)
    assert extract(path, LIMITS, None).text == "Seen"


def test_a_folder_is_refused(tmp_path: Path) -> None:
    assert refusal(tmp_path).reason == "unsupported_type"


def test_a_docx_gives_headings_tables_and_no_deleted_text(tmp_path: Path) -> None:
    body = (
        '<w:p><w:pPr><w:outlineLvl w:val="0"/></w:pPr><w:r><w:t>Flood Plan Act</w:t></w:r></w:p>'
        "<w:p><w:r><w:t>Each town</w:t><w:tab/><w:t>plans.</w:t></w:r><w:del><w:r><w:delText>Gone</w:delText></w:r>"
        "</w:del></w:p><w:tbl><w:tr><w:tc><w:p><w:r><w:t>River</w:t></w:r></w:p></w:tc>"
        "<w:tc><w:p><w:r><w:t>Level</w:t></w:r></w:p></w:tc></w:tr></w:tbl>"
    )
    extracted = extract(docx(tmp_path / "a.docx", body), LIMITS, None)
    assert extracted.text == "Flood Plan Act\n\nEach town plans.\n\nRiver | Level"
    assert [block.kind for block in extracted.blocks] == ["heading", "text", "table"]
    assert extracted.title == "Flood Plan Act"


def test_each_sheet_is_a_page(tmp_path: Path) -> None:
    workbook = openpyxl.Workbook()
    workbook.worksheets[0].title = "Rivers"
    workbook.worksheets[0].append(["Po", 652.0, None])
    workbook.create_sheet("Sources").append(["Register", 2])
    workbook.save(tmp_path / "a.xlsx")
    extracted = extract(tmp_path / "a.xlsx", LIMITS, None)
    assert extracted.text == "Rivers\n\nPo | 652\n\nSources\n\nRegister | 2"
    assert [line.page for line in extracted.lines] == [1, 1, 2, 2]


def test_each_slide_is_a_page_with_its_notes(tmp_path: Path) -> None:
    presentation = pptx.Presentation()
    slide = presentation.slides.add_slide(presentation.slide_layouts[1])
    slide.shapes.title.text = "Early warning"
    slide.placeholders[1].text = "Sirens\nApps"
    slide.notes_slide.notes_text_frame.text = "Say it slowly"
    presentation.save(tmp_path / "a.pptx")
    extracted = extract(tmp_path / "a.pptx", LIMITS, None)
    assert extracted.text == "Early warning\n\nSirens\n\nApps\n\nSpeaker notes: Say it slowly"
    assert [block.kind for block in extracted.blocks] == ["heading", "text", "text", "note"]


def test_a_web_page_loses_its_furniture_and_keeps_its_charset(tmp_path: Path) -> None:
    page = (
        '<html><head><meta charset="iso-8859-9"><title>Yangın Yönetmeliği - Site</title></head><body><nav>Menu</nav>'
        "<main><h1>Yangın Yönetmeliği</h1><p>Birinci <b>madde</b></p>loose<table><tr><td>a<td>b</table>"
        f"<script>alert(1)</script><p>{'söz ' * 60}</p></main><footer>Contact</footer></body></html>"
    )
    extracted = extract(write(tmp_path / "a.html", page.encode("iso-8859-9")), LIMITS, None)
    assert extracted.text.startswith("Yangın Yönetmeliği\n\nBirinci madde\n\nloose\n\na | b\n\nsöz")
    assert extracted.title == "Yangın Yönetmeliği"
    for furniture in ("Menu", "alert", "Contact"):
        assert furniture not in extracted.text


def test_markdown_keeps_its_headings_and_tables(tmp_path: Path) -> None:
    prose = "# Climate Law text\n\nOne\nparagraph.\n- item\n\n"
    source = prose + "| a | b |\n|---|---|\n| 1 | 2 |\n\nUnder lined\n===\n```\n# no\n```\n"
    extracted = extract(write(tmp_path / "a.md", source.encode()), LIMITS, None)
    kinds = [(extracted.text[block.start : block.end], block.kind) for block in extracted.blocks]
    assert kinds == [
        ("Climate Law text", "heading"),
        ("One paragraph.", "text"),
        ("• item", "text"),
        ("a | b\n\na: 1; b: 2", "table"),
        ("Under lined", "heading"),
        ("# no", "text"),
    ]


def test_strict_open_xml_is_read(tmp_path: Path) -> None:
    plan, book, deck = Document(), openpyxl.Workbook(), pptx.Presentation()
    plan.add_heading("Plan for floods", 1)
    plan.add_paragraph("The mayor opens the schools.")
    book.worksheets[0].append(["Town", "Sirens"])
    book.worksheets[0].append(["Hollin", 4])
    deck.slides.add_slide(deck.slide_layouts[5]).shapes.title.text = "The mayor opens the schools."
    for name, made in (("a.docx", plan), ("a.xlsx", book), ("a.pptx", deck)):
        made.save(str(tmp_path / name))
        strict = tmp_path / f"strict_{name}"
        with zipfile.ZipFile(tmp_path / name) as before, zipfile.ZipFile(strict, "w") as after:
            for part in before.namelist():
                renamed = re.sub(
                    rb"http://schemas.openxmlformats.org/(?!package)(\w+)/2006/",
                    rb"http://purl.oclc.org/ooxml/\1/",
                    before.read(part),
                )
                after.writestr(part, renamed)
        assert extract(strict, LIMITS, None).text == extract(tmp_path / name, LIMITS, None).text


def test_the_mark_of_an_amendment_does_not_stick_to_the_word_behind_it(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("The [F1Secretary of State] may [F12 amend] it [2].")
    assert extract(tmp_path / "a.txt", LIMITS, None).text == "The [F1 Secretary of State] may [F12 amend] it [2]."
