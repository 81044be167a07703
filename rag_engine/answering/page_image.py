"""Position of a passage on its pages."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rag_engine.text.excerpt import word_end, word_start
from rag_engine.text.sentences import Span
from rag_engine.types.document import Box, Line
from rag_engine.types.passage import Region

# Characters shown before and after a passage where there is no page to show.
_AROUND = 1500
# Characters in a row of such a sheet, about.
_ROW = 95


def regions(lines: Sequence[Line], start: int, end: int) -> tuple[Region, ...]:
    """Return boxes over characters [start, end) of a document's text, one for each printed row.

    They are in reading order. The first and the last line are cut in proportion to the wanted characters, since letters
    have no boxes. Lines without a box (formats without page geometry) give nothing.
    """
    found = (
        Region(line.page, _part(line, line.box, start, end))
        for line in lines
        if line.box is not None and max(line.start, start) < min(line.end, end)
    )
    return tuple(_rows(found))


def page_marks(
    lines: Sequence[Line], start: int, end: int, quotes: Sequence[Span], page: int = 0
) -> tuple[int, list[Box], list[Box]]:
    """Return the page to show with the boxes of the passage and of the quotes on it.

    `page` chooses one; otherwise it is that of the first quote, else of the passage, else the first.
    """
    passage = regions(lines, start, end)
    quoted = [region for first, last in quotes for region in regions(lines, first, last)]
    shown = page or next((region.page for region in (*quoted, *passage)), 1)
    return shown, [r.box for r in passage if r.page == shown], [r.box for r in quoted if r.page == shown]


def sheet(text: str, start: int, end: int, quotes: Sequence[Span]) -> tuple[str, list[Span], list[Span]]:
    """Return the text around a passage, with the positions of passage and quotes in it.

    It is for formats without pages. It is cut between words, and an ellipsis replaces left-out text.
    """
    first, last = word_start(text, max(0, start - _AROUND)), word_end(text, min(len(text), end + _AROUND))
    before, after = "… " if first else "", " …" if last < len(text) else ""
    moved = len(before) - first
    quoted = [(max(a, first) + moved, min(b, last) + moved) for a, b in quotes if a < last and b > first]
    return f"{before}{text[first:last]}{after}", [(start + moved, end + moved)], quoted


def height_on_sheet(text: str, position: int) -> float:
    """Return about how far down a sheet of the text a position is: 0 at its top, 1 at its foot."""
    return _count_rows(text[:position]) / max(_count_rows(text), 1)


def _count_rows(text: str) -> int:
    return sum(1 + len(line) // _ROW for line in text.split("\n"))


def _part(line: Line, box: Box, start: int, end: int) -> Box:
    """Return the share of a line's box that the characters [start, end) take."""
    length = line.end - line.start
    left = max(start - line.start, 0) / length
    right = min(end - line.start, length) / length
    if box.y1 - box.y0 > 2 * (box.x1 - box.x0) and length > 2:
        return box  # set vertically: which way it reads is not known
    width = box.x1 - box.x0
    return Box(box.x0 + left * width, box.y0, box.x0 + right * width, box.y1)


def _rows(found: Iterable[Region]) -> list[Region]:
    """Regions with neighbours in one row joined: extraction often splits a row into several pieces."""
    rows: list[Region] = []
    for region in found:
        if rows and rows[-1].page == region.page and _adjacent(rows[-1].box, region.box):
            one, other = rows[-1].box, region.box
            box = Box(min(one.x0, other.x0), min(one.y0, other.y0), max(one.x1, other.x1), max(one.y1, other.y1))
            rows[-1] = Region(region.page, box)
        else:
            rows.append(region)
    return rows


def _adjacent(box: Box, other: Box) -> bool:
    """Return whether two boxes share a row with at most a letter's width between them."""
    height = min(box.y1 - box.y0, other.y1 - other.y0)
    shared = min(box.y1, other.y1) - max(box.y0, other.y0)
    gap = max(box.x0, other.x0) - min(box.x1, other.x1)
    return shared >= 0.5 * height and gap <= height
