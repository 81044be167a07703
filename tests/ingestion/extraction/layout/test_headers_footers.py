from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingestion.extraction.layout.page_breaks import without_running_heads
from ingestion.extraction.layout.text_rows import PageRows, TextRow
from rag_engine.types.document import Box


def row(text: str, top: float, size: float = 11, *, bold: bool = False) -> TextRow:
    return TextRow(text, Box(72, top, 300, top + 12), size, bold, 0, 1)


def kept(heads: list[str], size: float = 11, *, bold: bool = False) -> list[str]:
    """Return the texts that are left of one row at the top of each page, above a row of text."""
    pages = [
        PageRows(
            n, 595, 842, (row(head, 40, size, bold=bold), row(f"The text of leaf {n}, which has many words.", 400))
        )
        for n, head in enumerate(heads, 1)
    ]
    return [row.text for page in without_running_heads(pages) for row in page.rows if row.box.y0 < 100]


def test_articles_that_begin_at_the_top_of_pages_stay() -> None:
    articles = ["Article 3", "Article 4", "Article 7", "Article 12", "Article 13"]
    assert kept(articles) == articles
    assert kept(["§ 3", "§ 4", "§ 9", "§ 10"]) == ["§ 3", "§ 4", "§ 9", "§ 10"]
    assert kept(["3.", "5.", "9.", "17."]) == ["3.", "5.", "9.", "17."]


@pytest.mark.parametrize(
    "head", ["Page {0}", "{0} / 9", "- {0} -", "Seite {0} von 9, Stand 2021", "Official Journal L 243/{0}"]
)
@given(offset=st.integers(0, 400))
def test_what_moves_with_the_page_number_goes(head: str, offset: int) -> None:
    assert kept([head.format(number + offset) for number in range(1, 10)]) == []


@pytest.mark.parametrize(
    "head", ["Measure {0}", "Fiche action n° {0}", "§ {0}", "Measure {0}: Flood protection", "MEASURE {0}."]
)
def test_a_heading_that_counts_with_the_pages_stays(head: str) -> None:
    headings = [head.format(number) for number in range(7, 15)]
    assert kept(headings, size=14) == headings


def test_a_heading_in_roman_numbers_and_one_that_is_bold_stay() -> None:
    annexes = [f"ANNEX {number}" for number in ("I", "II", "III", "IV", "V")]
    assert kept(annexes, size=14) == annexes
    assert kept(annexes, bold=True) == annexes


@pytest.mark.parametrize("head", ["Page {0}", "Seite {0}", "Page {0} of 12", "- {0} -", "Sheet {0} of 9", "{0}"])
def test_page_numbers_in_large_letters_go(head: str) -> None:
    assert kept([head.format(number) for number in range(7, 15)], size=14, bold=True) == []


def test_a_bold_running_head_with_the_number_of_its_page_goes() -> None:
    assert kept([f"Annual report {number}" for number in range(7, 15)], bold=True) == []
    assert kept([f"Annual report 2020 {number}" for number in range(7, 15)], size=14) == []


def test_roman_page_numbers_go_and_roman_chapters_stay() -> None:
    assert kept(["iii", "iv", "v", "vi"]) == []
    assert kept(["II", "III", "V", "XII"]) == ["II", "III", "V", "XII"]


def test_a_row_of_thousands_of_digits_is_no_page_number() -> None:
    digits = [f"Page {n}{'0' * 5_000}" for n in range(1, 5)]
    assert kept(digits) == digits


def test_page_numbers_that_begin_anew_in_every_chapter_go() -> None:
    assert kept([f"{chapter}-{page}" for chapter in range(1, 5) for page in range(1, 5)]) == []


@given(st.lists(st.integers(1, 10**6), min_size=3, max_size=30, unique=True))
def test_heads_whose_numbers_keep_no_distance_from_the_page_stay(numbers: list[int]) -> None:
    distances = [number - page for page, number in enumerate(numbers, 1)]
    heads = [f"Article {number}" for number in numbers]
    if max(map(distances.count, distances)) < 3:
        assert kept(heads) == heads
