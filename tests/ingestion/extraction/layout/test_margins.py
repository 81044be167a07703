"""Numbers of lines are no text; numbers and notes in the margin stand before their paragraph."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count, islice
from pathlib import Path
from textwrap import wrap

import pymupdf
import pytest

from ingestion.extraction.extract import extract
from ingestion.file_reading import ExtractionLimits
from tests.ingestion.documents import ReadingOcr, drawing

SENTENCES = (
    "The warden of the harbour keeps the book of the pumps and shows it to everybody who asks for it.",
    "Each pump is tried in the spring, and what was found is written into the book on the same day.",
    "When the water stands above the second mark, the ferries sail to the outer mole and wait there.",
    "The brigade brings sandbags to the low streets and asks all inhabitants to leave their cellars.",
)
PARAGRAPHS = 4


def paragraphs() -> Iterator[str]:
    for first in count():
        yield " ".join(SENTENCES[(first + more) % 4] for more in range(3))


Marked = Callable[[pymupdf.Page, float, int, int], None]


def printed(path: Path, mark: Marked, pages: int = 2, width: int = 80, left: float = 72) -> list[str]:
    """Print paragraphs; a mark gets page, height, number on the page and in the paragraph of each line."""
    texts = list(islice(paragraphs(), PARAGRAPHS * pages))
    with drawing(path) as document:
        for number in range(pages):
            page, height, line = document.new_page(), 120.0, 0
            for text in texts[PARAGRAPHS * number : PARAGRAPHS * (number + 1)]:
                for place, words in enumerate(wrap(text, width)):
                    line += 1
                    mark(page, height, line, place)
                    page.insert_text((left, height), words, fontsize=11, fontname="tiro")
                    height += 15
                height += 8
    return texts


def read(path: Path) -> list[str]:
    extracted = extract(path, ExtractionLimits(), None)
    return [extracted.text[block.start : block.end] for block in extracted.blocks]


@pytest.mark.parametrize(("at", "step"), [(45, 1), (45, 5), (540, 1), (540, 5), (52, 1), (540, 10)])
def test_the_numbers_of_lines_are_no_text(tmp_path: Path, at: float, step: int) -> None:
    def mark(page: pymupdf.Page, height: float, line: int, _place: int) -> None:
        if line % step == 0:
            page.insert_text((at, height), str(line), fontsize=8)

    texts = printed(tmp_path / "a.pdf", mark, pages=3)
    assert read(tmp_path / "a.pdf") == texts


def test_numbers_of_lines_that_go_on_from_page_to_page_and_stand_last_on_each_are_no_text(tmp_path: Path) -> None:
    numbers, last = count(1), []

    def mark(page: pymupdf.Page, height: float, _line: int, _place: int) -> None:
        last.append((page.number, height, next(numbers)))

    texts = printed(tmp_path / "a.pdf", mark)
    with pymupdf.open(tmp_path / "a.pdf") as document:
        for page, height, number in last:
            document[page].insert_text((45, height), str(number), fontsize=8)
        document.save(tmp_path / "b.pdf")
    assert read(tmp_path / "b.pdf") == texts


def test_the_numbers_of_pleading_paper_stand_beside_empty_lines_too(tmp_path: Path) -> None:
    text = next(paragraphs())
    with drawing(path := tmp_path / "a.pdf") as document:
        for _ in range(2):
            page = document.new_page()
            for number in range(28):
                page.insert_text((50, 80 + 24 * number), str(number + 1), fontsize=12)
            for place, words in enumerate(wrap(text, 70)):
                page.insert_text((80, 128 + 24 * place), words, fontsize=12, fontname="tiro")
            page.draw_line((74, 20), (74, 820))
    assert read(path) == [text, text]


@pytest.mark.parametrize("step", [1, 5])
@pytest.mark.parametrize("right", [True, False])
def test_numbers_that_are_part_of_their_line_are_no_text(tmp_path: Path, step: int, right: bool) -> None:
    text = " ".join(islice(paragraphs(), 3))
    with drawing(path := tmp_path / "a.pdf") as document:
        for _ in range(2):
            page = document.new_page()
            for line, words in enumerate(wrap(text, 60), 1):
                number = "" if line % step else line
                shown = f"{words:<64}{number:>4}" if right else f"{number:>3}      {words}"
                page.insert_text((50, 120 + 18 * line), shown, fontsize=10, fontname="cour")
    assert " ".join(read(path)) == f"{text} {text}"


def test_numbers_between_two_columns_are_no_text(tmp_path: Path) -> None:
    text = " ".join(islice(paragraphs(), 4))
    lines = wrap(text, 42)
    half = len(lines) // 2
    with drawing(path := tmp_path / "a.pdf") as document:
        for _ in range(2):
            page = document.new_page()
            for line, words in enumerate(lines):
                column, row = divmod(line, half)
                if column < 2:
                    page.insert_text((50 + 260 * column, 120 + 12 * row), words, fontsize=9.5, fontname="tiro")
            for row in range(4, half, 5):
                page.insert_text((290, 120 + 12 * row), str(row + 1), fontsize=9)
    assert not any(character.isdigit() for character in "".join(read(path)))


def test_a_title_page_and_a_short_last_page_have_numbers_of_lines_too(tmp_path: Path) -> None:
    def mark(page: pymupdf.Page, height: float, line: int, _place: int) -> None:
        page.insert_text((45, height), str(line), fontsize=8)

    texts = printed(tmp_path / "a.pdf", mark)
    with pymupdf.open(tmp_path / "a.pdf") as document:
        for number, words in ((0, "Minutes of the harbour"), (-1, "It ended at noon.")):
            page = document.new_page(number)
            page.insert_text((45, 200), "1", fontsize=8)
            page.insert_text((72, 200), words, fontsize=14 if number == 0 else 11)
        document.save(tmp_path / "b.pdf")
    assert read(tmp_path / "b.pdf") == ["Minutes of the harbour", *texts, "It ended at noon."]


def test_numbers_of_lines_that_ocr_reads_are_no_text(tmp_path: Path) -> None:
    lines = wrap(" ".join(islice(paragraphs(), 3)), 60)
    ocr = ReadingOcr(*(f"{number} {words}" for number, words in enumerate(lines, 1)))
    blank = pymupdf.Pixmap(pymupdf.csGRAY, pymupdf.IRect(0, 0, 50, 50), False)
    with drawing(path := tmp_path / "a.pdf") as document:
        document.new_page(width=400, height=800).insert_image((0, 0, 400, 800), pixmap=blank)
    extracted = extract(path, ExtractionLimits(), ocr)
    assert " ".join(extracted.text.split()) == " ".join(lines)


@pytest.mark.parametrize("form", ["{}", "[{}]", "Rn. {}"])
@pytest.mark.parametrize("at", [30, 520])
@pytest.mark.parametrize("beside", [0, 1])
def test_the_number_of_a_paragraph_stands_at_its_beginning(tmp_path: Path, form: str, at: float, beside: int) -> None:
    numbers, shown = count(117), []

    def mark(page: pymupdf.Page, height: float, _line: int, place: int) -> None:
        if place == beside:
            shown.append(form.format(next(numbers)))
            page.insert_text((at, height), shown[-1], fontsize=8)

    texts = printed(tmp_path / "a.pdf", mark, pages=3)
    assert read(tmp_path / "a.pdf") == [f"{number} {text}" for number, text in zip(shown, texts, strict=True)]


def test_numbers_of_paragraphs_in_the_outer_margins_count_on_from_page_to_page(tmp_path: Path) -> None:
    numbers = count(1)

    def mark(page: pymupdf.Page, height: float, _line: int, place: int) -> None:
        if place == 0:
            page.insert_text((45 if page.number % 2 else 540, height), str(next(numbers)), fontsize=9, fontname="tibo")

    texts = printed(tmp_path / "a.pdf", mark, pages=4)
    assert read(tmp_path / "a.pdf") == [f"{number} {text}" for number, text in enumerate(texts, 1)]


@pytest.mark.parametrize(("at", "left"), [(60, 150), (460, 72)])
@pytest.mark.parametrize(("size", "beside"), [(7.5, 0), (7.5, 1), (11, 0)])
def test_a_note_in_the_margin_comes_before_the_paragraph_beside_it(
    tmp_path: Path, at: float, left: float, size: float, beside: int
) -> None:
    titles = ["Short title and commencement.", "Penalties.", "Duty of the harbour master. 1978 c. 30.", "Repeals."]
    waiting = iter(titles * 2)

    def mark(page: pymupdf.Page, height: float, _line: int, place: int) -> None:
        if place == beside:
            for row, words in enumerate(wrap(next(waiting), 18)):
                page.insert_text((at, height + 12 * row), words, fontsize=size, fontname="tiro")

    texts = printed(tmp_path / "a.pdf", mark, width=64, left=left)
    assert read(tmp_path / "a.pdf") == [
        block for title, text in zip(titles * 2, texts, strict=True) for block in (title, text)
    ]


def test_a_note_beside_the_rest_of_a_paragraph_does_not_cut_it_at_the_page_end(tmp_path: Path) -> None:
    lines = wrap(" ".join(islice(paragraphs(), 2)), 64)
    with drawing(path := tmp_path / "a.pdf") as document:
        for part in (lines[:4], lines[4:]):
            page = document.new_page()
            if part[0] != lines[0]:
                page.insert_text((460, 120), "Repeals.", fontsize=7.5)
            for row, words in enumerate(part):
                page.insert_text((72, 120 + 15 * row), words, fontsize=11, fontname="tiro")
    text = extract(path, ExtractionLimits(), None).text
    assert f"{lines[3]} {lines[4]}" in " ".join(text.split())
    assert "Repeals." in text


def test_the_first_column_of_a_table_and_the_numbers_of_a_list_stay(tmp_path: Path) -> None:
    cities = ["paris", "rome", "oslo", "bern", "vienna", "riga", "athens", "dublin"]
    with drawing(path := tmp_path / "a.pdf") as document:
        page = document.new_page()
        for row, city in enumerate(cities):
            for at, words in ((72, str(row + 1)), (120, city), (300, f"{200 + row},000")):
                page.insert_text((at, 100 + 16 * row), words, fontsize=11)
        for row, city in enumerate(cities):
            page.insert_text((72, 300 + 16 * row), f"{row + 1} go to {city}", fontsize=11)
    blocks = read(path)
    assert blocks[0].split("\n\n") == [f"{row} | {city} | {199 + row},000" for row, city in enumerate(cities, 1)]
    assert all(f"{row} go to {city}" in " ".join(blocks[1:]) for row, city in enumerate(cities, 1))


@pytest.mark.parametrize("numbers", [[1848, 1861, 1871, 1914], ["1.", "2.", "3.", "4."]])
def test_years_in_a_margin_and_numbers_of_items_stay_before_their_text(tmp_path: Path, numbers: list[object]) -> None:
    waiting = iter(numbers)

    def mark(page: pymupdf.Page, height: float, _line: int, place: int) -> None:
        if place == 0:
            page.insert_text((45, height), str(next(waiting)), fontsize=9)

    texts = printed(tmp_path / "a.pdf", mark, pages=1)
    assert read(tmp_path / "a.pdf") == [f"{number} {text}" for number, text in zip(numbers, texts, strict=True)]


def test_numbered_paragraphs_of_a_law_keep_their_numbers(tmp_path: Path) -> None:
    texts = [f"{number} {text}" for number, text in enumerate(islice(paragraphs(), 5), 1)]
    with drawing(path := tmp_path / "a.pdf") as document:
        page, height = document.new_page(), 120
        for text in texts:
            for words in wrap(text, 80):
                page.insert_text((72, height), words, fontsize=11, fontname="tiro")
                height += 15
    assert read(path) == texts
