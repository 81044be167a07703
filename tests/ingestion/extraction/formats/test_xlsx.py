from __future__ import annotations

import zipfile
from pathlib import Path

import openpyxl

from ingestion.extraction.extract import extract
from ingestion.file_reading import ExtractionLimits


def test_cells_outside_the_range_that_a_sheet_declares_are_read(tmp_path: Path) -> None:
    workbook = openpyxl.Workbook()
    workbook.worksheets[0].append(["River", "Level"])
    workbook.worksheets[0].append(["Po", 12])
    workbook.save(tmp_path / "right.xlsx")
    with (
        zipfile.ZipFile(tmp_path / "right.xlsx") as right,
        zipfile.ZipFile(tmp_path / "wrong.xlsx", "w") as wrong,
    ):
        for name in right.namelist():
            wrong.writestr(name, right.read(name).replace(b'<dimension ref="A1:B2"', b'<dimension ref="A1"'))
    text = extract(tmp_path / "wrong.xlsx", ExtractionLimits(), None).text
    assert text == "Sheet\n\nRiver | Level\n\nRiver: Po; Level: 12"


def test_a_form_of_styled_empty_cells_keeps_every_word(corpus: Path) -> None:
    path = corpus / "en_cpr_adaptation_terms.xlsx"
    text = extract(path, ExtractionLimits(), None).text
    workbook = openpyxl.load_workbook(path, data_only=True)
    cells = [
        cell
        for sheet in workbook.worksheets
        for row in sheet.iter_rows(values_only=True)
        for cell in row
        if isinstance(cell, str) and cell.strip()
    ]
    assert len(cells) > 40
    assert [cell for cell in cells if " ".join(cell.split()) not in text] == []
