"""Pictures, charts and diagrams in the parts of a package, by the references of its elements."""

from __future__ import annotations

import base64
import posixpath
import re
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from urllib.parse import unquote, urlsplit

from ingestion.extraction.assemble import DraftBlock, PastedPicture, paragraph
from ingestion.extraction.formats.pictures.charts import chart_blocks, diagram_blocks, odf_chart_blocks
from ingestion.extraction.formats.zip_container import Element, Package, parse_xml

# English Metric Units, in which Office Open XML measures.
EMU_A_POINT = 12_700
_POINTS = {"in": 72.0, "cm": 72 / 2.54, "mm": 7.2 / 2.54, "pt": 1.0, "pc": 12.0, "px": 0.75}
_LENGTH = re.compile(r"(\d{1,6}(?:\.\d{0,9})?)(in|cm|mm|pt|pc|px)")
_LARGEST_EMU = 10**10
_FALLBACK = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"
_SOURCE = re.compile(
    rb"<(?:img|image)\s[^<>]{0,2000}?(?:src|href)\s{0,9}=\s{0,9}[\"']([^\"'<>]{1,2000})[\"']", re.IGNORECASE
)

_CONTENT = "content.xml"
_CHART_SHEETS = "/chartsheets/"
_SHOWN = re.compile(r"chart|diagram")

Finder = Callable[[Element], Iterator[DraftBlock]]


def picture_block(part: str, page: int = 1, width: float = 0.0, height: float = 0.0) -> DraftBlock:
    """Return a block in the place of a picture that may be read later."""
    return DraftBlock(page, "text", (), picture=PastedPicture(part, width, height))


def picture_ids(element: Element) -> Iterator[str]:
    """Yield the references of an element of Office Open XML to pictures, old drawings (VML) included."""
    for found in element.iter("{*}blip", "{*}imagedata"):
        if identity := _attribute(found, "}embed", "}link", "}id", "}href"):
            yield identity


def named_parts(element: Element) -> Iterator[tuple[str, str]]:
    """Yield the references of an element to charts and diagrams, each with its kind."""
    for kind, tag, name in (("chart", "{*}chart", "}id"), ("diagram", "{*}relIds", "}dm")):
        for found in element.iter(tag):
            yield kind, _attribute(found, name)


def _attribute(element: Element, *endings: str) -> str:
    """Return the first attribute whose name, with its name space, has one of these endings."""
    return next((str(value) for name, value in element.attrib.items() if str(name).endswith(endings)), "")


def drawings_in(package: Package, part: str) -> Finder:
    """Return what finds the pictures, charts and diagrams of the elements of a part of Office Open XML."""
    targets = relationships(package, part)
    # Most texts have none, and need not be searched.
    pictured = any(not target.endswith(".xml") or _SHOWN.search(target) for target in targets.values())

    def found_in(element: Element) -> Iterator[DraftBlock]:
        for drawing in element.iter("{*}drawing", "{*}pict", "{*}object") if pictured else ():
            # The second copy, for older programs, is not read.
            if next(drawing.iterancestors(_FALLBACK, "{*}drawing", "{*}del", "{*}moveFrom"), None) is None:
                yield from _of_drawing(package, targets, drawing)

    return found_in


def _of_drawing(package: Package, targets: dict[str, str], drawing: Element, page: int = 1) -> Iterator[DraftBlock]:
    for kind, identity in named_parts(drawing):
        part = parse_xml(package.read(targets[identity])) if targets.get(identity) else None
        if part is not None:
            yield from chart_blocks(part, page) if kind == "chart" else diagram_blocks(part, page)
    for holder in drawing.iter("{*}blip", "{*}imagedata"):
        for identity in picture_ids(holder):
            if identity in targets:
                yield picture_block(targets[identity], page, *_size_above(holder))


def _size_above(blip: Element) -> tuple[float, float]:
    """Return the size of the nearest element around a picture that has one, in points; 0 if none has."""
    for above in blip.iterancestors():
        found = next(above.iterfind("{*}spPr/{*}xfrm/{*}ext"), None)
        found = next(above.iterfind("{*}extent"), None) if found is None else found
        if found is not None:
            return _emu(found.get("cx")) / EMU_A_POINT, _emu(found.get("cy")) / EMU_A_POINT
        if "width:" in (style := above.get("style", "")):
            sizes = dict(part.split(":", 1) for part in style.replace(" ", "").split(";") if ":" in part)
            return points(sizes.get("width", "")), points(sizes.get("height", ""))
    return 0.0, 0.0


def _emu(stated: str | None) -> float:
    return float(min(int(stated), _LARGEST_EMU)) if stated and stated.isdecimal() else 0.0


def points(length: str) -> float:
    """Return a length such as "2.5cm" in points; 0 if it is none.

    >>> points("1in"), points("25.4mm"), points("50%")
    (72.0, 72.0, 0.0)
    """
    found = _LENGTH.fullmatch(length)
    return round(float(found[1]) * _POINTS[found[2]], 2) if found else 0.0


