"""ODT, read from its content.xml."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from ingestion.extraction.assemble import Draft, DraftBlock, one_line, paragraph
from ingestion.extraction.formats.package_pictures import odf_pictures
from ingestion.extraction.formats.refusals import locked
from ingestion.extraction.formats.zip_container import Element, open_package, whole_number
from ingestion.extraction.runs import Look, Run, left_out, standing
from ingestion.extraction.table_grid import GridCell, table_of
from ingestion.extraction.table_text import table_block
from ingestion.file_reading import ExtractionLimits

_TEXT = "{urn:oasis:names:tc:opendocument:xmlns:text:1.0}"
_TABLE = "{urn:oasis:names:tc:opendocument:xmlns:table:1.0}"
_OFFICE = "{urn:oasis:names:tc:opendocument:xmlns:office:1.0}"
_SPACES = {f"{_TEXT}tab", f"{_TEXT}line-break"}
_SKIPPED = {f"{_TEXT}tracked-changes", f"{_TEXT}note", f"{_OFFICE}annotation", f"{_OFFICE}forms"}
_STYLE = "{urn:oasis:names:tc:opendocument:xmlns:style:1.0}"
_LINES = (f"{_STYLE}text-line-through-style", f"{_STYLE}text-line-through-type")
# Elements that have a style, and its family.
_FAMILIES = {f"{_TEXT}span": "text", f"{_TEXT}p": "paragraph", f"{_TEXT}h": "paragraph"}
_MOST_STYLES = 20
# Elements with all of the pictures within them.
_PICTURED = (f"{_TEXT}p", f"{_TEXT}h", f"{_TABLE}table", "{urn:oasis:names:tc:opendocument:xmlns:drawing:1.0}frame")
# The look of each style, by family and name.
Looks = Mapping[tuple[str, str], Look]
_MANIFEST = "META-INF/manifest.xml"
_MOST_SPACES = 100
_MOST_REPEATED = 100


def extract_odt(path: Path, limits: ExtractionLimits) -> Draft:
    """Return the blocks of an ODT, its notes last, and its declared title."""
    with open_package(path, limits) as package:
        if _MANIFEST in package.names and b"encryption-data" in package.read(_MANIFEST):
            raise locked(path)
        content, meta, shared = package.xml("content.xml"), package.find("meta.xml"), package.find("styles.xml")
    looks = _looks([part for part in (shared, content) if part is not None])
    body = content.find(f"{_OFFICE}body/{_OFFICE}text")
    blocks = list(_blocks(body, looks)) if body is not None else []
    notes = [paragraph(_runs(note, looks), kind="note") for note in content.iter(f"{_TEXT}note-body")]
    title = meta.findtext(".//{http://purl.org/dc/elements/1.1/}title") if meta is not None else ""
    return Draft(blocks + notes, title or "")


def _looks(parts: Iterable[Element]) -> Looks:
    """Return the look of each style of a document, by itself or as the style that it is based on."""
    own: dict[tuple[str, str], tuple[Sequence[Look | None], str]] = {}
    for part in parts:
        for style in part.iter(f"{_STYLE}style"):
            found = style.find(f"{_STYLE}text-properties")
            key = style.get(f"{_STYLE}family", ""), style.get(f"{_STYLE}name", "")
            settings = [None] * 3 if found is None else list(_settings(found))
            own[key] = settings, style.get(f"{_STYLE}parent-style-name", "")

    def looked_up(family: str, name: str, place: int) -> Look:
        for _ in range(_MOST_STYLES):
            settings, above = own.get((family, name), ([Look.PLAIN] * 3, ""))
            if (setting := settings[place]) is not None:
                return setting
            name = above
        return Look.PLAIN

    return {key: looked_up(*key, 0) | looked_up(*key, 1) | looked_up(*key, 2) for key in own}


def _settings(properties: Element) -> Iterator[Look | None]:
    """Yield whether a style strikes, whether it hides, and whether it moves text; None where it is silent."""
    lines = [line for name in _LINES if (line := properties.get(name)) is not None]
    yield (Look.PLAIN if "none" in lines else Look.STRUCK) if lines else None
    display = properties.get(f"{_TEXT}display")
    yield None if display is None else Look.HIDDEN if display == "none" else Look.PLAIN
    position = properties.get(f"{_STYLE}text-position")
    if position is None:
        yield None
    elif position.startswith(("super", "sub")):
        yield Look.RAISED if position.startswith("super") else Look.LOWERED
    else:
        # A share of the size, as "33% 58%" or "-33% 58%".
        yield Look.PLAIN if position.startswith("0") else Look.LOWERED if position.startswith("-") else Look.RAISED


def _blocks(container: Element, looks: Looks) -> Iterator[DraftBlock]:
    for element in container:
        tag = element.tag
        if tag == f"{_TEXT}h":
            yield paragraph(_runs(element, looks), kind="heading")
        elif tag == f"{_TEXT}p":
            yield paragraph(_runs(element, looks))
        elif tag == f"{_TABLE}table":
            named = sum(1 for group in element.iter(f"{_TABLE}table-header-rows") for _ in _rows(group))
            yield table_block(table_of([list(_cells(row, looks)) for row in _rows(element)], named or None))
        elif isinstance(tag, str) and tag not in _SKIPPED:
            if element.get(f"{_TEXT}display") == "none":
                yield paragraph(_runs(element, looks))
            else:
                yield from _blocks(element, looks)
        yield from odf_pictures(element) if tag in _PICTURED else ()


def _rows(element: Element) -> Iterator[Element]:
    """Yield the rows of a table; the text of a table nested in a cell belongs to that cell."""
    for child in element:
        if child.tag == f"{_TABLE}table-row":
            yield child
        elif child.tag != f"{_TABLE}table-cell":
            yield from _rows(child)


def _cells(row: Element, looks: Looks) -> Iterator[GridCell]:
    for child in row:
        if child.tag == f"{_TABLE}table-cell":
            columns, rows = (whole_number(child.get(f"{_TABLE}number-{way}-spanned"), 1) for way in ("columns", "rows"))
            runs = list(_runs(child, looks))
            text = one_line(standing(runs))
            # Programs write one empty cell for all that are left of a row.
            times = whole_number(child.get(f"{_TABLE}number-columns-repeated"), 1)
            made = GridCell(text, columns, rows, left_out=left_out(runs))
            yield from (made for _ in range(min(times, _MOST_REPEATED) if text else min(times, 1)))


def _runs(element: Element, looks: Looks, look: Look = Look.PLAIN) -> Iterator[Run]:
    """Yield the runs of an element, whose look adds to that of the elements around it."""
    look |= looks.get((_FAMILIES.get(element.tag, ""), element.get(f"{_TEXT}style-name", "")), Look.PLAIN)
    if element.get(f"{_TEXT}display") == "none" or element.get(f"{_TEXT}is-hidden") == "true":
        look |= Look.HIDDEN
    yield Run(element.text or "", look)
    for child in element:
        if child.tag == f"{_TEXT}s":
            yield Run(" " * min(_MOST_SPACES, whole_number(child.get(f"{_TEXT}c"), 1)), look)
        elif child.tag in _SPACES:
            yield Run(" ", look)
        elif isinstance(child.tag, str) and child.tag not in _SKIPPED:
            yield from _runs(child, looks, look)
            if child.tag in (f"{_TEXT}p", f"{_TEXT}h"):
                yield Run(" ")
        yield Run(child.tail or "", look)
