"""Each row of a delimited text is a sentence under the names of its columns."""

from __future__ import annotations

from pathlib import Path

import pytest

from ingestion.extraction.extract import extract
from ingestion.file_reading import ExtractionLimits
from ingestion.sandbox.sandbox import Sandbox
from rag_engine.types.document import ExtractedText

ROWS = [("Municipality", "Budget", "Year"), ("Brackwater", "410", "2024"), ("Kelm", "190", "2025")]


def read(path: Path, text: str | bytes, limits: ExtractionLimits | None = None) -> ExtractedText:
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return extract(path, limits or ExtractionLimits(), None)


@pytest.mark.parametrize(
    ("delimiter", "suffix"), [(",", "csv"), (";", "csv"), ("\t", "tsv"), ("|", "csv"), ("\t", "tab")]
)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_rows_have_the_names_of_their_columns(tmp_path: Path, delimiter: str, suffix: str, end: str) -> None:
    extracted = read(tmp_path / f"a.{suffix}", end.join(delimiter.join(row) for row in ROWS) + end)
    assert extracted.text.split("\n\n")[-1] == "Municipality: Kelm; Budget: 190; Year: 2025"
    assert (extracted.media_type, extracted.blocks[0].rows[1]) == ("text/csv", ("Brackwater", "410", "2024"))


def test_quoted_cells_keep_delimiters_lines_and_quotation_marks(tmp_path: Path) -> None:
    text = 'Town;Note;Year\n"Kelm; north";"the ""old"" dyke\nand pumps";2025\n'
    assert 'Town: Kelm; north; Note: the "old" dyke and pumps; Year: 2025' in read(tmp_path / "a.csv", text).text


def test_a_quotation_mark_that_begins_no_cell_swallows_no_rows(tmp_path: Path) -> None:
    rows = "".join(f"Town {number};{number}\n" for number in range(500))
    text = read(tmp_path / "a.csv", f'Town;Places\n"Kelm;3\n{rows}').text
    assert "Town: Town 499; Places: 499" in text.split("\n\n")


def test_a_table_of_words_has_names_and_pairs_have_none(tmp_path: Path) -> None:
    words = read(tmp_path / "a.csv", "Name,Role,Town\nAnna,Mayor,Kelm\nBen,Clerk,Tarn\n").text
    assert "Name: Ben; Role: Clerk; Town: Tarn" in words
    assert "Ministry: Interior" in read(tmp_path / "b.csv", "Ministry,Interior\nMinister,Jo Lind\n").text


def test_tables_below_each_other_keep_their_names_and_notes_are_no_rows(tmp_path: Path) -> None:
    text = "\n".join(map(",".join, ROWS)) + "\n\nHazard,Wardens,Sirens\nLandslide,9,14\nFlood,31,12\n\nSource: office\n"
    lines = read(tmp_path / "a.csv", text).text.split("\n\n")
    assert "Hazard: Landslide; Wardens: 9; Sirens: 14" in lines
    assert lines[-1] == "Source: office"


def test_the_first_line_of_excel_that_names_the_delimiter_is_no_row(tmp_path: Path) -> None:
    text = read(tmp_path / "a.csv", "sep=;\nTown;Cost, in euros;Year\nKelm;1,5;2024\n").text
    assert text.split("\n\n") == ["Town | Cost, in euros | Year", "Town: Kelm; Cost, in euros: 1,5; Year: 2024"]


def test_prose_in_a_table_of_values_by_name_is_read_as_prose(tmp_path: Path) -> None:
    prose = "Owners inspect dykes every two years.\n\nThe board, which meets in May, keeps a list."
    assert read(tmp_path / "a.csv", prose).text == prose


def test_a_table_in_another_encoding_is_read_with_a_word_on_the_guess(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes("Gmina;Budżet;Rok\nŁódź;12;2024\n".encode("cp1250"))
    with Sandbox(ocr="none") as sandbox:
        extracted = sandbox.read(tmp_path / "a.csv").extracted
    assert "Gmina: Łódź; Budżet: 12; Rok: 2024" in extracted.text
    assert ["Windows-1250" in str(warning) for warning in extracted.warnings] == [True]


def test_of_a_table_too_long_the_first_rows_are_read_and_it_says_so(tmp_path: Path) -> None:
    text = "Town;Places\n" + "".join(f"Town {number};{number}\n" for number in range(1_000))
    extracted = read(tmp_path / "a.csv", text, ExtractionLimits(max_characters=3_000))
    assert "Town: Town 9; Places: 9" in extracted.text
    assert "as far as row" in str(extracted.warnings[0])
