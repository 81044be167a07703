"""Cells of a comparison that a person accepts, corrects or rejects, and what stays of that."""

from __future__ import annotations

import io
from typing import Any

import openpyxl
import pytest

from ingestion.acts.comparisons import (
    ask_cell_again,
    ask_comparison,
    begin_comparison,
    decide_cell,
    exported_comparison,
    outline_comparison,
    remove_comparison,
    restore_comparison,
    undo_cell_decision,
)
from ingestion.acts.context import ActContext
from ingestion.acts.documents import erase
from ingestion.dataset.comparison.comparison import CellPlace, Comparison, ComparisonCell
from ingestion.dataset.comparison.store import ComparisonStore
from ingestion.records.audit import read_entries
from ingestion.worker import work
from rag_engine.errors import InputError
from tests.ingestion.dataset.comparison.conftest import WritingModel
from tests.ingestion.left_behind import files_holding, forms
from tests.present import present

WHO = "Who pays for the heat plan?"
SPAIN, FRANCE, ITALY = ((WHO, country) for country in ("Spain", "France", "Italy"))


@pytest.fixture
def asked(context: ActContext, model: WritingModel) -> Comparison:
    """Return a comparison of three countries whose cells a model has written."""
    begun = begin_comparison(context, [WHO], "country", {}, name="Payers")
    ask_comparison(context, begun.id)
    work(context.engine)
    return begun


def cell(context: ActContext, begun: Comparison, place: CellPlace) -> ComparisonCell:
    return ComparisonStore(context.engine.catalog).cells(begun.id, [place])[place]


def ask_again(context: ActContext, begun: Comparison, place: CellPlace) -> None:
    ask_cell_again(context, begun.id, *place)
    work(context.engine)


def rows(context: ActContext, begun: Comparison, sheet: str) -> list[dict[str, Any]]:
    book = openpyxl.load_workbook(io.BytesIO(exported_comparison(context, begun.id)))
    head, *others = book[sheet].iter_rows(values_only=True)
    return [dict(zip(map(str, head), row, strict=True)) for row in others]


def test_the_workbook_says_of_each_decision_what_who_and_why(context: ActContext, asked: Comparison) -> None:
    decide_cell(context, asked.id, SPAIN, "accepted", author="Ada")
    decide_cell(context, asked.id, FRANCE, "corrected", author="Bo", note="read page 1", text="The prefect pays.")
    decide_cell(context, asked.id, ITALY, "rejected", author="Cy", note="speaks of centres")
    evidence = {row["Column"]: row for row in rows(context, asked, "Evidence")}
    assert {column: (row["Status"], row["Decided by"], row["Note"]) for column, row in evidence.items()} == {
        "Spain": ("accepted", "Ada", None),
        "France": ("corrected", "Bo", "read page 1"),
        "Italy": ("rejected", "Cy", "speaks of centres"),
    }
    assert evidence["France"]["Answer"] == "The prefect pays."
    [row] = rows(context, asked, "Comparison")
    assert row["France"] == "The prefect pays. [corrected by Bo]"
    assert row["Italy"].startswith("Rejected by Cy: ")
    outline = present(outline_comparison(context, asked.id))
    assert outline.describe() == "1 accepted, 1 corrected, 1 rejected"


def test_a_decision_that_is_taken_back_leaves_the_one_before_it(context: ActContext, asked: Comparison) -> None:
    decide_cell(context, asked.id, SPAIN, "accepted", author="Ada")
    decide_cell(context, asked.id, SPAIN, "rejected", author="Bo", note="no")
    assert cell(context, asked, SPAIN).state == "rejected"
    undo_cell_decision(context, asked.id, SPAIN, author="Bo")
    assert (cell(context, asked, SPAIN).state, present(cell(context, asked, SPAIN).decided).author) == (
        "accepted",
        "Ada",
    )
    undo_cell_decision(context, asked.id, SPAIN, author="Ada")
    assert cell(context, asked, SPAIN).state == "answered"


def test_the_same_answer_stays_accepted_when_it_is_asked_again(context: ActContext, asked: Comparison) -> None:
    decide_cell(context, asked.id, SPAIN, "accepted", author="Ada")
    before = cell(context, asked, SPAIN)
    ask_again(context, asked, SPAIN)
    after = cell(context, asked, SPAIN)
    assert after.asked > before.asked
    assert after.state == "accepted"


def test_another_answer_is_not_accepted_but_a_correction_stands(
    context: ActContext, asked: Comparison, model: WritingModel
) -> None:
    decide_cell(context, asked.id, SPAIN, "accepted", author="Ada")
    decide_cell(context, asked.id, FRANCE, "corrected", author="Ada", text="The prefect pays.")
    model.reply = "Nobody knows who pays for it [Source 1]."
    for place in (SPAIN, FRANCE):
        ask_again(context, asked, place)
    spain, france = cell(context, asked, SPAIN), cell(context, asked, FRANCE)
    assert (spain.state, present(spain.decision).choice) == ("answered", "accepted")
    assert (france.state, france.shown) == ("corrected", "The prefect pays.")


@pytest.mark.parametrize(
    ("choice", "given", "said"),
    [
        ("accepted", {"author": " "}, "needs the name"),
        ("corrected", {"author": "Ada"}, "no words"),
        ("rejected", {"author": "Ada"}, "needs a reason"),
    ],
)
def test_a_decision_without_its_parts_is_refused(
    context: ActContext, asked: Comparison, choice: Any, given: dict[str, str], said: str
) -> None:
    with pytest.raises(InputError, match=said):
        decide_cell(context, asked.id, SPAIN, choice, **given)
    assert cell(context, asked, SPAIN).decision is None


def test_nobody_decides_on_a_cell_without_an_answer(context: ActContext) -> None:
    begun = begin_comparison(context, [WHO], "country", {})
    with pytest.raises(InputError, match="no answer to decide on"):
        decide_cell(context, begun.id, SPAIN, "accepted", author="Ada")


def test_an_erased_document_takes_the_decisions_that_may_repeat_it(context: ActContext, asked: Comparison) -> None:
    decide_cell(context, asked.id, FRANCE, "corrected", author="Ada", note="see it", text="The zephyr prefect pays.")
    decide_cell(context, asked.id, SPAIN, "accepted", author="Ada")
    assert list(files_holding(context.workspace, forms("zephyr prefect")))
    erase(context, "france.md")
    assert list(files_holding(context.workspace, forms("zephyr prefect"))) == []
    assert cell(context, asked, SPAIN).state == "accepted"


def test_the_decisions_of_a_deleted_comparison_go_with_a_document_too(context: ActContext, asked: Comparison) -> None:
    decide_cell(context, asked.id, FRANCE, "corrected", author="Ada", text="The zephyr prefect pays.")
    remove_comparison(context, asked.id)
    erase(context, "france.md")
    assert list(files_holding(context.workspace, forms("zephyr prefect"))) == []


def test_a_comparison_that_is_brought_back_has_its_decisions(context: ActContext, asked: Comparison) -> None:
    ask_again(context, asked, SPAIN)
    decide_cell(context, asked.id, SPAIN, "accepted", author="Ada")
    restore_comparison(context, remove_comparison(context, asked.id))
    assert cell(context, asked, SPAIN).state == "accepted"


def test_the_log_of_acts_names_who_decided_upon_which_comparison(context: ActContext, asked: Comparison) -> None:
    decide_cell(context, asked.id, SPAIN, "accepted", author="Ada")
    entry = next(entry for entry in read_entries(context.workspace) if entry.act == "decide_cell")
    assert (entry.on, entry.by, entry.note) == ("Payers", "Ada", "accepted")
