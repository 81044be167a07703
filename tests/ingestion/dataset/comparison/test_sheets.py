from __future__ import annotations

import io
from dataclasses import replace
from typing import Any

import openpyxl
import pytest

from ingestion.dataset.comparison.comparison import Comparison, ComparisonCell, ComparisonColumn, SearchEffort
from ingestion.dataset.comparison.sheets import comparison_workbook
from rag_engine.types.answer import Citation

WHO = "=Who pays?"
CITATION = Citation(
    1, "abc_p0_c0", "abc", "plan.pdf", "+Heat plan", 3, "The ministry\npays.", 10, 30, "=cmd|' /C calc'!A0", 2020,
    "CC BY-NC 4.0",
)  # fmt: skip
CELL = ComparisonCell(
    WHO, "Spain", "answered", "The ministry pays.", "- “The ministry pays.” [Source 1]", (CITATION, CITATION), 0,
    SearchEffort(2, 40, 9), "extractive", (), "2026-01-02T03:04:05.000006+00:00",
)  # fmt: skip
NOTHING = replace(CELL, column="Peru", status="nothing found", short="No answer.", text="No answer.")
TABLE = Comparison(
    "1", "Heat", "country", (WHO,),
    (ComparisonColumn("Spain", "=Spain\x07"), ComparisonColumn("Peru", "Peru"), ComparisonColumn("Italy", "Italy")),
    {}, "2026-01-01", {(WHO, "Spain"): CELL, (WHO, "Peru"): NOTHING},
)  # fmt: skip


def opened(base: str = "") -> Any:
    return openpyxl.load_workbook(io.BytesIO(comparison_workbook(TABLE, [], base)))


def rows(sheet: Any) -> list[dict[str, Any]]:
    head, *others = sheet.iter_rows(values_only=True)
    return [dict(zip(head, row, strict=True)) for row in others]


def test_the_table_has_a_row_for_each_question_and_says_what_was_not_found() -> None:
    [row] = rows(opened()["Comparison"])
    assert list(row.values()) == [
        WHO,
        "The ministry pays. [+Heat plan, page 3]",
        "Nothing found: 40 passages in 2 documents searched, 9 read closely.",
        "Not asked yet",
    ]


def test_the_evidence_has_a_row_for_each_quote_with_licence_and_limits() -> None:
    first, second, nothing, later = rows(opened()["Evidence"])
    assert first == second
    assert (first["Column"], first["Status"], first["Answer"]) == ("=Spain", "answered", "The ministry pays.")
    assert (first["Title"], first["Year"], first["Page"]) == ("+Heat plan", 2020, 3)
    assert (first["Licence"], first["Licence limits"]) == ("CC BY-NC 4.0", "no commercial use")
    assert (first["Quote"], first["Asked (UTC)"]) == ("The ministry pays.", "2026-01-02 03:04:05")
    # The nearest passages are no evidence.
    assert (nothing["Status"], nothing["Quote"], nothing["Title"]) == ("nothing found", None, None)
    assert nothing["Searched"] == "40 passages in 2 documents searched, 9 read closely"
    assert later["Status"] == "not asked yet"


def test_a_link_opens_the_passage_in_its_document() -> None:
    sheet = opened("http://127.0.0.1:8501/")["Evidence"]
    assert sheet["N2"].hyperlink.target == "http://127.0.0.1:8501/document?document=abc&page=3&passage=10-30"
    assert opened()["Evidence"]["N2"].value is None


def test_what_answers_is_black_and_all_else_is_grey() -> None:
    closest = replace(CELL, column="Italy", status="closest passages")
    table = replace(TABLE, cells={**TABLE.cells, (WHO, "Italy"): closest})
    sheet = openpyxl.load_workbook(io.BytesIO(comparison_workbook(table, [])))["Comparison"]
    assert sheet["D2"].value.startswith("Closest passages: ")
    assert [bool(sheet[place].font.color and sheet[place].font.italic) for place in ("B2", "C2", "D2")] == [
        False,
        True,
        True,
    ]


@pytest.mark.parametrize("name", ["Comparison", "Evidence"])
def test_no_cell_and_no_heading_is_a_formula(name: str) -> None:
    cells = [cell for row in opened()[name].iter_rows() for cell in row if cell.value is not None]
    assert {cell.data_type for cell in cells} <= {"s", "n"}
    assert all(cell.quotePrefix for cell in cells if cell.data_type == "s")
