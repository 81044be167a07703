"""Where a passage stands on its pages."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rag_engine.types import Box, Line, Region


def regions(lines: Sequence[Line], start: int, end: int) -> tuple[Region, ...]:
    """Boxes that cover characters [start, end) of a document's text, one for each printed row, in reading order.

    The first and the last line are cut in proportion to the characters wanted: a line knows its box, not those of
    its letters. Lines without a box (formats without page geometry) give nothing.
    """
    found = (
        Region(line.page, _part(line, line.box, start, end))
        for line in lines
        if line.box is not None and max(line.start, start) < min(line.end, end)
    )
    return tuple(_rows(found))


def _part(line: Line, box: Box, start: int, end: int) -> Box:
    """The share of a line's box that the characters [start, end) take."""
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
            rows[-1] = Region(region.page, _union(rows[-1].box, region.box))
        else:
            rows.append(region)
    return rows


def _adjacent(one: Box, other: Box) -> bool:
    """Whether two boxes share a row and no more than a letter's width lies between them."""
    height = min(one.y1 - one.y0, other.y1 - other.y0)
    shared = min(one.y1, other.y1) - max(one.y0, other.y0)
    gap = max(one.x0, other.x0) - min(one.x1, other.x1)
    return shared >= 0.5 * height and gap <= height


def _union(one: Box, other: Box) -> Box:
    return Box(min(one.x0, other.x0), min(one.y0, other.y0), max(one.x1, other.x1), max(one.y1, other.y1))
