"""DOCX, PPTX, XLSX and ODT files, with the clock taken out so that they come out the same each time."""

from __future__ import annotations

import io
import re
import zipfile
from datetime import datetime
from html import escape

import docx
import openpyxl
import pptx
from docx.document import Document as WordDocument
from openpyxl.styles import Alignment, Font
from pptx.util import Inches, Pt

from rendering.markup import Bullets, Heading, Paragraph, Piece, SampleDocument, Table, plain, slides


def docx_file(document: SampleDocument) -> bytes:
    """A Word file with heading styles, tables and a page header."""
    word: WordDocument = docx.Document()
    word.sections[0].header.paragraphs[0].text = f"{document.authority} | {document.short_title}"
    word.add_heading(document.title, level=0)
    word.add_paragraph(document.mark, style="Intense Quote")
    word.add_paragraph(f"{document.authority}, {document.date}")
    for piece in document.pieces:
        match piece:
            case Heading(level, text):
                word.add_heading(text, level=level)
            case Paragraph(text):
                paragraph = word.add_paragraph()
                for i, run in enumerate(text.split("**")):
                    paragraph.add_run(run).bold = i % 2 == 1
            case Bullets(items):
                for item in items:
                    word.add_paragraph(plain(item), style="List Bullet")
            case Table(rows):
                table = word.add_table(rows=len(rows), cols=len(rows[0]), style="Light Grid Accent 1")
                for cells, row in zip(rows, table.rows, strict=True):
                    for text, cell in zip(cells, row.cells, strict=True):
                        cell.text = plain(text)
                word.add_paragraph()
    return _saved(word, document)


def pptx_file(document: SampleDocument) -> bytes:
    """A presentation: a title slide, then one slide per heading of level 1."""
    deck = pptx.Presentation()
    cover = deck.slides.add_slide(deck.slide_layouts[0])
    cover.shapes.title.text = document.title
    cover.placeholders[1].text = f"{document.authority}\n{document.date}\n{document.mark}"
    for title, pieces in slides(document.pieces):
        table = next((piece for piece in pieces if isinstance(piece, Table)), None)
        slide = deck.slides.add_slide(deck.slide_layouts[1])
        slide.shapes.title.text = title
        body = slide.placeholders[1]
        body.left, body.top, body.width = Inches(0.5), Inches(1.5), Inches(9)
        body.height = Inches(2.4 if table else 5.2)
        lines = [line for piece in pieces for line in _lines(piece)]
        body.text_frame.text = "\n".join(lines)
        for paragraph in body.text_frame.paragraphs:
            paragraph.font.size = Pt(15)
        if table:
            shape = slide.shapes.add_table(
                len(table.rows), len(table.rows[0]), Inches(0.5), Inches(4.1), Inches(9), Inches(0.35 * len(table.rows))
            )
            for r, row in enumerate(table.rows):
                for c, text in enumerate(row):
                    cell = shape.table.cell(r, c)
                    cell.text = plain(text)
                    cell.text_frame.paragraphs[0].font.size = Pt(12)
    return _saved(deck, document)


def _lines(piece: Piece) -> list[str]:
    match piece:
        case Paragraph(text):
            return [plain(text)]
        case Bullets(items):
            return [plain(item) for item in items]
    return []


def xlsx_file(document: SampleDocument) -> bytes:
    """A workbook: a sheet about itself, then one sheet per heading of level 1, numbers as numbers."""
    workbook = openpyxl.Workbook()
    about = workbook.worksheets[0]
    about.title = "README"
    for row in (document.title, document.mark, f"{document.authority}, {document.date}"):
        about.append([row])
    about.column_dimensions["A"].width = 110
    for title, pieces in slides(document.pieces):
        sheet = workbook.create_sheet(title)
        for piece in pieces:
            for line in _lines(piece):
                sheet.append([line])
            if isinstance(piece, Table):
                sheet.append([])
                for row_number, cells in enumerate(piece.rows):
                    sheet.append([_value(cell) for cell in cells])
                    if row_number == 0:
                        for cell in sheet[sheet.max_row]:
                            cell.font = Font(bold=True)
                            cell.alignment = Alignment(wrap_text=True)
                sheet.append([])
        for column in "ABCDEFG":
            sheet.column_dimensions[column].width = 24
    return _saved(workbook, document)


def _value(cell: str) -> str | int | float:
    if re.fullmatch(r"-?\d+", cell):
        return int(cell)
    return float(cell) if re.fullmatch(r"-?\d+\.\d+", cell) else plain(cell)


