"""PPTX by python-pptx: one page per slide."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from ingestion.extraction.assemble import Draft, DraftBlock, one_line, paragraph
from ingestion.extraction.formats.refusals import damaged
from ingestion.extraction.formats.zip_container import UNPACKING_ERRORS, open_package
from ingestion.extraction.runs import Look, Run, left_out, standing
from ingestion.extraction.table_grid import GridCell, table_of
from ingestion.extraction.table_text import table_block
from ingestion.file_reading import ExtractionLimits

_A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"


def extract_pptx(path: Path, limits: ExtractionLimits) -> Draft:
    """Return the blocks of a PPTX, its declared title and its number of slides.

    The blocks of a slide are title, bodies and tables by their place, and notes.
    """
    from lxml.etree import XMLSyntaxError
    from pptx import Presentation
    from pptx.exc import PythonPptxError

    try:
        with open_package(path, limits):
            presentation = Presentation(str(path))
        slides = presentation.slides
        blocks: list[DraftBlock] = []
        for number, slide in enumerate(slides, 1):
            shown = slide._element.get("show") not in ("0", "false")  # noqa: SLF001 - the library does not tell
            for block in _slide_blocks(slide, number):
                out = tuple(Run(line.text, Look.HIDDEN) for line in block.lines)
                blocks.append(block if shown else replace(block, lines=(), grid=None, left_out=out))
        return Draft(blocks, presentation.core_properties.title or "", len(slides))
    except (PythonPptxError, XMLSyntaxError, KeyError, ValueError, AttributeError, *UNPACKING_ERRORS) as error:
        raise damaged(path, error) from error


def _slide_blocks(slide: Any, number: int) -> Iterator[DraftBlock]:
    title = slide.shapes.title
    if title is not None:
        yield paragraph(_frame_runs(title.text_frame), number, "heading")
    for shape in _flat(slide.shapes):
        if title is not None and shape.shape_id == title.shape_id:
            continue
        if getattr(shape, "has_table", False):
            rows = [[_cell(cell) for cell in row.cells if not cell.is_spanned] for row in shape.table.rows]
            yield table_block(table_of(rows, 1 if shape.table.first_row else None), number)
        elif shape.has_text_frame:
            for line in shape.text_frame.paragraphs:
                yield paragraph(_runs(line), number)
    if slide.has_notes_slide and (notes := slide.notes_slide.notes_text_frame) is not None:
        yield paragraph(notes.text, number, "note")


def _cell(cell: Any) -> GridCell:
    merged = cell.is_merge_origin
    columns, rows = (cell.span_width, cell.span_height) if merged else (1, 1)
    runs = [run for line in cell.text_frame.paragraphs for run in line.runs if run.text.strip()]
    bold = bool(runs) and all(run.font.bold for run in runs)
    written = list(_frame_runs(cell.text_frame))
    return GridCell(one_line(standing(written)), columns, rows, bold=bold, left_out=left_out(written))


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
            yield Run(child.findtext(f"{_A}t") or "", _look_of(child.find(f"{_A}rPr")))


def _look_of(properties: Any) -> Look:
    if properties is None:
        return Look.PLAIN
    look = Look.PLAIN if properties.get("strike", "noStrike") == "noStrike" else Look.STRUCK
    baseline = properties.get("baseline", "0")
    if baseline.strip("0%.") == "":
        return look
    return look | (Look.LOWERED if baseline.startswith("-") else Look.RAISED)


def _flat(shapes: Any) -> Iterator[Any]:
    """Shapes with the members of groups in their place."""
    for shape in shapes:
        if hasattr(shape, "shapes"):
            yield from _flat(shape.shapes)
        else:
            yield shape
