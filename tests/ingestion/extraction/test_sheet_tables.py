"""A sheet is cut into its tables, each under its names; captions and notes are no rows."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingestion.extraction.assemble import assemble
from ingestion.extraction.runs import Look, Run
from ingestion.extraction.sheet_tables import sheet_blocks
from ingestion.extraction.table_grid import GridCell

Rows = Sequence[Sequence[str]]

TOWNS = [["Town", "Budget", "Year"], ["Brackwater", "410", "2024"], ["Hollin", "275", "2024"], ["Kelm", "190", "2025"]]
HAZARDS = [["Hazard", "Wardens", "Sirens"], ["Flood", "31", "12"], ["Landslide", "9", "14"], ["Fire", "22", "5"]]
SHELTERS = [["Shelter", "Places"], ["Town hall", "300"], ["School", "450"]]
TOWN, HAZARD = "Town: Kelm; Budget: 190; Year: 2025", "Hazard: Landslide; Wardens: 9; Sirens: 14"
SHELTER = "Shelter: School; Places: 450"


def read(rows: Rows, bold: Sequence[int] = (), *, named: bool = False) -> list[str]:
    cells = [[GridCell(text, bold=at in bold) for text in row] for at, row in enumerate(rows)]
    return assemble(sheet_blocks(cells, named=named))[0].split("\n\n")


def beside(left: Rows, right: Rows, gap: int = 1) -> list[list[str]]:
    blank = [""] * len(left[0])
    longer = range(max(len(left), len(right)))
    return [
        [*(left[at] if at < len(left) else blank), *[""] * gap, *(right[at] if at < len(right) else [])]
        for at in longer
    ]


TWO_TABLES = {
    "below a blank row": [*TOWNS, [], *HAZARDS],
    "below blank rows and a caption": [*TOWNS, [], [], ["Table 2: Hazards"], [], *HAZARDS],
    "without a blank row": [*TOWNS, *HAZARDS],
    "below a caption alone": [*TOWNS, ["Table 2: Hazards"], *HAZARDS],
    "below a total": [*TOWNS, ["Total", "875", ""], *HAZARDS],
    "further right": [*TOWNS, [], *(["", "", *row] for row in HAZARDS)],
    "beside a blank column": beside(TOWNS, HAZARDS),
    "beside two, shorter": beside(TOWNS, HAZARDS[:3], 2),
    "beside, longer": beside(TOWNS, [*HAZARDS, ["Storm", "1", "2"]]),
    "beside, under a caption": [["Annex 2"], [], *beside(TOWNS, HAZARDS)],
    "beside, a note below": [*beside(TOWNS, HAZARDS), [], ["Source: office"]],
}


@pytest.mark.parametrize("rows", TWO_TABLES.values(), ids=TWO_TABLES)
def test_two_tables_have_each_their_own_names(rows: Rows) -> None:
    lines = read(rows)
    assert {TOWN, HAZARD} <= set(lines)
    assert not any("Town" in line and "Hazard" in line for line in lines)


def test_four_tables_in_a_square_are_four() -> None:
    rows = [*beside(TOWNS, SHELTERS), [], *beside(HAZARDS, [["Post", "Staff"], ["North", "3"], ["South", "4"]])]
    assert {TOWN, HAZARD, SHELTER, "Post: South; Staff: 4"} <= set(read(rows))


def test_names_of_the_same_kind_are_told_by_their_capitals_or_their_print() -> None:
    beds = [["Shelter", "Places", "Beds"], ["Town hall", "300", "20"], ["School", "450", "30"]]
    assert "Shelter: School; Places: 450; Beds: 30" in read([*HAZARDS, *beds])
    small = [["shelter", "places", "beds"], *beds[1:]]
    assert "shelter: School; places: 450; beds: 30" in read([*HAZARDS, *small], bold=(0, len(HAZARDS)))


def test_words_in_place_of_figures_are_a_row() -> None:
    rows = [*HAZARDS, ["Storm", "closed", "unknown"], ["Drought", "3", "4"]]
    assert {"Hazard: Storm; Wardens: closed; Sirens: unknown", "Hazard: Drought; Wardens: 3; Sirens: 4"} <= set(
        read(rows)
    )


@pytest.mark.parametrize(
    "note",
    [
        "Source: provincial office", "* provisional", "1) without Tarn", "¹ Estimate of the board",
        "Quelle: Landesamt", "Remarques : hors budget", "Źródło: urząd",
        "Figures for 2025 were taken from the draft budget of the province.",
    ],
)  # fmt: skip
@pytest.mark.parametrize("blank", [0, 1])
def test_a_note_below_a_table_is_no_row(note: str, blank: int) -> None:
    assert read([*TOWNS, *[[]] * blank, [note]])[-2:] == [TOWN, note]


def test_a_note_in_two_cells_is_one_text() -> None:
    assert read([*TOWNS, ["Source:", "provincial office"]])[-1] == "Source: provincial office"


def test_totals_and_labels_alone_stay_rows() -> None:
    assert read([*TOWNS, [], ["Total", "875", ""]])[-1] == "Town: Total; Budget: 875"
    assert read([*TOWNS, ["Tarn", "", ""]])[-1] == "Town: Tarn"


def test_words_below_a_table_of_figures_are_no_row_of_it() -> None:
    assert read([*TOWNS, [], ["Contact", "Jo Lind"]])[-1] == "Contact | Jo Lind"


def test_figures_below_a_column_of_words_are_no_row_of_it() -> None:
    assert read([*TOWNS, [], ["2024", "5"], ["2025", "6"]])[-2:] == ["2024: 5", "2025: 6"]


def test_a_table_below_many_lines_of_title_has_its_names() -> None:
    titles = [["Province of Selby"], ["as of May"], ["draft"], ["internal"], ["for the board"], ["Budgets"]]
    assert read([*titles, *TOWNS])[-1] == TOWN


def test_blank_rows_within_a_table_part_nothing() -> None:
    rows = [TOWNS[0], [], TOWNS[1], [], TOWNS[2], [], TOWNS[3]]
    assert read(rows)[1:] == [
        "Town: Brackwater; Budget: 410; Year: 2024",
        "Town: Hollin; Budget: 275; Year: 2024",
        TOWN,
    ]


def test_rows_below_a_note_go_on_under_the_names_above_it() -> None:
    rows = [*TOWNS[:3], [], ["* provisional"], [], TOWNS[3]]
    assert read(rows)[-2:] == ["* provisional", TOWN]


def test_a_blank_column_within_a_table_parts_nothing() -> None:
    figures = beside([["Town", "2023"], ["Kelm", "1"], ["Tarn", "2"]], [["2024", "2025"], ["3", "4"], ["5", "6"]])
    assert "Town: Tarn; 2023: 2; 2024: 5; 2025: 6" in read(figures)
    remarks = beside(TOWNS, [["Remark", "By"], ["late", "Jo"], ["", ""], ["late", "Jo"]])
    assert "Town: Kelm; Budget: 190; Year: 2025; Remark: late; By: Jo" in read(remarks)


def test_the_unit_of_a_caption_is_that_of_its_table_alone() -> None:
    lines = read([["Budgets (in thousand euros)"], *TOWNS, [], ["Wardens"], *HAZARDS])
    assert f"{TOWN} (in thousand euros)" in lines
    assert HAZARD in lines


def test_names_above_several_columns_are_said_in_all_of_them_also_where_no_cell_is_merged() -> None:
    rows = [
        ["", "Electric", "", "Hand-driven", ""], ["Town", "Old", "New", "Old", "New"],
        ["Kelm", "3", "9", "1", "0"], ["Tarn", "2", "4", "0", "6"],
    ]  # fmt: skip
    assert (
        read(rows)[-1] == "Town: Tarn; Electric – Old: 2; Electric – New: 4; Hand-driven – Old: 0; Hand-driven – New: 6"
    )


def test_a_hidden_row_or_column_parts_no_table() -> None:
    gone = GridCell("", left_out=(Run("gone", Look.HIDDEN),))
    rows = [[GridCell(text) for text in row] for row in TOWNS]
    rows = [*rows[:2], [gone] * 3, *rows[2:]]
    blocks = list(sheet_blocks([[*row[:1], gone, *row[1:]] for row in rows]))
    assert assemble(blocks)[0].split("\n\n")[-1] == TOWN
    assert sum(len(block.left_out) for block in blocks) == 3 + len(rows)


@given(
    st.lists(
        st.lists(st.sampled_from(["", "", "Town", "Kelm", "12", "2024", "* note", "Source: x"]), max_size=7),
        max_size=12,
    )
)
def test_every_text_of_a_sheet_is_read(rows: list[list[str]]) -> None:
    text = " ".join(read(rows))
    assert all(cell in text for row in rows for cell in row)
