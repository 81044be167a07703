"""Pages that bear other numbers than their sheets."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest

from ingestion.extraction.extract import extract
from ingestion.extraction.layout.numerals import roman
from ingestion.file_reading import ExtractionLimits
from rag_engine.types.document import ExtractedText
from tests.ingestion.documents import drawing

LIMITS = ExtractionLimits()
WIDTH, HEIGHT = 595, 842
# What is printed at the margins of a page: its place from the left and the top, and words.
Margin = tuple[float, float, str]
Rule = dict[str, Any]


def foot(number: object) -> list[Margin]:
    return [(290, 810, str(number))] if number else []


def read(path: Path, margins: Sequence[Iterable[Margin]], rules: Sequence[Rule] = ()) -> ExtractedText:
    """Return what is read of a file whose pages have words in their margins, and labels by these rules."""
    with drawing(path) as document:
        for sheet, printed in enumerate(margins, 1):
            page = document.new_page(width=WIDTH, height=HEIGHT)
            for place in range(3):
                text = f"The town keeps gauge {sheet}{place} of the river in good order. It is read by the warden."
                page.insert_textbox((72, 150 + 150 * place, 520, 290 + 150 * place), text, fontsize=11)
            for x, y, words in printed:
                page.insert_text((x, y), words, fontsize=9)
        if rules:
            document.set_page_labels(list(rules))
    return extract(path, LIMITS, None)


def labels(path: Path, numbers: Sequence[object], rules: Sequence[Rule] = ()) -> tuple[str, ...]:
    return read(path, [foot(number) for number in numbers], rules).page_labels


def test_numbers_behind_a_cover_are_those_of_the_print(tmp_path: Path) -> None:
    extracted = read(tmp_path / "a.pdf", [foot(number) for number in ("", "", 1, 2, 3, 4, 5)])
    assert extracted.page_labels == ("", "", "1", "2", "3", "4", "5")
    # A number of a page is none of its text.
    assert not any(line.isdecimal() for line in extracted.text.splitlines())


def test_a_preface_is_numbered_by_itself(tmp_path: Path) -> None:
    preface = ["", "", "iii", "iv", "v", "vi"]
    assert labels(tmp_path / "a.pdf", [*preface, 1, 2, 3, 4]) == (*preface, "1", "2", "3", "4")
    assert labels(tmp_path / "b.pdf", ["", "ii", "iii", 1, 2, 3, 4]) == ("i", "ii", "iii", "1", "2", "3", "4")
    assert labels(tmp_path / "c.pdf", ["I", "II", "III", 1, 2, 3, 4])[:4] == ("I", "II", "III", "1")


def test_pages_of_a_journal_keep_their_numbers(tmp_path: Path) -> None:
    assert labels(tmp_path / "a.pdf", range(213, 231)) == tuple(map(str, range(213, 231)))
    assert labels(tmp_path / "b.pdf", [213, 214]) == ("213", "214")
    # Of the first page nobody can tell: it may be a cover.
    assert labels(tmp_path / "c.pdf", ["", 214, 215, 216]) == ("", "214", "215", "216")


@pytest.mark.parametrize(
    "printed",
    [
        lambda n: [(60 if n % 2 == 0 else 500, 40, str(n))],
        lambda n: (
            [(60, 40, f"{n}"), (300, 40, "River Law Review")]
            if n % 2 == 0
            else [(60, 40, "Law of Floods"), (510, 40, f"{n}")]
        ),
        lambda n: [(60, 40, f"River Law Review 12 (2021)    {n}")],
        lambda n: [(60, 810, f"Flood Handbook | Page {n} of 90")],
        lambda n: [(60, 40, f"{n}    The River Law Review" if n % 2 else f"Smith and others    {n}")],
        lambda n: [(60, 810, f"- {n} -")],
        lambda n: [(60, 810, f"S. {n}")],
        lambda n: [(60, 810, f"Seite {n} von 90")],
        lambda n: [(60, 810, f"{n} | P a g e")],
        lambda n: [(60, 810, f"{n}/90")],
        lambda n: [(60, 40, f"2.7.2021 EN Official Journal of the European Union L 243/{n}")],
        # The first page of a chapter hides it.
        lambda n: foot("" if n in (26, 31) else n),
        # Years and figures beside it.
        lambda n: [(290, 810, str(n)), (60, 40, "2021"), (60, 700, str(7 * n % 31))],
    ],
)
def test_numbers_are_found_where_they_are_printed(tmp_path: Path, printed: Callable[[int], list[Margin]]) -> None:
    extracted = read(tmp_path / "a.pdf", [[], *(printed(n) for n in range(23, 37))])
    assert extracted.page_labels == ("", *(str(n) for n in range(23, 37)))


def test_chapters_may_count_their_own_pages(tmp_path: Path) -> None:
    numbers = ["", "1-1", "1-2", "1-3", "1-4", "2-1", "2-2", "3-1", "3-2", "3-3", "A-1", "A-2"]
    assert labels(tmp_path / "a.pdf", numbers) == tuple(numbers)


@pytest.mark.parametrize(
    "printed",
    [
        # The sheets themselves.
        foot,
        lambda sheet: [],
        # Years of a series, headings and figures that count with the pages, or do not.
        lambda sheet: [(290, 60, str(2014 + sheet))],
        lambda sheet: [(72, 60, f"Measure {sheet + 3}")],
        lambda sheet: [(72, 60, f"Annex {roman(sheet + 2).upper()}")],
        lambda sheet: [(72, 60, f"{sheet + 3}. Rivers of the county of {'ABCDEFGH'[sheet]}town")],
        lambda sheet: [(72, 60, f"Table {sheet + 4}")],
        lambda sheet: [(72, 60, f"Fact sheet {sheet + 4}")],
        lambda sheet: [(72, 60, "Measure"), (400, 60, str(sheet + 4))],
        lambda sheet: [(72, 60, str(sheet + 4)), (120, 60, f"Rivers of {'ABCDEFGH'[sheet]}town")],
        lambda sheet: [(72, 60, f"2014/{sheet + 14}")],
        lambda sheet: [(72, 780, "Dykes"), (300, 780, str(400 + sheet)), (500, 780, str(200 + 3 * sheet))],
        lambda sheet: [(290, 780, str(sheet * 37 % 101))],
        lambda sheet: [(290, 810, "17")],
        lambda sheet: [(290, 60, f"({sheet + 4})")],
        lambda sheet: [
            at for n in range(5) for at in ((72, 700 + 16 * n, f"Dyke {n}"), (300, 700 + 16 * n, str(100 * n + sheet)))
        ],
        lambda sheet: [(60, 810, "3/2020")],
        lambda sheet: [(60, 40, f"{sheet + 6} May 2020")],
    ],
)
def test_other_numbers_name_no_page(tmp_path: Path, printed: Callable[[int], list[Margin]]) -> None:
    assert read(tmp_path / "a.pdf", [printed(sheet) for sheet in range(1, 8)]).page_labels == ()


def test_a_chapter_heading_in_large_numerals_is_no_number_of_a_page(tmp_path: Path) -> None:
    with drawing(path := tmp_path / "a.pdf") as document:
        for sheet in range(1, 7):
            page = document.new_page(width=WIDTH, height=HEIGHT)
            page.insert_text((280, 80), roman(sheet + 2).upper(), fontsize=22)
            page.insert_textbox(
                (72, 150, 520, 400), f"The town keeps its dykes in order, and dyke {sheet}.", fontsize=11
            )
    assert extract(path, LIMITS, None).page_labels == ()


def test_labels_of_the_file_are_taken(tmp_path: Path) -> None:
    rules = [
        {"startpage": 0, "style": "r"},
        {"startpage": 4, "style": "D"},
        {"startpage": 7, "style": "D", "prefix": "A-"},
    ]
    assert labels(tmp_path / "a.pdf", [""] * 9, rules) == ("i", "ii", "iii", "iv", "1", "2", "3", "A-1", "A-2")
    journal = [{"startpage": 0, "style": "D", "firstpagenum": 213}]
    assert labels(tmp_path / "b.pdf", [""] * 3, journal) == ("213", "214", "215")
    cover = [{"startpage": 0, "prefix": "Cover"}, {"startpage": 1, "style": "D"}]
    assert labels(tmp_path / "c.pdf", [""] * 4, cover) == ("", "1", "2", "3")


@pytest.mark.parametrize(
    "rules",
    [
        [{"startpage": 0, "style": "D"}],
        [{"startpage": 0, "style": "D", "prefix": "Page "}],
        [{"startpage": 0, "style": "D", "prefix": "scan_00"}],
        [{"startpage": 0, "prefix": "Cover"}],
        [{"startpage": number, "style": "D", "firstpagenum": 1} for number in range(6)],
        [{"startpage": number, "style": "D", "firstpagenum": 1 + number // 3} for number in range(6)],
        [{"startpage": 0, "style": "D", "firstpagenum": 2_000_000_000}],
        [{"startpage": 0, "style": "R", "firstpagenum": 2_000_000_000}],
    ],
)
def test_labels_that_say_nothing_are_passed_over(tmp_path: Path, rules: list[Rule]) -> None:
    assert labels(tmp_path / "a.pdf", [""] * 6, rules) == ()
    assert labels(tmp_path / "b.pdf", ["", 1, 2, 3, 4, 5], rules) == ("", "1", "2", "3", "4", "5")


def test_labels_that_the_print_contradicts_are_not_believed(tmp_path: Path) -> None:
    rules = [{"startpage": 0, "style": "D", "firstpagenum": 3}]
    assert labels(tmp_path / "a.pdf", [41, 42, 43, 44], rules) == ("41", "42", "43", "44")
