"""A passage is found where it stands in the layout, however often its words do, and the whole of it."""

import time

import pytest

from rag_engine.backends.drawing.passage_finder import SoughtPassage, compact, find_passage, found_share, join_lines

CONTENTS = ["Contents", "A. Purpose ........ 1", "B. Surety bonds ........ 2", "C. Claims ........ 3"]
PURPOSE = ["A.", "Purpose", "The handbook tells what a trustee does in the first month of a case."]
BONDS = ["B.", "Surety bonds", "Every trustee gives a bond, whose amount the council sets in spring", "each year."]
CLAIMS = ["C.", "Claims", "Whoever is owed something files a claim within ninety days."]
LAYOUT = [*CONTENTS, *PURPOSE, *BONDS, *CLAIMS]
# The printed contents are left out when a file is read.
TEXT = "A. Purpose\n\n" + PURPOSE[2] + "\n\nB. Surety bonds\n\n" + " ".join(BONDS[2:]) + "\n\nC. Claims\n\n" + CLAIMS[2]


def found_lines(text: str, words: str, lines: list[str], *, number: int = 0, **told: str) -> list[str]:
    """Return the pieces of the layout that are found for an occurrence of words in a text."""
    start = -1
    for _ in range(number + 1):
        start = text.index(words, start + 1)
    end = start + len(words)
    sought = SoughtPassage(words, text[:start], text[end:], start / len(text), is_whole=True, **told)  # type: ignore[arg-type]
    layout = join_lines(lines)
    return [layout.text[one:other] for one, other in find_passage(sought, layout)]


def place(text: str, words: str, lines: list[str], number: int = 0) -> int:
    """Return the line of the layout in which an occurrence of words begins."""
    start = -1
    for _ in range(number + 1):
        start = text.index(words, start + 1)
    end = start + len(words)
    layout = join_lines(lines)
    [(begun, _), *_] = find_passage(SoughtPassage(words, text[:start], text[end:], start / len(text)), layout)
    return max(line for line, offset in enumerate(layout.lines[:-1]) if offset <= begun)


@pytest.mark.parametrize(
    ("words", "sheet", "lines", "share"),
    [
        (BONDS[2] + " " + BONDS[3], "", LAYOUT, 1.0),
        # The second half is left out of the layout.
        ("the amount of the bond is told in spring by the council", "", ["the amount of the bond is told in"], 0.6),
        ("nothing of this is there", "", LAYOUT, 0.0),
        # A sheet is printed without the names of the columns at each row.
        ("River: Danube; Length: 2850", "Rivers", ["River", "Length", "Danube", "2850"], 1.0),
    ],
)
def test_how_much_of_a_passage_was_found_is_told(words: str, sheet: str, lines: list[str], share: float) -> None:
    sought = SoughtPassage(words, "", "", sheet=sheet, is_whole=True)
    assert found_share(sought, find_passage(sought, join_lines(lines))) == pytest.approx(share, abs=0.05)


@pytest.mark.parametrize("heading", ["A. Purpose", "B. Surety bonds", "C. Claims"])
def test_a_heading_is_found_at_its_section_and_not_in_the_printed_contents(heading: str) -> None:
    assert LAYOUT[place(TEXT, heading, LAYOUT)] == heading[:2]


def test_words_that_stand_in_many_places_are_found_at_the_one_that_is_meant() -> None:
    paragraphs = [f"Rule {number} of the council is on conflicts of interest in district {number}." for number in "369"]
    text = "\n\n".join(paragraphs)
    lines = ["Conflicts of interest ... 1", *(line for one in paragraphs for line in ("Council handbook", one))]
    for number, paragraph in enumerate(paragraphs):
        assert lines[place(text, "conflicts of interest", lines, number)] == paragraph


def test_of_a_text_that_a_file_holds_twice_the_copy_that_is_meant_is_found() -> None:
    copy = "\n\n".join(f"Article {number}. The council of district {number} meets in public." for number in range(400))
    lines = copy.split("\n\n")
    # In the first copy a page ends in the middle of the words, so that only the second has them as a whole.
    words = lines[200]
    first = [
        *lines[:200],
        "Article 200. The council of",
        "Handbook, page 7",
        "district 200 meets in public.",
        *lines[201:],
    ]
    assert place(f"{copy}\n\n{copy}", words, [*first, *lines]) == 200
    assert place(f"{copy}\n\n{copy}", words, [*first, *lines], 1) == len(first) + 200


def test_a_quotation_is_found_to_its_end_across_a_page() -> None:
    quoted = " ".join(BONDS[2:])
    lines = [*LAYOUT[:9], BONDS[2], "2-4", "Handbook for trustees, edition of spring", BONDS[3], *CLAIMS]
    assert found_lines(TEXT, quoted, lines) == [compact(BONDS[2]), compact(BONDS[3])]


def test_a_row_is_found_by_its_cells_without_the_names_of_its_columns() -> None:
    text = "\n\n".join(f"Hazard: Flood; Place: {town}; Level: 3" for town in ("Bern", "Basel", "Chur"))
    lines = ["Hazard", "Place", "Flood", "Bern", "Flood", "Basel", "Flood", "Chur", "Level", "3", "3", "3"]
    row = "Hazard: Flood; Place: Basel"
    assert found_lines(text, row, lines, sheet="Input") == ["floodbasel"]


def test_words_that_the_layout_lacks_are_nowhere() -> None:
    assert found_lines("Nobody knows.", "Nobody knows.", LAYOUT) == []
    assert found_lines("§ 5", "§", LAYOUT) == []


def test_a_hostile_layout_is_searched_in_time_that_grows_with_its_length() -> None:
    passage = "aaaa b: " * 2_000

    def seconds(lines: int) -> float:
        layout = join_lines(["a" * 1_000] * lines)
        begun = time.process_time()
        find_passage(SoughtPassage(passage, "a" * 20_000, "a" * 20_000, is_whole=True, sheet="a"), layout)
        return time.process_time() - begun

    seconds(50)
    assert seconds(800) < 30 * max(seconds(50), 0.02)
