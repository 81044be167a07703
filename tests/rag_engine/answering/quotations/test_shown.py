"""Quotations in markdown: paragraphs, words in bold, rows of tables."""

from __future__ import annotations

import pytest

from rag_engine.answering.quotations.shown import passage_markdown, table_markdown
from rag_engine.takeaway.exported_text import answer_lines, answer_runs

TABLE = """Pollutant | THRESHOLD FOR RELEASES

to air kg/year | to water kg/year

Mercury (as Hg) – THRESHOLD FOR RELEASES – to air kg/year: 10; THRESHOLD FOR RELEASES – to water kg/year: 1

Lead (as Pb) – THRESHOLD FOR RELEASES – to air kg/year: 200; THRESHOLD FOR RELEASES – to water kg/year: 20"""


def span_of(text: str, said: str) -> tuple[int, int]:
    start = text.index(said)
    return start, start + len(said)


def cells(markdown: str) -> list[list[str]]:
    [table] = answer_lines(markdown)
    return [["".join(run.text for run in cell) for cell in row] for row in table.cells]


def test_each_paragraph_is_a_line_and_the_answer_is_bold_without_its_punctuation() -> None:
    text = "(1) The dyke is\n3 m high.\n\n(2) It is checked (twice a year), at least."
    said = passage_markdown(text, (0, len(text)), span_of(text, "twice a year),"))
    assert said == "(1) The dyke is 3 m high.\n(2) It is checked (**twice a year**), at least."


def test_an_item_stands_behind_the_words_that_open_its_list() -> None:
    text = "The plan names:\n\n(a) wardens;\n\n(b) routes."
    assert passage_markdown(text, span_of(text, "(b) routes."), None, (0, 15)) == "The plan names: […] (b) routes."


def test_stars_of_a_document_are_shown_and_make_nothing_bold() -> None:
    text = "Price ** of the ** item is 3*4."
    [run] = answer_runs(passage_markdown(text, (0, len(text)), None))
    assert (run.text, run.bold) == (text, False)


def test_a_row_stands_under_the_names_of_its_columns() -> None:
    row = span_of(TABLE, TABLE.split("\n\n")[2])
    assert cells(table_markdown(TABLE, [row], None)) == [
        ["", "THRESHOLD FOR RELEASES – to air kg/year", "THRESHOLD FOR RELEASES – to water kg/year"],
        ["Mercury (as Hg)", "10", "1"],
    ]


@pytest.mark.parametrize(("asked", "bold"), [("air", "10"), ("water", "1"), ("mercury", "")])
def test_the_cell_of_the_column_that_is_asked_for_is_bold(asked: str, bold: str) -> None:
    row = span_of(TABLE, TABLE.split("\n\n")[2])
    [table] = answer_lines(table_markdown(TABLE, [row], None, frozenset((asked,))))
    assert "".join(run.text for cell in table.cells[1] for run in cell if run.bold) == bold


def test_what_a_reader_finds_is_bold_if_no_column_is_asked_for() -> None:
    text = "Name | Length | Built\n\nName: North; Length: 3; Built: 1993"
    row = span_of(text, "Name: North; Length: 3; Built: 1993")
    for said, bold in (("1993", ["1993"]), ("3; Built: 1993", [])):
        [table] = answer_lines(table_markdown(text, [row], span_of(text, said)))
        assert [run.text for cell in table.cells[1] for run in cell if run.bold] == bold


def test_rows_share_one_head_and_an_empty_cell_is_empty() -> None:
    text = "Name | Length | Built\n\nName: North; Length: 3; Built: 1990\n\nName: South; Built: 2001"
    rows = [span_of(text, said) for said in text.split("\n\n")[1:]]
    assert cells(table_markdown(text, rows, None)) == [
        ["Name", "Length", "Built"],
        ["North", "3", "1990"],
        ["South", "", "2001"],
    ]


def test_a_semicolon_in_a_cell_parts_no_cells() -> None:
    assert cells(table_markdown("Name: North; old; Length: 3", [(0, 27)], None))[1] == ["North; old", "3"]
