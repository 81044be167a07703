"""Words across a page are no text of it, and are named; letters set apart are words."""

from pathlib import Path

import pymupdf
import pytest

from ingestion.extraction.extract import extract
from ingestion.extraction.layout.letter_spacing import with_joined_letters
from ingestion.file_reading import ExtractionLimits

LINES = [f"Rule {number}: the warden of the harbour keeps the book of the pumps." for number in range(20)]


def drawn(path: Path, stamp: str, *, slanted: bool, pages: int = 2) -> Path:
    with pymupdf.open() as document:
        for _ in range(pages):
            page = document.new_page()
            turn = pymupdf.Matrix(45) if slanted else pymupdf.Matrix(0)
            point = pymupdf.Point(120, 300)
            page.insert_text(point, stamp, fontsize=60, color=(0.85,) * 3, morph=(point, turn))
            for number, line in enumerate(LINES):
                page.insert_text((72, 100 + 18 * number), line, fontsize=11)
        document.save(path)
    return path


@pytest.mark.parametrize("slanted", [True, False])
def test_a_stamp_across_pages_is_out_of_the_text_and_named(tmp_path: Path, slanted: bool) -> None:
    extracted = extract(drawn(tmp_path / "a.pdf", "ENTWURF", slanted=slanted), ExtractionLimits(), None)
    assert "ENTWURF" not in extracted.text
    assert " ".join(extracted.text.split()) == " ".join([*LINES, *LINES])
    assert [str(one) for one in extracted.warnings] == ["Words across its pages, left out of the text: ENTWURF."]


def test_a_title_in_large_letters_stays(tmp_path: Path) -> None:
    with pymupdf.open() as document:
        page = document.new_page()
        page.insert_text((72, 90), "Harbour plan", fontsize=40)
        page.insert_textbox((72, 120, 500, 400), " ".join(LINES), fontsize=11)
        document.save(tmp_path / "a.pdf")
    extracted = extract(tmp_path / "a.pdf", ExtractionLimits(), None)
    assert extracted.text.startswith("Harbour plan")
    assert extracted.warnings == ()


@pytest.mark.parametrize(
    ("printed", "words"),
    [
        ("D U T I E S   O F   O W N E R S", "DUTIES OF OWNERS"),
        ("water taken u n l a w f u l l y costs ninety crowns", "water taken unlawfully costs ninety crowns"),
        ("Annexes A B C D E", "Annexes A B C D E"),
        ("rows 1 2 3 4 5", "rows 1 2 3 4 5"),
    ],
)
def test_letters_set_apart_are_words(printed: str, words: str) -> None:
    assert with_joined_letters(printed) == words


def test_the_gaps_between_spaced_words_of_a_pdf_are_wider_than_those_in_them(corpus: Path) -> None:
    text = extract(corpus / "de_grundgesetz.pdf", ExtractionLimits(), None).text
    assert "Im Bewußtsein seiner Verantwortung vor Gott und den Menschen, von dem Willen beseelt," in text
