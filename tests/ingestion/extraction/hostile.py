"""Small files that are made to break or to hold up their readers."""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

_ENTITIES = b'<!DOCTYPE x [<!ENTITY a "%s">' % (b"a" * 40)
_ENTITIES += b"".join(b'<!ENTITY %c "%s">' % (98 + n, b"&%c;" % (97 + n) * 10) for n in range(9)) + b"]>"


def pdf_that_counts(path: Path, count: int = 2_000_000_000) -> Path:
    """Write a PDF of one page that claims to have more."""
    path.write_bytes(
        b"%%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n"
        b"2 0 obj<</Type/Pages/Count %d/Kids[3 0 R]>>endobj\n"
        b"3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 200]>>endobj\ntrailer<</Root 1 0 R>>\n%%%%EOF" % count
    )
    return path


def pdf_that_repeats(path: Path, levels: int = 8) -> Path:
    """Write a PDF whose page tree names each of its branches ten times: 100 million pages of 1 KB."""
    body = b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n"
    for level in range(levels):
        below = b" ".join([b"%d 0 R" % (3 + level)] * 10)
        body += b"%d 0 obj<</Type/Pages/Count %d/Kids[%s]>>endobj\n" % (2 + level, 10 ** (levels - level), below)
    body += b"%d 0 obj<</Type/Page/MediaBox[0 0 200 200]>>endobj\ntrailer<</Root 1 0 R>>\n%%%%EOF" % (2 + levels)
    path.write_bytes(body)
    return path


def pdf_that_draws(path: Path, content: bytes) -> Path:
    """Write a PDF of one page with this content, packed."""
    packed = zlib.compress(content)
    path.write_bytes(
        b"%%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n"
        b"2 0 obj<</Type/Pages/Count 1/Kids[3 0 R]>>endobj\n"
        b"3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Contents 4 0 R"
        b"/Resources<</Font<</F1<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>>>>>>>endobj\n"
        b"4 0 obj<</Length %d/Filter/FlateDecode>>stream\n%b\nendstream endobj\n"
        b"trailer<</Root 1 0 R>>\n%%%%EOF" % (len(packed), packed)
    )
    return path


def workbook_without_its_strings(path: Path) -> Path:
    """Write a workbook whose cells name shared strings that are not there."""
    return _workbook(path, lambda sheet: sheet.replace(b'<c r="B1" t="n"><v>0</v>', b'<c r="B1" t="s"><v>99999</v>'))


def workbook_of_entities(path: Path) -> Path:
    """Write a workbook of 5 KB with a cell of 40 GB."""
    return _workbook(path, lambda sheet: _ENTITIES + sheet.replace(b"word 0", b"&j;"))


def document_of_entities(path: Path) -> Path:
    """Write a DOCX of a few KB with a paragraph of 40 GB."""
    import docx

    made = docx.Document()
    made.add_paragraph("word 0")
    made.save(str(path))
    declaration = b'<?xml version="1.0"?>' + _ENTITIES
    return rewritten(path, "word/document.xml", lambda part: declaration + _body(part).replace(b"word 0", b"&j;"))


def plain_package(path: Path) -> Path:
    """Write a presentation, a workbook or a document, as the suffix says."""
    if path.suffix == ".pptx":
        import pptx

        presentation = pptx.Presentation()
        slide = presentation.slides.add_slide(presentation.slide_layouts[5])
        slide.shapes.title.text = "Dykes"
        presentation.save(str(path))
        return path
    if path.suffix == ".xlsx":
        return _workbook(path, lambda sheet: sheet)
    import docx

    made = docx.Document()
    made.add_paragraph("word 0")
    made.save(str(path))
    return path


def with_lost_bytes(path: Path) -> None:
    """Blank the middle of every part that is packed."""
    content = bytearray(path.read_bytes())
    with zipfile.ZipFile(path) as package:
        entries = [one for one in package.infolist() if one.compress_size > 40 and one.filename.endswith("xml")]
    for one in entries:
        if one.filename != "[Content_Types].xml":
            begin = one.header_offset + 30 + len(one.filename) + one.compress_size // 2
            content[begin : begin + 16] = bytes(16)
    path.write_bytes(content)


def _workbook(path: Path, change: Callable[[bytes], bytes]) -> Path:
    import openpyxl

    made = openpyxl.Workbook()
    sheet = made.create_sheet(index=0)
    for number in range(20):
        sheet.append([f"word {number}", number])
    made.save(path)
    return rewritten(path, "xl/worksheets/sheet1.xml", lambda part: change(_body(part)))


def _body(part: bytes) -> bytes:
    return part.split(b"?>", 1)[-1]


def rewritten(path: Path, name: str, change: Callable[[bytes], bytes]) -> Path:
    """Write a package again with one of its parts changed."""
    with zipfile.ZipFile(path) as package:
        parts = {one: package.read(one) for one in package.namelist()}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as package:
        for one, content in parts.items():
            package.writestr(one, change(content) if one == name else content)
    return path