def _saved(made: WordDocument | pptx.presentation.Presentation | openpyxl.Workbook, document: SampleDocument) -> bytes:
    """The file with title, author and date in its properties."""
    properties = made.properties if isinstance(made, openpyxl.Workbook) else made.core_properties
    properties.title, properties.subject = document.title, document.mark
    properties.language = document.language
    properties.created = properties.modified = datetime.fromisoformat(document.date)
    if isinstance(made, openpyxl.Workbook):
        properties.creator = document.authority
    else:
        properties.author = document.authority
    raw = io.BytesIO()
    made.save(raw)
    return _without_clock(raw.getvalue(), document.date)


def _without_clock(archive: bytes, date: str) -> bytes:
    """The same archive with the times of its writing replaced by the document's date."""
    target = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(archive)) as source, zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as fixed:
        for name in source.namelist():
            content = source.read(name)
            if name == "docProps/core.xml":
                content = re.sub(rb">\d{4}-\d\d-\d\dT[\d:]+Z<", f">{date}T00:00:00Z<".encode(), content)
            fixed.writestr(_entry(name), content)
    return target.getvalue()


def _entry(name: str, method: int = zipfile.ZIP_DEFLATED) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
    entry.compress_type = method
    return entry


NAMESPACES = " ".join(
    f'xmlns:{prefix}="{address}"'
    for prefix, address in {
        "office": "urn:oasis:names:tc:opendocument:xmlns:office:1.0",
        "text": "urn:oasis:names:tc:opendocument:xmlns:text:1.0",
        "table": "urn:oasis:names:tc:opendocument:xmlns:table:1.0",
        "meta": "urn:oasis:names:tc:opendocument:xmlns:meta:1.0",
        "manifest": "urn:oasis:names:tc:opendocument:xmlns:manifest:1.0",
        "dc": "http://purl.org/dc/elements/1.1/",
    }.items()
)
HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n'
ODT = "application/vnd.oasis.opendocument.text"


def odt_file(document: SampleDocument) -> bytes:
    """Return an OpenDocument text, written by hand: headings, paragraphs, lists and tables."""
    first: list[Piece] = [
        Heading(1, document.title),
        Paragraph(document.mark),
        Paragraph(f"{document.authority}, {document.date}"),
    ]
    rest: list[Piece] = [Heading(p.level + 1, p.text) if isinstance(p, Heading) else p for p in document.pieces]
    body = "".join(_odt_piece(piece) for piece in first + rest)
    content = (
        f'{HEAD}<office:document-content {NAMESPACES} office:version="1.3">'
        f"<office:body><office:text>{body}</office:text></office:body></office:document-content>"
    )
    meta = (
        f'{HEAD}<office:document-meta {NAMESPACES} office:version="1.3"><office:meta>'
        f"<dc:title>{escape(document.title)}</dc:title><dc:creator>{escape(document.authority)}</dc:creator>"
        f"<dc:language>{document.language}</dc:language><dc:date>{document.date}T00:00:00</dc:date>"
        "</office:meta></office:document-meta>"
    )
    entries = "".join(
        f'<manifest:file-entry manifest:full-path="{path}" manifest:media-type="{kind}"/>'
        for path, kind in (("/", ODT), ("content.xml", "text/xml"), ("meta.xml", "text/xml"))
    )
    manifest = f'{HEAD}<manifest:manifest {NAMESPACES} manifest:version="1.3">{entries}</manifest:manifest>'
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        # The format wants its type first and uncompressed.
        archive.writestr(_entry("mimetype", zipfile.ZIP_STORED), ODT)
        archive.writestr(_entry("content.xml"), content)
        archive.writestr(_entry("meta.xml"), meta)
        archive.writestr(_entry("META-INF/manifest.xml"), manifest)
    return target.getvalue()


def _odt_piece(piece: Piece) -> str:
    match piece:
        case Heading(level, text):
            return f'<text:h text:outline-level="{level}">{escape(text)}</text:h>'
        case Paragraph(text):
            return f"<text:p>{escape(plain(text))}</text:p>"
        case Bullets(items):
            inside = "".join(f"<text:list-item><text:p>{escape(plain(i))}</text:p></text:list-item>" for i in items)
            return f"<text:list>{inside}</text:list>"
        case Table(rows):
            columns = f'<table:table-column table:number-columns-repeated="{len(rows[0])}"/>'
            body = "".join(f"<table:table-row>{''.join(_odt_cell(c) for c in row)}</table:table-row>" for row in rows)
            return f"<table:table>{columns}{body}</table:table>"
    raise TypeError(f"An index needs pages, and {type(piece).__name__} has none here")


def _odt_cell(text: str) -> str:
    return f'<table:table-cell office:value-type="string"><text:p>{escape(plain(text))}</text:p></table:table-cell>'
