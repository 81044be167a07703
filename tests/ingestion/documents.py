"""Small documents, made where they are needed."""

from __future__ import annotations

import zipfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pymupdf

from ingestion.file_reading import OcrLine, Picture
from rag_engine.types.document import Box

_CONTENT_TYPES = (
    '<?xml version="1.0"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
    '<Override PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-officedocument.'
    'wordprocessingml.document.main+xml"/></Types>'
)


class ReadingOcr:
    """An OCR engine that reads the same lines on every picture."""

    name = "reading"
    note = ""

    def __init__(self, *texts: str) -> None:
        self.pictures: list[Picture] = []
        rows = enumerate(texts)
        self._lines = tuple(OcrLine(text, Box(10, 10 + 40 * row, 300, 40 + 40 * row), 0) for row, text in rows)

    def read(self, pictures: Iterable[Picture]) -> Iterator[tuple[OcrLine, ...]]:
        for picture in pictures:
            self.pictures.append(picture)
            yield self._lines


@contextmanager
def drawing(path: Path) -> Iterator[pymupdf.Document]:
    """Yield a new PDF, which is saved once it is drawn."""
    with pymupdf.open() as document:
        yield document
        document.save(path)


def pdf(path: Path, pages: list[str], **save: object) -> Path:
    """Return a PDF with the given text on each page; `save` goes to PyMuPDF."""
    with pymupdf.open() as document:
        for text in pages:
            document.new_page().insert_textbox(pymupdf.Rect(72, 120, 520, 700), text, fontsize=11)
        document.save(path, **save)
    return path


def docx(path: Path, body: str, prolog: str = "") -> Path:
    """Return a DOCX whose body is the given WordprocessingML."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("[Content_Types].xml", _CONTENT_TYPES)
        archive.writestr(
            "word/document.xml",
            f'<?xml version="1.0"?>{prolog}<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/'
            f'2006/main"><w:body>{body}</w:body></w:document>',
        )
    return path


def bare_pdf(path: Path, pages: int) -> Path:
    """Return a PDF written by hand, with any number of empty pages."""
    objects = [b"<</Type/Catalog/Pages 2 0 R>>"]
    kids = b" ".join(b"%d 0 R" % (number + 3) for number in range(pages))
    objects.append(b"<</Type/Pages/Count %d/Kids[%b]>>" % (pages, kids))
    objects += [b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 99 99]>>"] * pages
    written = bytearray(b"%PDF-1.4\n")
    offsets = []
    for number, content in enumerate(objects, 1):
        offsets.append(len(written))
        written += b"%d 0 obj\n%b\nendobj\n" % (number, content)
    table = len(written)
    written += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    written += b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    written += b"trailer\n<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n" % (len(objects) + 1, table)
    path.write_bytes(written)
    return path
