from __future__ import annotations

import datetime
import zipfile
from pathlib import Path

import openpyxl
import pytest

from ingestion.spreadsheets.list_rows import read_workbook, unescape
from ingestion.spreadsheets.workbook_writer import Cell, Sheet, to_workbook
from ingestion.types.outcome import Refusal


def _saved(path: Path, workbook: openpyxl.Workbook) -> Path:
    workbook.save(path)
    return path


def _with_part(path: Path, name: str, body: bytes) -> Path:
    """Return the workbook with one of its parts replaced."""
    made = path.with_name("made.xlsx")
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as new:
        for entry in old.namelist():
            new.writestr(entry, body if entry == name else old.read(entry))
    return made


def test_values_are_read_as_people_see_them_with_the_row_they_stand_in(tmp_path: Path) -> None:
    workbook = openpyxl.Workbook()
    sheet = workbook.worksheets[0]
    sheet["B3"], sheet["C3"], sheet["D3"] = 7.0, datetime.datetime(2020, 5, 1), "text"
    sheet["A9"] = 1.5
    rows = list(read_workbook(_saved(tmp_path / "w.xlsx", workbook)))
    assert [(row.number, row.cells) for row in rows] == [(3, ("", "7", "2020-05-01", "text")), (9, ("1.5",))]
    assert rows[0].place == "Sheet, row 3"


def test_hidden_sheets_and_rows_are_read_too(tmp_path: Path) -> None:
    workbook = openpyxl.Workbook()
    workbook.worksheets[0]["A1"] = "shown"
    hidden = workbook.create_sheet("Old")
    hidden.sheet_state = "hidden"
    hidden["A1"] = "hidden"
    assert [row.sheet for row in read_workbook(_saved(tmp_path / "w.xlsx", workbook))] == ["Sheet", "Old"]


def test_a_sheet_that_declares_a_wrong_range_is_read_whole(tmp_path: Path) -> None:
    workbook = openpyxl.Workbook()
    for number in range(5):
        workbook.worksheets[0].append([number, "x"])
    path = _saved(tmp_path / "w.xlsx", workbook)
    with zipfile.ZipFile(path) as archive:
        body = archive.read("xl/worksheets/sheet1.xml").replace(b'ref="A1:B5"', b'ref="A1"')
    assert len(list(read_workbook(_with_part(path, "xl/worksheets/sheet1.xml", body)))) == 5


def test_a_merged_range_over_the_whole_sheet_costs_nothing(tmp_path: Path) -> None:
    workbook = openpyxl.Workbook()
    sheet = workbook.worksheets[0]
    sheet["A1"], sheet["B2"] = "all", None
    path = _saved(tmp_path / "w.xlsx", workbook)
    with zipfile.ZipFile(path) as archive:
        body = archive.read("xl/worksheets/sheet1.xml").replace(
            b"</sheetData>", b'</sheetData><mergeCells><mergeCell ref="A1:XFD1048576"/></mergeCells>'
        )
    rows = list(read_workbook(_with_part(path, "xl/worksheets/sheet1.xml", body)))
    assert [row.number for row in rows] == [1]


def test_entities_in_a_sheet_are_not_expanded(tmp_path: Path) -> None:
    workbook = openpyxl.Workbook()
    workbook.worksheets[0]["A1"] = "x"
    (tmp_path / "secret").write_text("SECRET", encoding="utf-8")
    bomb = (
        f'<!DOCTYPE w [<!ENTITY s SYSTEM "file://{tmp_path}/secret">]><worksheet xmlns="http://schemas.openxmlformats.org/'
        'spreadsheetml/2006/main"><sheetData><row r="1"><c r="A1" t="inlineStr"><is><t>&s;</t></is></c></row>'
        "</sheetData></worksheet>"
    )
    path = _with_part(_saved(tmp_path / "w.xlsx", workbook), "xl/worksheets/sheet1.xml", bomb.encode())
    try:
        texts = [cell for row in read_workbook(path) for cell in row.cells]
    except Refusal as refusal:
        texts = [str(refusal)]
    assert "SECRET" not in "".join(texts)


@pytest.mark.parametrize(
    "part", ["xl/worksheets/sheet1.xml", "xl/workbook.xml", "xl/styles.xml", "[Content_Types].xml"]
)
def test_a_damaged_part_is_told(tmp_path: Path, part: str) -> None:
    workbook = openpyxl.Workbook()
    workbook.worksheets[0]["A1"] = "x"
    path = _with_part(_saved(tmp_path / "w.xlsx", workbook), part, b"<broken")
    with pytest.raises(Refusal) as told:
        list(read_workbook(path))
    assert told.value.reason == "damaged"


def test_text_that_looks_like_an_escape_survives(tmp_path: Path) -> None:
    path = tmp_path / "w.xlsx"
    path.write_bytes(to_workbook([Sheet("S", (("_x0041_", 9),), [[Cell("a _x0041_ b")], [Cell("__x000D__")]])]))
    assert [row.cells[0] for row in read_workbook(path)][1:] == ["a _x0041_ b", "__x000D__"]
    assert unescape("_xD800_") == "_xD800_"


def test_a_package_that_names_no_workbook_is_damaged(tmp_path: Path) -> None:
    whole = _saved(tmp_path / "w.xlsx", openpyxl.Workbook())
    with zipfile.ZipFile(whole) as package:
        types = package.read("[Content_Types].xml").replace(b"sheet.main+xml", b"nothing+xml")
    with pytest.raises(Refusal, match="is damaged"):
        list(read_workbook(_with_part(whole, "[Content_Types].xml", types)))
