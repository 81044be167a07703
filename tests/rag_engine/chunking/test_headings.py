"""Titles are told by their type and their numbers, and each knows the titles above it."""

import pytest

from rag_engine.chunking.headings import body_size, titles
from rag_engine.types.document import BlockKind, Line
from tests.rag_engine.chunking.covering import Piece, laid_out

BODY = "The plan sets out who does what when the river rises above its banks in the lower town."


def paths(*given: tuple[str, float | None], title: str = "") -> list[tuple[str, ...]]:
    """Return the paths of headings of these sizes, each with a line of body text, in 10 points, below it."""
    pieces: list[Piece] = [(words, kind, size, 2) for heading in given for words, kind, size in _with_body(*heading)]
    text, blocks = laid_out(*pieces)
    return [one.path for one in titles(text, blocks, (), title)]


def _with_body(words: str, size: float | None) -> list[tuple[str, BlockKind, float | None]]:
    return [(words, "heading", size), (BODY, "text", 10.0 if size else None)]


def test_a_smaller_title_stands_under_the_larger_one_before_it() -> None:
    assert paths(("Floods", 16.0), ("Warning", 12.0), ("Rescue", 12.0), ("Fires", 16.0)) == [
        ("Floods",),
        ("Floods", "Warning"),
        ("Floods", "Rescue"),
        ("Fires",),
    ]


def test_in_the_same_type_the_numbering_decides() -> None:
    assert paths(("1 Floods", 12.0), ("1.1 Warning", 12.0), ("1.1.1 Sirens", 12.0), ("1.2 Rescue", 12.0)) == [
        ("1 Floods",),
        ("1 Floods", "1.1 Warning"),
        ("1 Floods", "1.1 Warning", "1.1.1 Sirens"),
        ("1 Floods", "1.2 Rescue"),
    ]


def test_letters_numbers_and_numerals_nest_in_the_order_they_come() -> None:
    found = paths(
        ("Chapter 1 Plans", None),
        ("A. Purpose", None),
        ("1. Scope", None),
        ("2. Terms", None),
        ("B. Roles", None),
        ("Chapter 2 Funds", None),
    )
    assert found[3] == ("Chapter 1 Plans", "A. Purpose", "2. Terms")
    assert found[4:] == [("Chapter 1 Plans", "B. Roles"), ("Chapter 2 Funds",)]


def test_a_label_and_the_name_on_the_next_line_are_one_title() -> None:
    text, blocks = laid_out(
        ("Chapter IV", "heading", 14.0, 3), ("Of the Senate", "heading", 14.0, 3), (BODY, "text", 10.0, 3)
    )
    assert [one.path for one in titles(text, blocks, (), "")] == [("Chapter IV",), ("Chapter IV Of the Senate",)]


def test_one_annex_in_larger_type_is_not_above_the_next() -> None:
    assert paths(("Annex I", 20.0), ("Annex II", 16.0))[1] == ("Annex II",)


def test_labels_of_a_figure_do_not_part_a_section_from_its_subsections() -> None:
    found = paths(("3 Command", 12.0), ("3.1 Staff", 12.0), ("SITUATION", 13.5), ("3.2 Means", 12.0))
    assert found[3] == ("3 Command", "3.2 Means")


def test_the_title_of_the_document_is_on_no_path() -> None:
    text, blocks = laid_out(
        ("Ministry of Water", "heading", 22.0, 1),
        ("Flood plan", "heading", 18.0, 1),
        ("Warning", "heading", 12.0, 1),
        (BODY, "text", 10.0, 1),
    )
    assert [one.path for one in titles(text, blocks, (), "Flood plan 2030")] == [
        ("Ministry of Water",),
        (),
        ("Warning",),
    ]


def test_what_follows_a_list_of_contents_does_not_stand_under_it() -> None:
    text, blocks = laid_out(
        ("Contents", "heading", 20.0, 2),
        ("Floods .............. 3", "text", 10.0, 2),
        ("Floods", "heading", 16.0, 3),
        (BODY, "text", 10.0, 3),
    )
    assert titles(text, blocks, (), "")[1].path == ("Floods",)


@pytest.mark.parametrize(
    ("words", "size"),
    [
        ("Table 3: Gauges along the river", 12.0),
        ("• Move to the upper floors", 12.0),
        ("Sex, by age", 8.0),
        ("L", 13.0),
        ("Everyone within 300 metres of the dyke leaves home as soon as the sirens sound.", 12.0),
        ("Floods ............... 12", 12.0),
    ],
)
def test_captions_items_cells_and_prose_are_no_titles(words: str, size: float) -> None:
    assert paths((words, size)) == []


def test_a_numbered_line_in_capitals_is_a_title_unless_somebody_shouts() -> None:
    text, blocks = laid_out(("II. DUTIES OF THE MAYOR", "text", 9.5, 2), (BODY, "text", 12.0, 2))
    assert [one.path for one in titles(text, blocks, (), "")] == [("II. DUTIES OF THE MAYOR",)]
    shouted = [Line(start, start + 8, 2, None) for start in (0, 8, 16)]
    assert titles(text, blocks, shouted, "") == []


def test_numbered_lines_are_titles_only_where_a_format_marks_no_headings() -> None:
    numbered: tuple[Piece, Piece] = ("II.1 Duties of the mayor", "text", None, 1), (BODY, "text", None, 1)
    text, blocks = laid_out(*numbered)
    assert [one.path for one in titles(text, blocks, (), "")] == [("II.1 Duties of the mayor",)]
    text, blocks = laid_out(*numbered, ("Annex", "heading", None, 1), (BODY, "text", None, 1))
    assert [one.path for one in titles(text, blocks, (), "")] == [("Annex",)]


def test_the_body_size_is_that_of_most_characters_not_of_most_blocks() -> None:
    _, blocks = laid_out(("Note", "text", 8.0, 1), ("See", "text", 8.0, 1), (BODY, "text", 10.1, 1))
    assert body_size(blocks) == 10.0
    assert body_size([]) == 0.0