def relationships(package: Package, part: str) -> dict[str, str]:
    """Return the parts to which a part of Office Open XML refers, by its names for them.

    A part outside the file is "". Links are left out.
    """
    folder, name = posixpath.split(part)
    root = package.find(f"{folder}/_rels/{name}.rels".lstrip("/"))
    found: dict[str, str] = {}
    for one in () if root is None else root:
        if one.get("Type", "").endswith("/hyperlink"):
            continue
        target = unquote(one.get("Target", ""))
        inside = one.get("TargetMode") != "External"
        path = posixpath.normpath(posixpath.join("/", folder, target)).lstrip("/")
        found[one.get("Id", "")] = path if inside and path in package.names else ""
    return found


def sheet_pictures(package: Package) -> Iterator[DraftBlock]:
    """Yield what is drawn on the sheets of a workbook that are shown, each with the number of its sheet."""
    part = next((name for name in package.names if name.endswith("workbook.xml")), "")
    workbook, targets = package.find(part), relationships(package, part)
    number = 0
    for sheet in [] if workbook is None else workbook.iterfind("{*}sheets/{*}sheet"):
        target = targets.get(_attribute(sheet, "}id"))
        # A sheet that is a chart is none of rows, and goes with the one before.
        number += not target or _CHART_SHEETS not in target
        if sheet.get("state", "visible") != "visible" or not target:
            continue
        for drawing in relationships(package, target).values():
            if "/drawings/" in drawing and drawing.endswith(".xml"):
                yield from _on_sheet(package, drawing, max(1, number))


def _on_sheet(package: Package, drawing: str, number: int) -> Iterator[DraftBlock]:
    """Yield the text boxes, titles of charts and pictures of a drawing."""
    targets, root = relationships(package, drawing), package.xml(drawing)
    for line in root.iterfind(".//{*}txBody/{*}p"):
        yield paragraph("".join(text.text or "" for text in line.iter("{*}t")), number)
    for kind, identity in named_parts(root):
        part = parse_xml(package.read(targets[identity])) if targets.get(identity) else None
        if part is not None and kind == "chart":
            yield from (block for block in chart_blocks(part, number) if block.kind != "table")
        elif part is not None:
            yield from diagram_blocks(part, number)
    for holder in root.iter("{*}blip"):
        for identity in picture_ids(holder):
            if identity in targets:
                yield picture_block(targets[identity], number, *_size_above(holder))


def odf_pictures(element: Element) -> Iterator[DraftBlock]:
    """Yield the pictures within an element of OpenDocument; charts and other objects are parts too."""
    for frame in element.iter("{*}frame"):
        size = [points(_attribute(frame, side)) for side in ("}width", "}height")]
        # An object has a picture as well, and a drawing of lines one of dots, which comes last.
        for shown in (frame.findall("{*}object") or frame.findall("{*}image"))[-1:]:
            name = _attribute(shown, "}href").removeprefix("./")
            part = "" if urlsplit(name).scheme else unquote(name)
            yield picture_block(f"{part}/{_CONTENT}" if shown.tag.endswith("}object") else part, 1, *size)


def name_flat_pictures(root: Element) -> None:
    """Give the pictures in an OpenDocument that is one file the names by which `flat_picture` finds them."""
    for number, data in enumerate(root.iter("{*}binary-data")):
        picture = data.getparent()
        if picture is not None:
            picture.set("{http://www.w3.org/1999/xlink}href", str(number))


def flat_picture(root: Element, part: str) -> bytes:
    """Return the bytes of a picture in an OpenDocument that is one file; ValueError if it has none."""
    data = next(islice(root.iter("{*}binary-data"), int(part), None), None)
    return base64.b64decode("" if data is None else data.text or "")


def with_odf_charts(package: Package, blocks: Iterable[DraftBlock]) -> Iterator[DraftBlock]:
    """Yield the blocks of an OpenDocument text, each of its charts as titles and a table."""
    for block in blocks:
        part = block.picture.part if block.picture else ""
        root = parse_xml(package.read(part)) if part.endswith(f"/{_CONTENT}") and part in package.names else None
        chart = None if root is None else root.find(".//{*}chart/{*}chart")
        yield from [block] if chart is None else odf_chart_blocks(chart)


def chapter_pictures(package: Package, chapter: str, content: bytes, number: int) -> Iterator[DraftBlock]:
    """Yield the pictures of a chapter of an EPUB."""
    for found in _SOURCE.finditer(content):
        target = unquote(urlsplit(found[1].decode("utf-8", "replace")).path)
        part = posixpath.normpath(posixpath.join(posixpath.dirname(chapter), target))
        if part in package.names:
            yield picture_block(part, number)
