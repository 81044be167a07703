from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingestion.book_index.entries import IndexEntry, printed_pages, records_of
from rag_engine.book_index.anchors import IndexRecord


def page_of(printed: str) -> int | None:
    """Return a book whose page 1 is the eleventh of its file, without Roman numbers."""
    return int(printed) + 10 if printed.isdecimal() else None


def read(*entries: str | tuple[str, float]) -> list[IndexRecord]:
    return records_of([IndexEntry(one) if isinstance(one, str) else IndexEntry(*one) for one in entries], page_of)


@pytest.mark.parametrize(
    ("locators", "pages"),
    [
        ("12", "12"),
        ("12, 15", "12 15"),
        ("12-15", "12 13 14 15"),
        ("12–15", "12 13 14 15"),
        ("112-5", "112 113 114 115"),
        ("98—102", "98 99 100 101 102"),
        ("12f.", "12 13"),
        ("12 f., 20", "12 13 20"),
        ("12ff.", "12 13 14"),
        ("12 ss.", "12 13 14"),
        ("xii, 3", "xii 3"),
        ("ix–xi", "ix x xi"),
        ("14n2, 15n", "14 15"),
        ("7; 9 and 11", "7 9 11"),
        ("S. 4, 6", "4 6"),
    ],
)
def test_locators_stand_for_every_page_that_they_name(locators: str, pages: str) -> None:
    assert " ".join(printed_pages(locators)) == pages


@given(first=st.integers(1, 900), length=st.integers(0, 60), dash=st.sampled_from("-–—"), short=st.booleans())
def test_a_range_has_all_its_pages_however_its_end_is_shortened(
    first: int, length: int, dash: str, short: bool
) -> None:
    last = first + length
    end = str(last)
    if short and len(str(first)) == len(end):
        # Only the digits that change, as editors shorten ranges.
        same = next((i for i, (a, b) in enumerate(zip(str(first), end, strict=True)) if a != b), len(end) - 1)
        end = end[same:]
    assert printed_pages(f"{first}{dash}{end}") == tuple(map(str, range(first, last + 1)))


def test_pages_are_those_of_the_file_and_the_printed_ones_stay() -> None:
    assert read("adaptation, 2, 5–6") == [IndexRecord("adaptation", "", (12, 15, 16), ("2", "5", "6"))]


def test_a_term_may_hold_commas_numbers_and_signs() -> None:
    records = read(
        "Article 9, 34", "agriculture, forestry and other land use, 3", "., space after, 30", "\\,, 52", "1990, 4"
    )
    assert [record.term for record in records] == [
        "Article 9", "agriculture, forestry and other land use", "., space after", "\\,", "1990",
    ]  # fmt: skip


def test_what_is_indented_belongs_to_what_stands_above() -> None:
    records = read(
        ("loss and damage", 0),
        ("finance for, 4", 10),
        ("in cities", 10),
        ("small islands, 6", 20),
        ("mitigation, 8", 0),
    )
    assert [record.entry for record in records] == [
        "loss and damage, finance for", "loss and damage, in cities, small islands", "mitigation",
    ]  # fmt: skip


def test_sub_entries_may_run_on_in_one_paragraph() -> None:
    records = read("loss and damage, 3; finance for, 5–6; history of, 7; see also risk")
    assert [(record.entry, record.printed, record.see) for record in records] == [
        ("loss and damage", ("3",), ()),
        ("loss and damage, finance for", ("5", "6"), ()),
        ("loss and damage, history of", ("7",), ("risk",)),
    ]


def test_an_entry_that_goes_on_in_the_next_column_is_no_new_term() -> None:
    assert [record.entry for record in read("heat, 2", "heat (continued)", ("health and, 5", 10))] == [
        "heat",
        "heat, health and",
    ]


@pytest.mark.parametrize(
    ("entry", "term", "see"),
    [
        ("global warming, see climate change", "global warming", ("climate change",)),
        ("global warming. See climate change", "global warming", ("climate change",)),
        ("global warming see climate change", "global warming", ("climate change",)),
        ("resilience (see also risk; exposure)", "resilience", ("risk", "exposure")),
        ("sisma, vedi terremoto", "sisma", ("terremoto",)),
        ("alluvioni, vedi anche rischio idraulico", "alluvioni", ("rischio idraulico",)),
        ("sismo, véase terremoto", "sismo", ("terremoto",)),
        ("Hochwasser, siehe auch Deich", "Hochwasser", ("Deich",)),
        ("séisme, voir tremblement de terre", "séisme", ("tremblement de terre",)),
        ("cheia, ver inundação", "cheia", ("inundação",)),
        ("sel, bkz. taşkın", "sel", ("taşkın",)),
        ("sel, ayrıca bkz. taşkın", "sel", ("taşkın",)),
    ],
)
def test_a_cross_reference_is_read_in_seven_languages(entry: str, term: str, see: tuple[str, ...]) -> None:
    assert read(entry) == [IndexRecord(term, see=see)]


def test_a_cross_reference_stands_beside_pages_before_and_behind_them() -> None:
    assert read("heat, 4, 5, see also drought") == [IndexRecord("heat", "", (14, 15), ("4", "5"), ("drought",))]
    assert read("heat (see also drought), 4, 5") == [IndexRecord("heat", "", (14, 15), ("4", "5"), ("drought",))]


def test_a_cross_reference_on_a_line_of_its_own_belongs_to_the_head() -> None:
    records = read(("heat, 4", 0), ("health and, 5", 10), ("see also drought", 10))
    assert [(record.entry, record.see) for record in records] == [("heat", ("drought",)), ("heat, health and", ())]


def test_a_term_that_holds_the_word_see_is_no_cross_reference() -> None:
    assert read("need to see a doctor, 4")[0].term == "need to see a doctor"


def test_the_letters_between_the_entries_are_none() -> None:
    assert [record.term for record in read("A", "adaptation, 2", "B", "Symbols", "bonds, 3")] == ["adaptation", "bonds"]


def test_an_index_without_commas_is_read_by_its_spaces() -> None:
    assert [(record.term, record.printed) for record in read("adaptation 2 5-6", "bonds 3", "cities 4 9")] == [
        ("adaptation", ("2", "5", "6")), ("bonds", ("3",)), ("cities", ("4", "9")),
    ]  # fmt: skip


@given(st.text(max_size=60))
def test_no_line_breaks_the_reader(line: str) -> None:
    for record in read(line):
        assert record.term


@pytest.mark.parametrize(
    "line", ["1 2 3 4 " * 400 + "x", "term, " + "12, " * 450 + "x", "s. " * 600, ". " * 900, "see " * 450]
)
def test_a_line_of_repetitions_takes_no_time(line: str) -> None:
    start = time.process_time()
    read(line)
    assert time.process_time() - start < 5
