"""ODT, read from its content.xml."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ingestion.extraction.assemble import Draft, DraftBlock, one_line, paragraph
from ingestion.extraction.formats.refusals import locked
from ingestion.extraction.formats.zip_container import Element, open_package, whole_number
from ingestion.extraction.table_grid import GridCell, table_of
from ingestion.extraction.table_text import table_block
from ingestion.file_reading import ExtractionLimits

_TEXT = "{urn:oasis:names:tc:opendocument:xmlns:text:1.0}"
_TABLE = "{urn:oasis:names:tc:opendocument:xmlns:table:1.0}"
_OFFICE = "{urn:oasis:names:tc:opendocument:xmlns:office:1.0}"
_SPACES = {f"{_TEXT}tab", f"{_TEXT}line-break"}
_SKIPPED = {f"{_TEXT}tracked-changes", f"{_TEXT}note", f"{_OFFICE}annotation", f"{_OFFICE}forms"}
_MANIFEST = "META-INF/manifest.xml"
_MOST_SPACES = 100
_MOST_REPEATED = 100


def extract_odt(path: Path, limits: ExtractionLimits) -> Draft:
    """Return the blocks of an ODT, its notes last, and its declared title."""
    with open_package(path, limits) as package:
        if _MANIFEST in package.names and b"encryption-data" in package.read(_MANIFEST):
            raise locked(path)
        content, meta = package.xml("content.xml"), package.find("meta.xml")
    body = content.find(f"{_OFFICE}body/{_OFFICE}text")
    blocks = list(_blocks(body)) if body is not None else []
    notes = [paragraph(_text(note), kind="note") for note in content.iter(f"{_TEXT}note-body")]
    title = meta.findtext(".//{http://purl.org/dc/elements/1.1/}title") if meta is not None else ""
    return Draft(blocks + notes, title or "")


def _blocks(container: Element) -> Iterator[DraftBlock]:
    for element in container:
        tag = element.tag
        if tag == f"{_TEXT}h":
            yield paragraph(_text(element), kind="heading")
        elif tag == f"{_TEXT}p":
            yield paragraph(_text(element))
        elif tag == f"{_TABLE}table":
            named = sum(1 for group in element.iter(f"{_TABLE}table-header-rows") for _ in _rows(group))
            yield table_block(table_of([list(_cells(row)) for row in _rows(element)], named or None))
        elif isinstance(tag, str) and tag not in _SKIPPED:
            yield from _blocks(element)


def _rows(element: Element) -> Iterator[Element]:
    """Yield the rows of a table; the text of a table nested in a cell belongs to that cell."""
    for child in element:
        if child.tag == f"{_TABLE}table-row":
            yield child
        elif child.tag != f"{_TABLE}table-cell":
            yield from _rows(child)


def _cells(row: Element) -> Iterator[GridCell]:
    for child in row:
        if child.tag == f"{_TABLE}table-cell":
            columns, rows = (whole_number(child.get(f"{_TABLE}number-{way}-spanned"), 1) for way in ("columns", "rows"))
            text = _text(child)
            # Programs write one empty cell for all that are left of a row.
            times = whole_number(child.get(f"{_TABLE}number-columns-repeated"), 1)
            yield from (
                GridCell(text, columns, rows) for _ in range(min(times, _MOST_REPEATED) if text else min(times, 1))
            )


def _text(element: Element) -> str:
    return one_line("".join(_pieces(element)))


def _pieces(element: Element) -> Iterator[str]:
    yield element.text or ""
    for child in element:
        if child.tag == f"{_TEXT}s":
            yield " " * min(_MOST_SPACES, whole_number(child.get(f"{_TEXT}c"), 1))
        elif child.tag in _SPACES:
            yield " "
        elif isinstance(child.tag, str) and child.tag not in _SKIPPED:
            yield from _pieces(child)
            if child.tag in (f"{_TEXT}p", f"{_TEXT}h"):
                yield " "
        yield child.tail or ""
