from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ingestion.extraction.layout.text_rows import PrintedLine, rows_of
from rag_engine.types.document import Box


def line(text: str, x0: float, y0: float, block: int = 0, size: float = 10) -> PrintedLine:
    return PrintedLine(text, Box(x0, y0, x0 + 5 * len(text), y0 + size), size, False, block)


def texts(*lines: PrintedLine) -> list[str]:
    return [row.text for row in rows_of(lines)]


def test_a_cell_that_runs_over_two_lines_shares_the_row_of_the_cell_beside_it() -> None:
    wrapped = (line("Chlorine and", 0, 0), line("compounds", 0, 10), line("10 000", 200, 5), line("-", 300, 5))
    assert texts(*wrapped, line("Halons", 0, 20), line("1", 200, 20)) == [
        "Chlorine and compounds | 10 000 | -",
        "Halons | 1",
    ]


def test_a_wrapped_cell_on_the_right_and_one_in_a_block_of_its_own_share_the_row_too() -> None:
    assert texts(line("id", 0, 5), line("int4", 100, 5), line("Not", 200, 0), line("Null", 200, 10)) == [
        "id | int4 | Not Null"
    ]
    assert texts(
        line("place", 0, 10, 0), *(line(word, 100, 10 * at, 1) for at, word in enumerate(("a", "b", "c")))
    ) == ["place | a b c"]


def test_a_cell_between_two_others_is_said_once() -> None:
    assert texts(line("Heat", 0, 0, 0), line("May", 60, 0, 1), line("Rome", 120, 0, 2)) == ["Heat | May | Rome"]
    assert texts(line("Heat", 0, 0, 0), line("May", 60, 0, 1), line("Rome", 120, 0, 0)) == ["Heat | May | Rome"]


def test_columns_of_prose_that_lie_at_uneven_heights_stay_apart() -> None:
    left = [line("The plan of the river holds for all towns there", 0, 12 * at) for at in range(4)]
    right = [line("and for those who live beside it, as they must", 300, 12 * at + 6, 1) for at in range(4)]
    assert len(texts(*left, *right)) == 8


def test_the_box_of_a_row_encloses_all_its_lines() -> None:
    (row,) = rows_of([line("Chlorine", 0, 0), line("gas", 0, 10), line("5", 100, 5)])
    assert row.box == Box(0, 0, 105, 20)


spots = st.builds(line, st.from_regex("[a-z]{1,60}", fullmatch=True), *[st.integers(0, 300)] * 2, st.integers(0, 3))


@given(st.lists(spots, max_size=25))
def test_no_word_is_lost_or_doubled(lines: list[PrintedLine]) -> None:
    found = "".join(texts(*lines)).replace(" | ", "").replace(" ", "")
    assert sorted(found) == sorted("".join(one.text for one in lines))
