"""Reading order of the shapes of a slide, by their boxes alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, pairwise
from statistics import median

from rag_engine.types.document import Box

# Share of its size by which a box may reach into another without standing beside or under it.
_OVERLAP = 0.08
# Share of a column's width up to which one beside it holds the numbers or values of its rows.
_NARROW = 0.3
# What begins below this share of the slide is its foot.
_FOOT = 0.88
# Gap between two rows of cards, in gaps within a card.
_CARD_GAP = 2.0


def reading_order(boxes: Sequence[Box], height: float = 0.0) -> list[int]:
    """Return the places of boxes in reading order: columns from left to right, each from top to bottom.

    What goes over several columns parts those above it from those below. Numbers beside a column are read row by row,
    and the foot of a slide of some height last.

    >>> from rag_engine.types.document import Box
    >>> right, left, below_left = Box(50, 0, 90, 9), Box(0, 0, 40, 9), Box(0, 12, 40, 30)
    >>> reading_order([right, below_left, left])
    [2, 1, 0]
    """
    places = list(range(len(boxes)))
    foot = [place for place in places if height and boxes[place].y0 >= _FOOT * height]
    above = [place for place in places if place not in foot]
    return [place for part in (above, foot) for place in _ordered(part, boxes)]


def _ordered(places: list[int], boxes: Sequence[Box]) -> Iterator[int]:
    if len(places) < 2:
        yield from places
        return
    parts = _bands(places, boxes)
    parts = parts if len(parts) > 1 else _columns(places, boxes)
    parts = parts if len(parts) > 1 else _rows(places, boxes)
    if len(parts) > 1:
        for part in parts:
            yield from _ordered(part, boxes)
    else:
        yield from sorted(places, key=lambda place: (boxes[place].y0, boxes[place].x0))


def _bands(places: list[int], boxes: Sequence[Box]) -> list[list[int]]:
    """Return the places by the rows through which the same columns go."""
    bands: list[list[list[int]]] = []
    for row in _rows(places, boxes):
        if bands and len(_columns([*chain(*bands[-1]), *row], boxes)) > 1:
            bands[-1].append(row)
        else:
            bands.append([row])
    return [[*chain(*card)] for band in bands for card in _cards(band, boxes)]


def _cards(rows: list[list[int]], boxes: Sequence[Box]) -> list[list[list[int]]]:
    """Return rows parted where they are much further from each other than elsewhere, as rows of cards are."""
    gaps = [_top(below, boxes) - _bottom(above, boxes) for above, below in pairwise(rows)]
    if len(gaps) < 3:
        return [rows]
    usual = max(median(sorted(gaps)[: len(gaps) // 2 + 1]), 0.0)
    cuts = [place + 1 for place, gap in enumerate(gaps) if gap > _CARD_GAP * usual]
    cards = [rows[start:end] for start, end in zip([0, *cuts], [*cuts, len(rows)], strict=True)]
    return cards if all(len(card) > 1 for card in cards) else [rows]


def _columns(places: list[int], boxes: Sequence[Box]) -> list[list[int]]:
    """Return the places by columns; a narrow one beside the boxes of another belongs to that."""
    columns: list[list[int]] = []
    for column in _parts([(boxes[place].x0, boxes[place].x1, place) for place in places]):
        if columns and _are_rows(columns[-1], column, boxes):
            columns[-1] += column
        else:
            columns.append(column)
    return columns


def _are_rows(left: list[int], right: list[int], boxes: Sequence[Box]) -> bool:
    """Return whether each box of a narrow column stands beside one of the column next to it."""
    narrow, wide = sorted((left, right), key=lambda places: _width(places, boxes))
    if len(narrow) < 2 or _width(narrow, boxes) > _NARROW * _width(wide, boxes):
        return False
    beside = {_beside(boxes[place], wide, boxes) for place in narrow}
    return None not in beside and len(beside) == len(narrow)


def _beside(box: Box, column: list[int], boxes: Sequence[Box]) -> int | None:
    middle = (box.y0 + box.y1) / 2
    return next((place for place in column if boxes[place].y0 <= middle <= boxes[place].y1), None)


def _rows(places: list[int], boxes: Sequence[Box]) -> list[list[int]]:
    return _parts([(boxes[place].y0, boxes[place].y1, place) for place in places])


def _parts(spans: list[tuple[float, float, int]]) -> list[list[int]]:
    """Return the places of spans, parted where no span goes on."""
    parts: list[list[int]] = []
    reached = float("-inf")
    for start, end, place in sorted(spans):
        inset = _OVERLAP * (end - start)
        if start + inset >= reached or not parts:
            parts.append([])
        parts[-1].append(place)
        reached = max(reached, end - inset)
    return parts


def _width(places: list[int], boxes: Sequence[Box]) -> float:
    return max(boxes[place].x1 for place in places) - min(boxes[place].x0 for place in places)


def _top(places: list[int], boxes: Sequence[Box]) -> float:
    return min(boxes[place].y0 for place in places)


def _bottom(places: list[int], boxes: Sequence[Box]) -> float:
    return max(boxes[place].y1 for place in places)
