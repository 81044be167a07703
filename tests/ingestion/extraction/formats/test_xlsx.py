from __future__ import annotations

import datetime
import zipfile
from pathlib import Path

import openpyxl
import pytest
from openpyxl.chart import BarChart, Reference
from openpyxl.comments import Comment
from openpyxl.utils.datetime import CALENDAR_MAC_1904

from ingestion.extraction.extract import extract
from ingestion.file_reading import ExtractionLimits
from tests.ingestion.extraction.formats.test_legacy_office import program


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


def test_cells_are_read_as_they_are_shown(tmp_path: Path) -> None:
    workbook = openpyxl.Workbook()
    sheet = workbook.worksheets[0]
    sheet.append(["Item", "Share", "Amount", "Code", "Text", "Built", "Secret", "Time"])
    sheet.append(["Dyke", 0.653, 1234567.5, 42, "007", -18917, 5, datetime.timedelta(hours=30)])
    formats = {"B": "0%", "C": "#,##0.00 [$€-407]", "D": "00000", "F": "dd.mm.yyyy", "G": ";;;", "H": "[h]:mm"}
    for column, code in formats.items():
        sheet[f"{column}2"].number_format = code
    workbook.save(tmp_path / "a.xlsx")
    extracted = extract(tmp_path / "a.xlsx", ExtractionLimits(), None)
    assert extracted.text.endswith(
        "Item: Dyke; Share: 65%; Amount: 1,234,567.50 €; Code: 00042; Text: 007; Built: 15.03.1848; Time: 30:00"
    )
    assert [str(warning).startswith("Hidden words") for warning in extracted.warnings] == [True]


def test_dates_of_a_workbook_that_counts_from_1904_are_its_own(tmp_path: Path) -> None:
    workbook = openpyxl.Workbook()
    workbook.epoch = CALENDAR_MAC_1904
    workbook.worksheets[0].append(["Day", datetime.datetime(2026, 3, 1)])
    workbook.worksheets[0]["B1"].number_format = "d.m.yyyy"
    workbook.save(tmp_path / "a.xlsx")
    assert extract(tmp_path / "a.xlsx", ExtractionLimits(), None).text.endswith("Day | 1.3.2026")


def budget(path: Path, *sums: object) -> Path:
    workbook = openpyxl.Workbook()
    sheet = workbook.worksheets[0]
    for row in (
        ["Measure", "Cost"],
        ["Dyke", 42],
        ["Pumps", 13],
        ["Total", sums[0]],
        ["Day", sums[1]],
        ["Law", sums[2]],
    ):
        sheet.append(row)
    workbook.save(path)
    return path


def test_formulas_without_a_value_are_computed_by_libreoffice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    prepared = budget(tmp_path / "prepared.xlsx", 55, 46082, "#NAME?")
    program(tmp_path, monkeypatch, f'cp "{prepared}" "$made"')
    path = budget(tmp_path / "a.xlsx", "=SUM(B2:B3)", "=DATE(2026,3,1)", "=NOSUCH(1)")
    extracted = extract(path, ExtractionLimits(), None)
    assert extracted.text.endswith("Measure: Total; Cost: 55\n\nMeasure: Day; Cost: 2026-03-01\n\nMeasure: Law")
    computed, missing = map(str, extracted.warnings)
    assert computed == "Formulas without a saved value, computed by LibreOffice: 2."
    assert missing.startswith("Formulas without a saved value, whose cells are missing: 1.")


def test_formulas_without_a_value_are_counted_where_nothing_computes_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    path = budget(tmp_path / "a.xlsx", "=SUM(B2:B3)", "=DATE(2026,3,1)", 3)
    extracted = extract(path, ExtractionLimits(), None)
    assert "Measure: Pumps; Cost: 13" in extracted.text
    assert [": 2. Open the file" in str(warning) for warning in extracted.warnings] == [True]


