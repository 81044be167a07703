"""Printed lines of a page to paragraphs, headings, tables and notes; pure geometry, no PDF library.

A printed line is what the PDF library calls one: a run of text on one baseline, which may be a whole
line, a list label or the cell of a table.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from ingestion.extraction.assemble import DraftBlock, DraftLine
from ingestion.extraction.hyphens import join_lines
from rag_engine.types import BlockKind, Box

_LABEL = re.compile(r"(?:[•▪●○■□◦‣–—*-]|\(?(?:\d{1,3}(?:\.\d{1,3})*|[A-Za-z]|[ivxIVX]{1,5})[.)]|\d+(?:\.\d+)+)(?:\s|$)")
_BULLET = re.compile(r"[•▪●○■□◦‣]\s")
_SENTENCE_END = re.compile(r"[.:;!?…][\"'”’»)\]]*\d{0,3}$")
_NOTE_MARK = re.compile(r"(?:\d{1,3}|[*†‡§]|[a-z](?=\s))")


@dataclass(frozen=True, slots=True)
class PrintedLine:
    """A run of text on one baseline; `size` in points, `block` numbers the library's own grouping."""

    text: str
    box: Box
    size: float
    bold: bool
    block: int


@dataclass(frozen=True, slots=True)
class Row:
    """Everything that stands at one height in one block; `cells` > 1 when wide gaps part it."""

    text: str
    box: Box
    size: float
    bold: bool
    block: int
    cells: int


@dataclass(frozen=True, slots=True)
class PageRows:
    """The rows of one page in reading order. `recognised` when they come from OCR, whose sizes are guesses."""

    number: int
    width: float
    height: float
    rows: tuple[Row, ...]
    recognised: bool = False


def rows_of(lines: Sequence[PrintedLine]) -> tuple[Row, ...]:
    """Printed lines that share a block and a height become one row, from left to right."""
    rows: list[Row] = []
    group: list[PrintedLine] = []
    for line in lines:
        if group and not (line.block == group[0].block and _same_height(line.box, group[-1].box)):
            rows.append(_row(group))
            group = []
        group.append(line)
    if group:
        rows.append(_row(group))
    return tuple(rows)


def is_upright(box: Box) -> bool:
    """True for a line that runs from bottom to top or top to bottom of the page."""
    return box.y1 - box.y0 > 3 * (box.x1 - box.x0)


def _same_height(a: Box, b: Box) -> bool:
    if is_upright(a) or is_upright(b):
        return False
    overlap = min(a.y1, b.y1) - max(a.y0, b.y0)
    return overlap > 0.5 * min(a.y1 - a.y0, b.y1 - b.y0) and (a.x0 >= b.x1 - 1 or a.x1 <= b.x0 + 1)


def _row(group: list[PrintedLine]) -> Row:
    if len(group) == 1:
        only = group[0]
        return Row(only.text, only.box, only.size, only.bold, only.block, 1)
    group = sorted(group, key=lambda line: line.box.x0)
    widest = max(group, key=lambda line: len(line.text))
    text = group[0].text
    cells = 1
    for left, right in pairwise(group):
        # Justified prose spreads words by less than an em; columns of a table stand further apart.
        apart = right.box.x0 - left.box.x1 > 1.2 * widest.size and not (cells == 1 and _LABEL.fullmatch(text))
        cells += apart
        text += (" | " if apart else " ") + right.text
    box = Box(
        group[0].box.x0,
        min(line.box.y0 for line in group),
        max(line.box.x1 for line in group),
        max(line.box.y1 for line in group),
    )
    return Row(text, box, widest.size, all(line.bold for line in group), widest.block, cells)


def body_size(pages: Iterable[PageRows]) -> float:
    """The font size, in points, that most characters are set in; 0 when nothing was printed."""
    sizes: Counter[float] = Counter()
    for page in pages:
        if not page.recognised:
            for row in page.rows:
                sizes[round(row.size * 2) / 2] += len(row.text)
    return max(sizes, key=sizes.__getitem__) if sizes else 0.0


