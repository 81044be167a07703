from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ingestion.extraction.ocr.choose import columns_first
from ingestion.file_reading import OcrLine
from rag_engine.types.document import Box


def line(text: str, x0: float, y0: float, x1: float) -> OcrLine:
    return OcrLine(text, Box(x0, y0, x1, y0 + 10), 0)


def test_two_columns_under_a_title_are_read_one_after_the_other() -> None:
    scattered = [
        line("right 1", 110, 22, 200),
        line("foot", 0, 60, 200),
        line("left 2", 0, 32, 90),
        line("title", 0, 0, 200),
        line("left 1", 0, 20, 90),
        line("right 2", 110, 34, 200),
    ]
    assert [found.text for found in columns_first(scattered)] == [
        "title",
        "left 1",
        "left 2",
        "right 1",
        "right 2",
        "foot",
    ]


coordinates = st.floats(0, 1000)


@given(st.lists(st.builds(line, st.text(max_size=5), coordinates, coordinates, coordinates), max_size=30))
def test_no_line_is_lost_or_doubled(lines: list[OcrLine]) -> None:
    ordered = columns_first(lines)
    assert sorted((found.text, found.box.y0) for found in ordered) == sorted((one.text, one.box.y0) for one in lines)
