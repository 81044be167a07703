"""PPTX by python-pptx: one page per slide, its shapes in reading order."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ingestion.extraction.assemble import Draft, DraftBlock, one_line, paragraph, unread_comments
from ingestion.extraction.formats.pictures.charts import chart_blocks, diagram_blocks
from ingestion.extraction.formats.pictures.package_pictures import EMU_A_POINT, named_parts, picture_block, picture_ids
from ingestion.extraction.formats.refusals import damaged
from ingestion.extraction.formats.zip_container import UNPACKING_ERRORS, open_package, parse_xml, whole_number
from ingestion.extraction.formulas import formula
from ingestion.extraction.layout.numerals import COUNTED
from ingestion.extraction.layout.slide_order import reading_order
from ingestion.extraction.runs import Look, Run, left_out, standing
from ingestion.extraction.symbols import in_unicode
from ingestion.extraction.table_grid import GridCell, table_of
from ingestion.extraction.table_text import table_block
from ingestion.file_reading import ExtractionLimits
from rag_engine.types.document import Box

_A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
_P = "{http://schemas.openxmlformats.org/presentationml/2006/main}"
_A14 = "{http://schemas.microsoft.com/office/drawing/2010/main}"
_MC = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
# Places of a layout that say the same on each slide.
_FURNITURE = {"ftr", "dt", "sldNum", "hdr"}
_NOTES = "Speaker notes:"
# Points.
_SLIDE = 720.0, 540.0

# How a paragraph is numbered: "arabicPeriod", "alphaUcParenBoth".
_COUNTING = f"{_A}pPr/{_A}buAutoNum"
_COUNTED = re.compile(r"(arabic|alpha|roman)(Lc|Uc)?(Period|ParenR|ParenBoth|Plain)$")
_WRITERS = {"arabic": COUNTED["1"], "alpha": COUNTED["a"], "roman": COUNTED["i"]}
_AROUND_NUMBER = {"Period": ("", "."), "ParenR": ("", ")"), "ParenBoth": ("(", ")")}


def extract_pptx(path: Path, limits: ExtractionLimits) -> Draft:
    """Return the blocks of a PPTX, its declared title and its number of slides.

    The blocks of a slide are its title, its shapes as they are read, its footer, and the notes of the speaker.
    """
    from lxml.etree import XMLSyntaxError
    from pptx import Presentation
    from pptx.exc import PythonPptxError

    try:
        with open_package(path, limits) as package:
            comments = package.count(r"ppt/comments/[^/]+\.xml", "{*}cm")
            presentation = Presentation(str(path))
        slides, height = presentation.slides, float(presentation.slide_height or 0)
        blocks: list[DraftBlock] = []
        for number, slide in enumerate(slides, 1):
            shown = slide._element.get("show") not in ("0", "false")  # noqa: SLF001 - the library does not tell
            blocks += (block if shown else _hidden(block) for block in _slide_blocks(slide, number, height))
        title = presentation.core_properties.title or ""
        return Draft(blocks, title, len(slides), warnings=unread_comments(comments))
    except (PythonPptxError, XMLSyntaxError, KeyError, ValueError, AttributeError, *UNPACKING_ERRORS) as error:
        raise damaged(path, error) from error


def _hidden(block: DraftBlock) -> DraftBlock:
    """Return a block of nothing but words that are left out."""
    words = tuple(Run(line.text, Look.HIDDEN) for line in block.lines)
    return replace(block, lines=(), grid=None, picture=None, left_out=(*words, *block.left_out))


def _slide_blocks(slide: Any, number: int, height: float) -> Iterator[DraftBlock]:
    _choose_alternatives(slide._element)  # noqa: SLF001 - the library passes over what has alternatives
    title = slide.shapes.title
    if title is not None:
        yield paragraph(_frame_runs(title.text_frame), number, "heading")
    # Some programs give two shapes the same number.
    shapes = [shape for shape in slide.shapes if title is None or shape._element is not title._element]  # noqa: SLF001
    yield from _in_order((shape for shape in shapes if _placeholder(shape) not in _FURNITURE), number, height)
    for shape in shapes:
        # The number of a slide is that of its page.
        if _placeholder(shape) in _FURNITURE - {"sldNum"}:
            yield paragraph(_frame_runs(shape.text_frame), number, "note")
    yield from _background(slide, number)
    if slide.has_notes_slide and (notes := slide.notes_slide.notes_text_frame) is not None:
        for line in notes.paragraphs:
            if standing(_runs(line)).strip():
                yield paragraph([Run(f"{_NOTES} "), *_runs(line)], number, "note")


def _choose_alternatives(slide: Any) -> None:
    """Put the first of each alternatives in their place, such as a formula in place of its picture."""
    for alternatives in list(slide.iter(f"{_MC}AlternateContent")):
        chosen = next(iter(alternatives), None)
        above = alternatives.getparent()
        for child in reversed([] if chosen is None else list(chosen)):
            above.insert(above.index(alternatives) + 1, child)
        above.remove(alternatives)


def _placeholder(shape: Any) -> str:
    """Return what a shape is the place of in its layout, as the file writes it; "" for none."""
    found = next(shape._element.iterfind(f"*/{_P}nvPr/{_P}ph"), None)  # noqa: SLF001 - a name for each of its kinds
    return "" if found is None else str(found.get("type", "body"))


def _in_order(shapes: Iterable[Any], number: int, height: float = 0.0) -> Iterator[DraftBlock]:
    """Yield the blocks of the shapes that say something, in reading order; a group stays together."""
    told = [(shape, blocks) for shape in shapes if (blocks := list(_shape_blocks(shape, number)))]
    boxes = []
    for shape, _ in told if len(told) > 1 else ():
        left, top = float(shape.left or 0), float(shape.top or 0)
        boxes.append(Box(left, top, left + (shape.width or 0), top + (shape.height or 0)))
    for place in reading_order(boxes, height) if boxes else range(len(told)):
        yield from told[place][1]


def _shape_blocks(shape: Any, number: int) -> Iterator[DraftBlock]:
    blocks = _blocks_of(shape, number)
    drawn = shape._element.find(f"*/{_P}cNvPr")  # noqa: SLF001 - the library does not tell
    hidden = drawn is not None and drawn.get("hidden") in ("1", "true")
    for block in blocks:
        if block.picture or block.left_out or any(line.text.strip() for line in block.lines):
            yield _hidden(block) if hidden else block


def _blocks_of(shape: Any, number: int) -> Iterator[DraftBlock]:
    if hasattr(shape, "shapes"):
        yield from _in_order(shape.shapes, number)
    elif getattr(shape, "has_table", False):
        rows = [[_cell(cell) for cell in row.cells if not cell.is_spanned] for row in shape.table.rows]
        yield table_block(table_of(rows, 1 if shape.table.first_row else None), number)
    elif shape.has_text_frame:
        lines = shape.text_frame.paragraphs
        for line, counted in zip(lines, _numbers(lines), strict=True):
            numbered = [Run(counted, Look.NUMBER)] if counted else []
            yield paragraph([*numbered, *_runs(line)], number)
    else:
        for kind, identity in named_parts(shape._element):  # noqa: SLF001 - the library knows some kinds alone
            yield from _part_blocks(kind, shape.part, identity, number)
    # Also of shapes filled with one; the library takes its time to tell how large a shape is.
    if identities := _picture_ids(shape._element):  # noqa: SLF001 - it knows pictures alone
        size = (shape.width or 0) / EMU_A_POINT, (shape.height or 0) / EMU_A_POINT
        yield from _pictures(identities, shape.part, number, size)


def _part_blocks(kind: str, part: Any, identity: str, number: int) -> Iterator[DraftBlock]:
    """Yield the blocks of a chart or diagram, which another part of the file holds."""
    inside = identity in part.rels and not part.rels[identity].is_external
    root = parse_xml(part.related_part(identity).blob) if inside else None
    if root is not None:
        yield from chart_blocks(root, number) if kind == "chart" else diagram_blocks(root, number)


def _picture_ids(element: Any) -> list[str]:
    """Return the pictures of a shape; the members of a group have their own."""
    return [] if element.tag == f"{_P}grpSp" else list(picture_ids(element))


def _pictures(identities: Iterable[str], part: Any, number: int, size: tuple[float, float]) -> Iterator[DraftBlock]:
    for identity in identities:
        if identity in part.rels:
            external = part.rels[identity].is_external
            name = "" if external else str(part.related_part(identity).partname).lstrip("/")
            yield picture_block(name, number, *size)


def _background(slide: Any, number: int) -> Iterator[DraftBlock]:
    """Yield the picture behind all shapes of a slide, on which some decks have all that they show."""
    behind = slide._element.find(f"{_P}cSld/{_P}bg")  # noqa: SLF001 - the library gives colours alone
    if behind is not None:
        yield from _pictures(_picture_ids(behind), slide.part, number, _SLIDE)


def _cell(cell: Any) -> GridCell:
    merged = cell.is_merge_origin
    columns, rows = (cell.span_width, cell.span_height) if merged else (1, 1)
    runs = [run for line in cell.text_frame.paragraphs for run in line.runs if run.text.strip()]
    bold = bool(runs) and all(run.font.bold for run in runs)
    written = list(_frame_runs(cell.text_frame))
    return GridCell(one_line(standing(written)), columns, rows, bold=bold, left_out=left_out(written))


def _numbers(lines: Sequence[Any]) -> Iterator[str]:
    """Yield the number that PowerPoint writes before each paragraph, "" before others."""
    counts: dict[int, int] = {}
    if not any(line._p.find(_COUNTING) is not None for line in lines):  # noqa: SLF001 - the library does not tell
        yield from ("" for _ in lines)
        return
    for line in lines:
        properties = line._p.find(f"{_A}pPr")  # noqa: SLF001 - the library does not tell of numbers
        counted = None if properties is None else properties.find(f"{_A}buAutoNum")
        level = line.level
        for deeper in [one for one in counts if one > level or (one == level and counted is None)]:
            del counts[deeper]
        found = None if counted is None else _COUNTED.match(counted.get("type", ""))
        if counted is None or found is None or not line.text.strip():
            yield ""
            continue
        counts[level] = counts.get(level, whole_number(counted.get("startAt"), 1) - 1) + 1
        before, after = _AROUND_NUMBER.get(found[3], ("", ""))
        written = _WRITERS[found[1]](counts[level])
        yield f"{before}{written.upper() if found[2] == 'Uc' else written}{after} "


def _frame_runs(frame: Any) -> Iterator[Run]:
    for line in frame.paragraphs:
        yield from _runs(line)
        yield Run(" ")


def _runs(line: Any) -> Iterator[Run]:
    """Yield the runs of a paragraph, with line breaks and fields (dates, numbers) between them."""
    for child in line._p:  # noqa: SLF001 - the library gives runs alone, and their text without what strikes it
        if child.tag == f"{_A}br":
            yield Run(" ")
        elif child.tag in (f"{_A}r", f"{_A}fld"):
            properties = child.find(f"{_A}rPr")
            fonts = [] if properties is None else [one for one in properties if one.tag in (f"{_A}sym", f"{_A}latin")]
            text = child.findtext(f"{_A}t") or ""
            for font in fonts:
                text = in_unicode(text, font.get("typeface", ""))
            yield Run(text, _look_of(properties))
        elif child.tag == f"{_A14}m":
            yield Run(f" {formula(child)} ")


def _look_of(properties: Any) -> Look:
    if properties is None:
        return Look.PLAIN
    look = Look.PLAIN if properties.get("strike", "noStrike") == "noStrike" else Look.STRUCK
    baseline = properties.get("baseline", "0")
    if baseline.strip("0%.") == "":
        return look
    return look | (Look.LOWERED if baseline.startswith("-") else Look.RAISED)
