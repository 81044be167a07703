"""A long table says in each of its parts what its columns are, in every format that has tables."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import openpyxl
import pptx
import pytest

from ingestion.extraction.assemble import assemble
from ingestion.extraction.extract import extract
from ingestion.extraction.table_grid import GridCell, table_of
from ingestion.extraction.table_text import table, table_block
from ingestion.file_reading import ExtractionLimits
from rag_engine.text.sentences import sentence_spans
from tests.ingestion.documents import docx, drawing

HEADER = ("River", "Gauge level in metres", "Year of the flood")
ROWS = [(f"Tributary number {n} of the river", f"{n}.5", f"{1900 + n}") for n in range(120)]


def make_xlsx(path: Path) -> Path:
    workbook = openpyxl.Workbook()
    workbook.worksheets[0].append(["Floods of the century"])
    for row in (HEADER, *ROWS):
        workbook.worksheets[0].append(row)
    workbook.save(path)
    return path


def make_docx(path: Path) -> Path:
    def row(cells: tuple[str, ...], more: str = "") -> str:
        return f"<w:tr>{more}{''.join(f'<w:tc><w:p><w:r><w:t>{c}</w:t></w:r></w:p></w:tc>' for c in cells)}</w:tr>"

    named = row(HEADER, "<w:trPr><w:tblHeader/></w:trPr>")
    return docx(path, f"<w:tbl>{named}{''.join(map(row, ROWS))}</w:tbl>")


def make_html(path: Path) -> Path:
    def row(cells: tuple[str, ...], tag: str = "td") -> str:
        return f"<tr>{''.join(f'<{tag}>{cell}</{tag}>' for cell in cells)}</tr>"

    path.write_text(f"<!doctype html><table>{row(HEADER, 'th')}{''.join(map(row, ROWS))}</table>", encoding="utf-8")
    return path


def make_md(path: Path) -> Path:
    lines = ["| " + " | ".join(row) + " |" for row in (HEADER, ("---",) * 3, *ROWS)]
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def make_pptx(path: Path) -> Path:
    presentation = pptx.Presentation()
    slide = presentation.slides.add_slide(presentation.slide_layouts[6])
    grid = slide.shapes.add_table(len(ROWS) + 1, 3, 0, 0, 9_000_000, 6_000_000).table
    for at, row in enumerate((HEADER, *ROWS)):
        for column, cell in enumerate(row):
            grid.cell(at, column).text = cell
    presentation.save(path)
    return path


def make_pdf(path: Path) -> Path:
    with drawing(path) as document:
        for first in range(0, len(ROWS), 40):
            page = document.new_page()
            for at, row in enumerate((HEADER, *ROWS[:40]) if not first else ROWS[first : first + 40]):
                for column, cell in enumerate(row):
                    page.insert_text((72 + 190 * column, 100 + 14 * at), cell, fontsize=9)
    return path


@pytest.mark.parametrize("make", [make_xlsx, make_docx, make_html, make_md, make_pptx, make_pdf])
def test_each_row_of_a_table_is_a_sentence_with_the_names_of_its_columns(
    tmp_path: Path, make: Callable[[Path], Path]
) -> None:
    extracted = extract(make(tmp_path / f"a.{make.__name__[5:]}"), ExtractionLimits(), None)
    sentences = [extracted.text[start:end] for start, end in sentence_spans(extracted.text, "en")]
    for row in ROWS:
        shown = "; ".join(f"{name}: {cell}" for name, cell in zip(HEADER, row, strict=True))
        assert sentences.count(shown) == 1
    assert extracted.text.count(" | ".join(HEADER)) == 1
    assert all(extracted.text[line.start : line.end].strip() for line in extracted.lines)


def test_names_and_values_without_a_header_are_read_as_such() -> None:
    text, *_ = assemble([table([("Drone", "10,000 euros"), ("Rescue boat", "24,500 euros")])])
    assert text == "Drone: 10,000 euros\n\nRescue boat: 24,500 euros"


def test_a_cell_over_several_columns_or_rows_is_said_in_each_of_them() -> None:
    rows = [
        [GridCell("Region", rows=2), GridCell("Damage", columns=2)],
        [GridCell("2020"), GridCell("2021")],
        [GridCell("North", rows=2), GridCell("12"), GridCell("14")],
        [GridCell("3"), GridCell("5")],
        [GridCell("South"), GridCell("none", columns=2)],
    ]
    text, *_ = assemble([table_block(table_of(rows))])
    assert text.split("\n\n")[-3:] == [
        "Region: North; Damage – 2020: 12; Damage – 2021: 14",
        "Region: North; Damage – 2020: 3; Damage – 2021: 5",
        "Region: South; Damage – 2020 / Damage – 2021: none",
    ]


def test_a_row_of_one_cell_names_the_rows_below_it() -> None:
    rows = [
        [GridCell("Item"), GridCell("Number"), GridCell("Price")],
        [GridCell("Vehicles", columns=3)],
        [GridCell("Truck"), GridCell("2"), GridCell("90,000")],
        [GridCell("Boats", columns=3)],
        [GridCell("Raft"), GridCell("7"), GridCell("1,200")],
    ]
    text, *_ = assemble([table_block(table_of(rows, 1))])
    assert "Vehicles – Item: Truck; Number: 2; Price: 90,000" in text.split("\n\n")
    assert "Boats – Item: Raft; Number: 7; Price: 1,200" in text.split("\n\n")


def test_the_unit_below_a_name_or_above_the_table_is_said_with_its_figures() -> None:
    below = [("Gas", "to air", "to water"), ("", "kg/year", "kg/year"), ("Methane", "100 000", "-")]
    assert "Gas: Methane; to air (kg/year): 100 000; to water (kg/year): -" in assemble([table(below)])[0]
    above = [("Budget (in million euros)", "", ""), ("Programme", "2024", "2025"), ("Dikes", "12", "14")]
    assert assemble([table(above, headers=2)])[0].endswith("Programme: Dikes; 2024: 12; 2025: 14 (in million euros)")


def test_a_first_row_of_figures_or_of_long_sentences_is_no_header() -> None:
    figures = [("Po", "12"), *[(f"{n}", "a row of the table that says something of interest") for n in range(60)]]
    assert assemble([table([("1", "12"), *figures])])[0].startswith("1 12\n\nPo: 12\n\n")
    sentences = ("Each town keeps a plan. " * 8, "Each region too. " * 8)
    assert assemble([table([sentences, *figures])])[0].count(" | Each region too.") == 1


@pytest.mark.parametrize(
    ("caption", "said"),
    [
        ("Table 2. Costs of the plan (in million euros)", "Drone – Cost: 10 (in million euros)"),
        ("Amounts in thousand euros", "Drone – Cost: 10 (Amounts in thousand euros)"),
        ("Tabelle 2: Kosten, in Mio. Euro", "Drone – Cost: 10 (in Mio. Euro)"),
        ("The plan was made in the year of the flood.", "Drone – Cost: 10"),
    ],
)
def test_what_a_caption_says_of_the_figures_is_said_with_each(tmp_path: Path, caption: str, said: str) -> None:
    table_of_costs = "<table><tr><th></th><th>Cost</th></tr><tr><td>Drone</td><td>10</td></tr></table>"
    (tmp_path / "x.html").write_text(f"<!doctype html><p>{caption}</p>{table_of_costs}<p>End.</p>", encoding="utf-8")
    text = extract(tmp_path / "x.html", ExtractionLimits(), None).text
    assert said in text.split("\n\n"), text


def test_a_caption_says_nothing_of_columns_that_have_units_of_their_own(tmp_path: Path) -> None:
    rows = "<tr><th>Group</th><th>Number</th><th>Percent</th></tr><tr><td>Young</td><td>10</td><td>2.5</td></tr>"
    page = f"<!doctype html><p>Table 1. (Numbers in thousands)</p><table>{rows}</table><p>End.</p>"
    (tmp_path / "x.html").write_text(page, encoding="utf-8")
    text = extract(tmp_path / "x.html", ExtractionLimits(), None).text
    assert "Group: Young; Number: 10; Percent: 2.5" in text.split("\n\n")


def test_names_above_several_columns_are_read_with_the_line_below_them(tmp_path: Path) -> None:
    path = tmp_path / "booktabs.pdf"
    at = {"label": 60, "total": 170, "no": 240, "share": 300, "ratio": 360}
    with drawing(path) as document:
        page = document.new_page()
        for y, x0, x1 in ((80, 50, 420), (105, 225, 420), (150, 50, 420), (300, 50, 420)):
            page.draw_line((x0, y), (x1, y))
        for x, y, text in (
            (285, 95, "Unhealthy housing"),
            (165, 110, "Total"),
            (165, 122, "occupied"),
            (165, 134, "units"),
            (355, 125, "Odds"),
            (60, 140, "Household"),
            (240, 140, "No."),
            (300, 140, "(%)"),
            (355, 140, "ratio"),
            (60, 165, "Owners"),
        ):
            page.insert_text((x, y), text, fontsize=9)
        rows = [("Northern Islander", "61,206", "14,037", "22.9", "1.1"), ("South", "49,486", "12,303", "24.9", "1.2")]
        body = [*rows, *((f"West {n}", f"{n},100", f"{n},200", f"{n}.9", f"{n}.3") for n in range(1, 6))]
        for number, row in enumerate(body):
            for column, (x, cell) in enumerate(zip(at.values(), row, strict=True)):
                page.insert_text((x + 8 * (not column), 180 + 14 * number), cell, fontsize=9)
    text = extract(path, ExtractionLimits(), None).text
    assert (
        "Owners – Household: Northern Islander; Total occupied units: 61,206; Unhealthy housing (No.): 14,037; "
        "Unhealthy housing (%): 22.9; Unhealthy housing – Odds ratio: 1.1"
    ) in text


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("plan.html", "<table><caption>Table 1: Towns (in m)</caption><tr><th><th></table><p>{prose}</p>"),
        ("plan.md", "# Plan\n\nTable 1: Towns (in m)\n\n| | |\n|---|---|\n\n{prose}\n"),
    ],
)
def test_an_empty_table_below_a_caption_with_a_unit_loses_nothing_of_its_document(
    tmp_path: Path, name: str, text: str
) -> None:
    path = tmp_path / name
    prose = "Every town keeps a plan for floods. " * 9
    path.write_text(text.replace("{prose}", prose), encoding="utf-8")
    assert extract(path, ExtractionLimits(), None).text.endswith(f"Table 1: Towns (in m)\n\n{prose.strip()}")
