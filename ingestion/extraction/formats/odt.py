"""ODT, read from its content.xml."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from lxml import etree

from ingestion.extraction.assemble import Draft, DraftBlock, one_line, paragraph
from ingestion.extraction.formats.pictures.package_pictures import odf_pictures
from ingestion.extraction.formats.refusals import damaged, locked
from ingestion.extraction.formats.zip_container import Element, open_package, parse_xml, whole_number
from ingestion.extraction.formulas import formula
from ingestion.extraction.layout.numerals import COUNTED
from ingestion.extraction.runs import Look, Run, left_out, note_mark, standing
from ingestion.extraction.table_grid import GridCell, table_of
from ingestion.extraction.table_text import table_block
from ingestion.file_reading import ExtractionLimits

_TEXT = "{urn:oasis:names:tc:opendocument:xmlns:text:1.0}"
_TABLE = "{urn:oasis:names:tc:opendocument:xmlns:table:1.0}"
_OFFICE = "{urn:oasis:names:tc:opendocument:xmlns:office:1.0}"
_SPACES = {f"{_TEXT}tab", f"{_TEXT}line-break"}
# Deleted words, notes (which have a place of their own), and what programs keep for themselves.
_SKIPPED = {
    f"{_TEXT}tracked-changes",
    f"{_TEXT}note",
    f"{_TEXT}placeholder",
    f"{_OFFICE}annotation",
    f"{_OFFICE}forms",
    *(f"{_TEXT}{kind}-source" for kind in ("table-of-content", "alphabetical-index", "illustration-index")),
}
_STYLE = "{urn:oasis:names:tc:opendocument:xmlns:style:1.0}"
_LINES = (f"{_STYLE}text-line-through-style", f"{_STYLE}text-line-through-type")
# Elements that have a style, and its family.
_FAMILIES = {f"{_TEXT}span": "text", f"{_TEXT}p": "paragraph", f"{_TEXT}h": "paragraph"}
_MOST_STYLES = 20
_DRAW = "{urn:oasis:names:tc:opendocument:xmlns:drawing:1.0}"
_HREF = "{http://www.w3.org/1999/xlink}href"
# Elements with all of the pictures within them.
_PICTURED = (f"{_TEXT}p", f"{_TEXT}h", f"{_TABLE}table", "{urn:oasis:names:tc:opendocument:xmlns:drawing:1.0}frame")
# The look of each style, by family and name.
Looks = Mapping[tuple[str, str], Look]
_MANIFEST = "META-INF/manifest.xml"
_MOST_SPACES = 100
_MOST_REPEATED = 100


def extract_odt(path: Path, limits: ExtractionLimits) -> Draft:
    """Return the blocks of an ODT, each note after the paragraph with its mark, and its declared title."""
    with open_package(path, limits) as package:
        if _MANIFEST in package.names and b"encryption-data" in package.read(_MANIFEST):
            raise locked(path)
        content, meta, shared = package.xml("content.xml"), package.find("meta.xml"), package.find("styles.xml")
        for drawn in content.iter(f"{_DRAW}object"):
            part = f"{drawn.get(_HREF, '').removeprefix('./')}/content.xml"
            written = package.find(part)
            if written is not None and etree.QName(written).localname == "math":
                drawn.text = f" {formula(written)} "
    return _draft([part for part in (shared, content) if part is not None], content, meta)


def extract_flat(path: Path) -> Draft:
    """Return the blocks and the declared title of an ODT that is one XML file; Refusal if it is damaged."""
    root = parse_xml(path.read_bytes())
    if root is None:
        raise damaged(path, "it is not valid XML")
    return _draft([root], root, root)


def _draft(parts: Sequence[Element], content: Element, meta: Element | None) -> Draft:
    """Return the draft of a document, whose styles are in `parts`."""
    looks = _looks(parts)
    body = content.find(f"{_OFFICE}body/{_OFFICE}text")
    blocks = []
    if body is not None:
        _write_numbers(body, parts)
        blocks = list(_blocks(body, looks))
    title = meta.findtext(".//{http://purl.org/dc/elements/1.1/}title") if meta is not None else ""
    return Draft(blocks, title or "")


@dataclass(frozen=True, slots=True)
class _ListLevel:
    """How a level of a list is numbered; `write` is None for bullets and for levels without a number."""

    write: Callable[[int], str] | None
    before: str
    after: str
    start: int
    shown: int


def _write_numbers(body: Element, parts: Iterable[Element]) -> None:
    """Put the number of every numbered item of a list and heading in front of its text."""
    styles: dict[str, dict[int, _ListLevel]] = {}
    outline: dict[int, _ListLevel] = {}
    for part in parts:
        for style in part.iter(f"{_TEXT}list-style"):
            styles[style.get(f"{_STYLE}name", "")] = _levels(style)
        for style in part.iter(f"{_TEXT}outline-style"):
            outline = _levels(style)
    counts: dict[str, dict[int, int]] = {}
    for listed in body.iter(f"{_TEXT}list"):
        if next(listed.iterancestors(f"{_TEXT}list"), None) is None:
            name = listed.get(f"{_TEXT}style-name", "")
            going_on = listed.get(f"{_TEXT}continue-numbering") == "true" or listed.get(f"{_TEXT}continue-list")
            counts[name] = counts.get(name, {}) if going_on else {}
            _number_items(listed, styles, styles.get(name, {}), counts[name], 1)
    count: dict[int, int] = {}
    for heading in body.iter(f"{_TEXT}h"):
        level = whole_number(heading.get(f"{_TEXT}outline-level"), 1)
        alone = next(heading.iterancestors(f"{_TEXT}list"), None) is None
        if alone and (written := _next_number(outline, count, level, None)):
            heading.text = f"{written} {heading.text or ''}"


def _levels(style: Element) -> dict[int, _ListLevel]:
    levels = {}
    for level in style:
        format_ = level.get(f"{_STYLE}num-format", "")
        levels[whole_number(level.get(f"{_TEXT}level"), 1)] = _ListLevel(
            COUNTED.get(format_) if "bullet" not in level.tag else None,
            level.get(f"{_STYLE}num-prefix", ""),
            level.get(f"{_STYLE}num-suffix", ""),
            whole_number(level.get(f"{_TEXT}start-value"), 1),
            whole_number(level.get(f"{_TEXT}display-levels"), 1),
        )
    return levels


def _number_items(
    listed: Element,
    styles: Mapping[str, dict[int, _ListLevel]],
    levels: Mapping[int, _ListLevel],
    count: dict[int, int],
    depth: int,
) -> None:
    for item in listed.iterfind(f"{_TEXT}list-item"):
        words = next((child for child in item if child.tag in (f"{_TEXT}p", f"{_TEXT}h")), None)
        if words is not None and (written := _next_number(levels, count, depth, item.get(f"{_TEXT}start-value"))):
            words.text = f"{written} {words.text or ''}"
        for inner in item.iterfind(f"{_TEXT}list"):
            own = styles.get(inner.get(f"{_TEXT}style-name", ""), levels)
            count = {level: number for level, number in count.items() if level <= depth}
            _number_items(inner, styles, own, count, depth + 1)


def _next_number(levels: Mapping[int, _ListLevel], count: dict[int, int], depth: int, stated: str | None) -> str:
    """Count an item and return its number as shown, with those of the levels above; "" without one."""
    level = levels.get(depth)
    if level is None:
        return ""
    count[depth] = whole_number(stated, count[depth] + 1 if depth in count else level.start)
    for deeper in [one for one in count if one > depth]:
        del count[deeper]
    if level.write is None:
        return ""
    above = range(max(1, depth - level.shown + 1), depth)
    shown = [levels[one].write for one in above if one in levels and one in count]
    numbers = [write(count[one]) for one, write in zip(above, shown, strict=False) if write is not None]
    return f"{level.before}{'.'.join([*numbers, level.write(count[depth])])}{level.after}"


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
        if tag in (f"{_TEXT}p", f"{_TEXT}h", f"{_TABLE}table"):
            for note in element.iter(f"{_TEXT}note"):
                runs = (run for body in note.iterfind(f"{_TEXT}note-body") for run in _runs(body, looks))
                yield paragraph([_mark_of(note), Run(" "), *runs], kind="note")
        yield from odf_pictures(element) if tag in _PICTURED else ()


def _mark_of(note: Element) -> Run:
    return note_mark(one_line(note.findtext(f"{_TEXT}note-citation") or ""))


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
        elif child.tag == f"{_TEXT}note":
            yield _mark_of(child)
        elif child.tag in _SPACES:
            yield Run(" ", look)
        elif isinstance(child.tag, str) and child.tag not in _SKIPPED:
            yield from _runs(child, looks, look)
            if child.tag in (f"{_TEXT}p", f"{_TEXT}h"):
                yield Run(" ")
        yield Run(child.tail or "", look)