@pytest.mark.parametrize("value", ["<v>55</v>", '<v></v>" t="str'])
def test_a_saved_value_of_a_formula_is_kept_and_nothing_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, value: str
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    path, kind = budget(tmp_path / "plain.xlsx", "=SUM(B2:B3)", 1, 2), value.partition('" ')[2]
    with zipfile.ZipFile(path) as plain, zipfile.ZipFile(tmp_path / "a.xlsx", "w") as saved:
        for name in plain.namelist():
            part = plain.read(name).decode().replace("</f><v></v>", f"</f>{value.partition(chr(34))[0]}")
            saved.writestr(name, part.replace('<c r="B4"', f'<c r="B4" {kind}"' if kind else '<c r="B4"'))
    extracted = extract(tmp_path / "a.xlsx", ExtractionLimits(), None)
    assert ("Total; Cost: 55" in extracted.text, extracted.warnings) == (not kind, ())


def test_formulas_that_libreoffice_computes_in_opendocument_are_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepared = budget(tmp_path / "prepared.xlsx", 55, 1, 2)
    program(tmp_path, monkeypatch, f'cp "{prepared}" "$made"')
    cell = '<table:table-cell table:formula="of:=SUM([.B2:.B3])"{}/>'
    with zipfile.ZipFile(tmp_path / "a.ods", "w") as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        archive.writestr("content.xml", cell.format("") + cell.format(' office:value-type="float" office:value="1"'))
    extracted = extract(tmp_path / "a.ods", ExtractionLimits(), None)
    assert "Measure: Total; Cost: 55" in extracted.text
    assert extracted.warnings == ("Formulas without a saved value, computed by LibreOffice: 1.",)


def patched(path: Path, part: str, old: str, new: str) -> Path:
    """Return a copy of a workbook with other words in one of its parts."""
    copy = path.with_name(f"patched {path.name}")
    with zipfile.ZipFile(path) as archive, zipfile.ZipFile(copy, "w") as made:
        for name in archive.namelist():
            content = archive.read(name)
            assert name != part or old.encode() in content
            made.writestr(name, content.replace(old.encode(), new.encode()) if name == part else content)
    return copy


def test_comments_of_cells_and_places_of_no_size_are_counted(tmp_path: Path) -> None:
    workbook = openpyxl.Workbook()
    sheet = workbook.worksheets[0]
    for row in (["Town", "Fee"], ["Hollin", 40], ["Kelm_x000D_\nNorth", 50]):
        sheet.append(row)
    sheet["B2"].comment = Comment("Provisional", "A")
    workbook.save(tmp_path / "a.xlsx")
    path = patched(tmp_path / "a.xlsx", "xl/worksheets/sheet1.xml", '<row r="2"', '<row r="2" ht="0" customHeight="1"')
    extracted = extract(path, ExtractionLimits(), None)
    assert extracted.text == "Sheet\n\nTown | Fee\n\nTown: Kelm North; Fee: 50"
    assert [str(one) for one in extracted.warnings] == [
        "Comments, left out because they are not part of the text: 1.",
        "Hidden words, left out because no page shows them: 2.",
    ]


def test_text_boxes_and_titles_of_charts_on_a_sheet_are_read(tmp_path: Path) -> None:
    workbook = openpyxl.Workbook()
    sheet = workbook.worksheets[0]
    for row in (["Year", "Floods"], [2020, 3], [2021, 5]):
        sheet.append(row)
    chart = BarChart()
    chart.title = "Floods by year"
    chart.add_data(Reference(sheet, min_col=2, min_row=1, max_row=3), titles_from_data=True)
    sheet.add_chart(chart, "D2")
    workbook.save(tmp_path / "a.xlsx")
    a = 'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"'
    box = f"<sp><txBody><a:p {a}><a:r><a:t>2021 is provisional.</a:t></a:r></a:p></txBody></sp></wsDr>"
    path = patched(tmp_path / "a.xlsx", "xl/drawings/drawing1.xml", "</wsDr>", box)
    text = extract(path, ExtractionLimits(), None).text
    assert text.endswith("Year: 2021; Floods: 5\n\n2021 is provisional.\n\nFloods by year")
