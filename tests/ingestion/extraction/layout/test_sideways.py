"""Tables, captions and paragraphs that are set on their side are read as if the page were turned."""

from __future__ import annotations

from pathlib import Path
from textwrap import wrap

import pymupdf
import pytest

from ingestion.extraction.extract import extract
from ingestion.file_reading import ExtractionLimits
from rag_engine.types.document import ExtractedText
from tests.ingestion.documents import drawing
from tests.present import present

ROWS = [
    ("Port", "Pumps", "Cost in euros", "Remark"),
    ("Aalen", "12", "10,000", "tried in the spring and found dry"),
    ("Bremen", "7", "25,500", "tried in autumn"),
    ("Cuxhaven", "31", "112,000", "old"),
    ("Dover", "5", "8,250", "none"),
]
WIDTHS = (90, 60, 90, 150)
CAPTION = "Table 3: Pumps of the ports, and what they cost"
PARAGRAPH = (
    "The warden of the harbour keeps the book of the pumps and shows it to everybody who asks for it. "
    "Each pump is tried in the spring, and what was found is written into the book on the same day."
)


def sideways(path: Path, turn: int, *, ruled: bool, rotation: int = 0) -> ExtractedText:
    """Draw a level line, and on its side a caption, a table and a paragraph."""

    def at(x: float, y: float) -> tuple[float, float]:
        return (y, 842 - x) if turn == 90 else (595 - y, x)

    with drawing(path) as document:
        page = document.new_page(width=595, height=842)
        page.insert_text((72, 60), "The pumps of the harbours")
        page.insert_text(at(160, 180), CAPTION, fontsize=10, rotate=turn)
        for row, cells in enumerate(ROWS):
            for column, cell in enumerate(cells):
                for line, words in enumerate(wrap(cell, 24)):
                    place = at(164 + sum(WIDTHS[:column]), 214 + 40 * row + 12 * line)
                    page.insert_text(place, words, fontsize=10, rotate=turn)
        for line, words in enumerate(wrap(PARAGRAPH, 80)):
            page.insert_text(at(160, 440 + 14 * line), words, fontsize=10, rotate=turn)
        if ruled:
            for row in range(len(ROWS) + 1):
                page.draw_line(at(160, 200 + 40 * row), at(160 + sum(WIDTHS), 200 + 40 * row))
            for column in range(len(WIDTHS) + 1):
                x = 160 + sum(WIDTHS[:column])
                page.draw_line(at(x, 200), at(x, 200 + 40 * len(ROWS)))
        page.set_rotation(rotation)
    return extract(path, ExtractionLimits(), None)


@pytest.mark.parametrize("rotation", [0, 90, 180, 270])
@pytest.mark.parametrize("ruled", [True, False])
@pytest.mark.parametrize("turn", [90, 270])
def test_a_table_on_its_side_has_its_rows_and_columns(tmp_path: Path, turn: int, ruled: bool, rotation: int) -> None:
    extracted = sideways(tmp_path / "a.pdf", turn, ruled=ruled, rotation=rotation)
    [table] = [block for block in extracted.blocks if block.kind == "table"]
    assert table.rows == tuple(ROWS)
    assert f"{CAPTION}\n\nPort | Pumps | Cost in euros | Remark\n\nPort: Aalen; Pumps: 12;" in extracted.text
    assert extracted.text.endswith(PARAGRAPH)


def test_the_words_of_a_table_on_its_side_are_where_their_boxes_say(tmp_path: Path) -> None:
    extracted = sideways(tmp_path / "a.pdf", 90, ruled=True)
    lines = {extracted.text[line.start : line.end]: present(line.box) for line in extracted.lines}
    box = lines["Port: Bremen; Pumps: 7; Cost in euros: 25,500; Remark: tried in autumn"]
    with pymupdf.open(tmp_path / "a.pdf") as document:
        words = document[0].get_text("text", clip=pymupdf.Rect(box.x0 - 1, box.y0 - 1, box.x1 + 1, box.y1 + 1))
    assert words.split() == ["Bremen", "7", "25,500", "tried", "in", "autumn"]


def test_names_of_columns_on_their_side_stay_in_their_level_table(tmp_path: Path) -> None:
    with drawing(path := tmp_path / "a.pdf") as document:
        page = document.new_page()
        for column, name in enumerate(("Floods", "Fires", "Storms")):
            page.insert_text((200 + 60 * column, 190), name, fontsize=10, rotate=90)
        for row, cells in enumerate((("North", "12", "3", "8"), ("South", "4", "9", "1"))):
            for column, cell in enumerate(cells):
                page.insert_text((120 + 60 * column + 5 * (column > 0), 215 + 20 * row), cell, fontsize=10)
        for y in (140, 200, 220, 240):
            page.draw_line((110, y), (350, y))
        for x in (110, 170, 230, 290, 350):
            page.draw_line((x, 140), (x, 240))
    extracted = extract(path, ExtractionLimits(), None)
    assert [block.rows for block in extracted.blocks] == [
        (("", "Floods", "Fires", "Storms"), ("North", "12", "3", "8"), ("South", "4", "9", "1"))
    ]


def test_a_running_head_on_the_side_of_pages_goes(tmp_path: Path) -> None:
    with drawing(path := tmp_path / "a.pdf") as document:
        for number in range(4):
            page = document.new_page()
            page.insert_text((30, 500), "Bulletin of the harbour", rotate=90)
            page.insert_textbox((72, 120, 500, 400), f"Rule {7 * number * number}. {PARAGRAPH}")
    assert "Bulletin" not in extract(path, ExtractionLimits(), None).text
