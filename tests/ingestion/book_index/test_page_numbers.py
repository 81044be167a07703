from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ingestion.book_index.page_numbers import page_numbers
from ingestion.extraction.layout.numerals import roman
from ingestion.extraction.layout.page_numbers import value_of


def test_page_labels_tell_the_page_of_each_number() -> None:
    numbers = page_numbers(["i", "ii", "iii", "1", "2", "3", "4"], {}, 7)
    assert [numbers.page(printed) for printed in ("ii", "1", "4", "5", "iv")] == [2, 4, 7, None, None]
    assert numbers.told_by == "page labels"


def test_a_label_of_thousands_of_digits_is_no_number() -> None:
    assert page_numbers(["1", "2" * 5_000, "3"], {}, 3).page("3") == 3


@given(front=st.integers(0, 40), body=st.integers(6, 60), silent=st.sets(st.integers(1, 60), max_size=2))
def test_printed_numbers_tell_the_front_matter_from_the_text(front: int, body: int, silent: set[int]) -> None:
    margins = {page: [f"{roman(page)} Contents"] for page in range(1, front + 1)}
    margins |= {front + n: ["Chapter 2", str(n)] for n in range(1, body + 1) if n not in silent or 2 < n < 4}
    numbers = page_numbers((), margins, front + body)
    if len(silent) == 0:
        assert [numbers.page(str(n)) for n in range(1, body + 1)] == [front + n for n in range(1, body + 1)]
    assert numbers.page(str(body + 1)) is None


def test_a_page_that_hides_its_number_still_has_it() -> None:
    margins = {page: [str(page - 4)] for page in range(5, 40) if page not in (9, 20)}
    numbers = page_numbers((), margins, 40)
    assert (numbers.page("5"), numbers.page("16")) == (9, 20)


def test_years_and_section_numbers_in_the_margins_do_not_count() -> None:
    margins = {page: ["Report 2015", f"{page}.1 Scope", str(page - 2)] for page in range(3, 20)}
    assert page_numbers((), margins, 20).page("5") == 7


def test_labels_that_the_printed_numbers_contradict_are_not_believed() -> None:
    labels = [str(page) for page in range(1, 31)]
    numbers = page_numbers(labels, {page: [str(page - 10)] for page in range(11, 31)}, 30)
    assert numbers.page("5") == 15
    assert numbers.told_by == "printed page numbers"


def test_without_any_number_a_page_is_a_page_of_the_file() -> None:
    numbers = page_numbers((), {}, 9)
    assert (numbers.page("9"), numbers.page("10"), numbers.told_by) == (9, None, "")


@given(st.integers(1, 399))
def test_a_roman_number_is_read_as_it_is_written(number: int) -> None:
    assert value_of(roman(number)) == (True, number)
    assert value_of(str(number)) == (False, number)