def blocks_of(page: PageRows, body: float, vocabulary: frozenset[str]) -> list[DraftBlock]:
    """The blocks of a page in reading order, notes last, given the document's body size and words."""
    drafts: list[DraftBlock] = []
    notes: list[DraftBlock] = []
    in_notes = False
    for rows in _joined(_paragraphs(page.rows), page):
        kind = _kind(rows, page, body, in_notes)
        in_notes = kind == "note"
        if kind == "table":
            lines = tuple(DraftLine(row.text, row.box, "\n") for row in rows)
        else:
            lines = join_lines([(row.text.replace(" | ", " "), row.box) for row in rows], vocabulary)
        size = None if page.recognised else round(max(rows, key=lambda row: len(row.text)).size, 1)
        (notes if kind == "note" else drafts).append(DraftBlock(page.number, kind, lines, size))
    return drafts + notes


def _paragraphs(rows: Sequence[Row]) -> list[list[Row]]:
    """Rows cut where a paragraph ends inside a block, and at every block."""
    paragraphs: list[list[Row]] = []
    right_edges: dict[int, float] = {}
    for row in rows:
        right_edges[row.block] = max(right_edges.get(row.block, 0.0), row.box.x1)
    for row in rows:
        if paragraphs and not _begins(row, paragraphs[-1][-1], right_edges[row.block]):
            paragraphs[-1].append(row)
        else:
            paragraphs.append([row])
    return paragraphs


def _begins(row: Row, above: Row, right_edge: float) -> bool:
    if row.block != above.block:
        return True
    if row.cells > 1 or above.cells > 1:
        # A wrapped cell of a table stands alone on its row and still belongs to the table.
        return row.cells == 1 and _BULLET.match(row.text) is not None
    broken_off = row.text[0].islower() and not _SENTENCE_END.search(above.text)
    if abs(row.size - above.size) > 0.12 * above.size or (row.bold != above.bold and not broken_off):
        return True
    if row.box.y0 - above.box.y1 > 0.6 * above.size or _BULLET.match(row.text):
        return True
    if not _SENTENCE_END.search(above.text):
        return False
    ends_short = above.box.x1 < right_edge - 3 * above.size
    indented = row.box.x0 > above.box.x0 + 0.8 * above.size
    return ends_short or indented or _LABEL.match(row.text) is not None


def _joined(paragraphs: Iterable[list[Row]], page: PageRows) -> list[list[Row]]:
    """Paragraphs that the library cut, because of wide leading or the end of a column, made whole again."""
    joined: list[list[Row]] = []
    for rows in paragraphs:
        if joined and (_continues(rows[0], joined[-1][-1], page) or (_tabular(rows) and _tabular(joined[-1]))):
            joined[-1].extend(rows)
        else:
            joined.append(rows)
    return joined


def _continues(row: Row, above: Row, page: PageRows) -> bool:
    alike = abs(row.size - above.size) <= 0.05 * above.size and row.bold == above.bold
    if not alike or row.cells > 1 or above.cells > 1 or _SENTENCE_END.search(above.text) or _LABEL.match(row.text):
        return False
    if row.box.y0 < above.box.y0:
        next_column = row.box.x0 > above.box.x1 - above.size
        return next_column and row.text[0].islower()
    near = row.box.y0 - above.box.y1 < 1.3 * above.size
    filled = above.box.x1 - above.box.x0 > 0.55 * page.width
    return near and abs(row.box.x0 - above.box.x0) < 4 * above.size and (filled or row.text[0].islower())


def _tabular(rows: Sequence[Row]) -> bool:
    return 2 * sum(row.cells > 1 for row in rows) >= len(rows)


def _kind(rows: Sequence[Row], page: PageRows, body: float, after_note: bool) -> BlockKind:
    if _tabular(rows) and (sum(row.cells > 1 for row in rows) > 1 or rows[0].cells > 2):
        return "table"
    if page.recognised:
        return "text"
    first = rows[0]
    size = max(rows, key=lambda row: len(row.text)).size
    if size <= 0.87 * body and first.box.y0 > 0.4 * page.height and (after_note or _NOTE_MARK.match(first.text)):
        return "note"
    length = sum(len(row.text) for row in rows)
    lettered = any(character.isalpha() for character in first.text)
    if not lettered or first.text[0].islower():
        return "text"
    if size >= 1.12 * body and length <= 250:
        return "heading"
    if first.bold and size >= 0.9 * body and length <= 150 and rows[-1].text[-1] not in ",;":
        return "heading"
    return "text"
