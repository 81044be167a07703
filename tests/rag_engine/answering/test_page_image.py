import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_engine.answering.page_image import regions, sheet
from rag_engine.types.document import Box, Line
from rag_engine.types.passage import Region

LINES = (
    Line(0, 100, 1, Box(50, 10, 250, 20)),
    Line(101, 201, 1, Box(50, 24, 250, 34)),
    Line(203, 303, 2, Box(50, 10, 250, 20)),
)


def test_the_first_and_last_line_are_cut_in_proportion() -> None:
    assert regions(LINES, 50, 126) == (Region(1, Box(150, 10, 250, 20)), Region(1, Box(50, 24, 100, 34)))


def test_a_passage_over_two_pages_has_boxes_on_both() -> None:
    assert [region.page for region in regions(LINES, 150, 250)] == [1, 2]


def test_pieces_of_one_row_become_one_box_and_columns_stay_apart() -> None:
    row = (Line(0, 10, 1, Box(50, 10, 100, 20)), Line(10, 20, 1, Box(104, 11, 150, 21)))
    assert regions(row, 0, 20) == (Region(1, Box(50, 10, 150, 21)),)
    columns = (Line(0, 10, 1, Box(50, 10, 100, 20)), Line(10, 20, 1, Box(300, 10, 400, 20)))
    assert len(regions(columns, 0, 20)) == 2


def test_a_format_without_page_geometry_has_no_regions() -> None:
    assert regions((Line(0, 100, 1, None),), 0, 100) == ()


@pytest.mark.parametrize("span", [(10, 10), (100, 101), (400, 500)])
def test_nothing_wanted_gives_nothing(span: tuple[int, int]) -> None:
    assert regions(LINES, *span) == ()


@given(st.integers(0, 303), st.integers(0, 303))
def test_every_box_lies_inside_the_lines_it_marks(start: int, end: int) -> None:
    for region in regions(LINES, start, end):
        assert any(
            line.page == region.page and line.box and line.box.x0 <= region.box.x0 < region.box.x1 <= line.box.x1
            for line in LINES
        )


def test_a_sheet_is_cut_between_words_and_says_that_more_is_left_out() -> None:
    text = "word " * 400 + "It remains valid for six years." + " word" * 400
    start = text.index("It remains")
    quote = text.index("six years")

    shown, [(first, last)], [(quoted, end)] = sheet(text, start, start + 31, [(quote, quote + 9)])

    assert shown.startswith("… word word")
    assert shown.endswith("word word …")
    assert shown[first:last] == "It remains valid for six years."
    assert shown[quoted:end] == "six years"


def test_a_sheet_of_a_short_text_is_the_whole_text() -> None:
    assert sheet("A plan is valid for six years.", 2, 6, []) == ("A plan is valid for six years.", [(2, 6)], [])


def test_a_line_set_vertically_is_marked_whole() -> None:
    assert regions((Line(0, 50, 1, Box(10, 10, 20, 300)),), 5, 10) == (Region(1, Box(10, 10, 20, 300)),)
