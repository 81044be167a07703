from __future__ import annotations

import random

import pytest

from ingestion.extraction.layout.slide_order import reading_order
from rag_engine.types.document import Box

# Names of boxes in the order in which they are read, with left, top, width and height in inches.
_LAYOUTS: dict[str, list[tuple[str, float, float, float, float]]] = {
    "two columns, each with its heading": [
        ("flood", 0.5, 1.8, 4, 0.5),
        ("sirens", 0.5, 2.6, 4, 0.5),
        ("drought", 5.2, 1.8, 4, 0.5),
        ("sandbags", 5.2, 2.6, 4, 0.5),
        ("source over both", 0.5, 6.0, 8.7, 0.5),
    ],
    "an introduction over three columns": [
        ("introduction", 0.5, 1.5, 9, 0.5),
        ("a", 0.5, 2.2, 2.8, 0.4),
        ("a text", 0.5, 2.7, 2.8, 2),
        ("b", 3.6, 2.2, 2.8, 0.4),
        ("b text", 3.6, 2.7, 2.8, 1),
        ("c", 6.7, 2.2, 2.8, 0.4),
        ("c text", 6.7, 2.7, 2.8, 3),
    ],
    "one column": [(f"step {number}", 1, 1 + number, 7, 0.5) for number in range(5)],
    "a tall picture beside boxes": [
        ("first", 0.5, 1.5, 4, 1),
        ("second", 0.5, 2.7, 4, 1),
        ("picture", 5, 1.5, 4, 4),
    ],
    "numbers beside their steps": [
        ("1", 0.5, 1.5, 0.5, 0.5),
        ("ring", 1.2, 1.4, 7, 0.7),
        ("2", 0.5, 2.5, 0.5, 0.5),
        ("call", 1.2, 2.4, 7, 0.7),
    ],
    "values beside their names": [
        ("small boat", 0.5, 1.5, 6, 0.5),
        ("75 crowns", 7, 1.5, 1.5, 0.5),
        ("large boat", 0.5, 2.5, 6, 0.5),
        ("140 crowns", 7, 2.5, 1.5, 0.5),
    ],
    "rows of cards": [
        ("a", 0.5, 1.5, 4, 0.4),
        ("a text", 0.5, 2.0, 4, 1),
        ("b", 5, 1.5, 4, 0.4),
        ("b text", 5, 2.0, 4, 1),
        ("c", 0.5, 4.0, 4, 0.4),
        ("c text", 0.5, 4.5, 4, 1),
        ("d", 5, 4.0, 4, 0.4),
        ("d text", 5, 4.5, 4, 1),
    ],
    "boxes that reach a little into each other": [
        ("a", 0.5, 1.5, 4.1, 1.05),
        ("a text", 0.5, 2.5, 4.1, 1.5),
        ("b", 4.5, 1.5, 4, 1.05),
        ("b text", 4.5, 2.5, 4, 1.5),
    ],
    "dates above what happened": [
        ("2019", 0.5, 2, 1, 0.4),
        ("flood", 0.5, 2.5, 2, 1),
        ("2021", 3, 2, 1, 0.4),
        ("dyke", 3, 2.5, 2, 1),
    ],
    "a short foot below columns": [
        ("a", 0.5, 2, 4, 4),
        ("b", 5, 2, 4, 4),
        ("water board", 0.5, 7, 2, 0.3),
    ],
    "boxes in the same place": [("a", 1, 1, 4, 1), ("b", 1, 1, 4, 1)],
}


@pytest.mark.parametrize("layout", _LAYOUTS)
def test_boxes_are_read_as_people_read_a_slide(layout: str) -> None:
    drawn = _LAYOUTS[layout][:]
    if layout != "boxes in the same place":
        random.Random(7).shuffle(drawn)
    boxes = [Box(left, top, left + width, top + height) for _, left, top, width, height in drawn]
    order = reading_order(boxes, 7.5)
    assert [drawn[place][0] for place in order] == [name for name, *_ in _LAYOUTS[layout]]
