from __future__ import annotations

from dataclasses import replace

import pytest

from ingestion.dataset.comparison.comparison import (
    MOST_COLUMNS,
    MOST_QUESTIONS,
    Comparison,
    ComparisonCell,
    ComparisonColumn,
    SearchEffort,
    cell_text,
    columns_of,
    extended,
    filter_of,
    present_columns,
    read_questions,
    schema_questions,
    without,
)
from rag_engine.answering.structured.answer_schema import read_schema
from rag_engine.config import DATA
from rag_engine.errors import InputError
from tests.ingestion.dataset.comparison.conftest import ComparingEngine

SPAIN, FRANCE = ComparisonColumn("Spain", "Spain"), ComparisonColumn("France", "France")
EMPTY = Comparison("1", "Heat plans", "country", (), (), {}, "2026-01-01", {})
WHO, WHEN = "Who pays for heat plans?", "When is it reviewed?"
TABLE = extended(EMPTY, [WHO, WHEN], [SPAIN, FRANCE])


def cell(question: str, column: str, status: str = "answered") -> ComparisonCell:
    return ComparisonCell(question, column, status, "the ministry", "the ministry", asked="2026-01-02")  # type: ignore[arg-type]


def test_questions_are_read_one_a_line_and_each_once() -> None:
    assert read_questions(f"\n {WHO} \n\nWhen  is it reviewed?\n{WHO}") == (WHO, WHEN)


def test_the_fields_of_a_schema_become_questions() -> None:
    asked = schema_questions(read_schema(DATA / "schemas" / "policy.json"))
    assert asked[1] == "Policy measures, actor: who is to do it?"
    # Its note and its citation are no questions.
    assert len(asked) == 5


def test_the_columns_are_the_countries_of_the_documents_that_a_filter_leaves(engine: ComparingEngine) -> None:
    snapshot = engine.collection.snapshot()
    assert [one.key for one in columns_of("country", {}, snapshot)] == ["France", "Italy", "Spain"]
    # Documents about Spain that are about Italy too bring no column for it.
    assert [one.key for one in columns_of("country", {"country": ("spain",)}, snapshot)] == ["Spain"]


def test_the_columns_are_documents_by_title_and_two_of_one_title_are_told_apart(engine: ComparingEngine) -> None:
    snapshot = engine.collection.snapshot()
    found = columns_of("document", {}, snapshot)
    assert len({one.label for one in found}) == 3
    [key, other, *_] = snapshot.documents
    record = snapshot.documents[other]
    twin = replace(record, metadata=replace(record.metadata, title=snapshot.documents[key].metadata.title))
    same = replace(snapshot, documents={**snapshot.documents, other: twin})
    labels = [one.label for one in columns_of("document", {}, same)]
    assert len(set(labels)) == 3
    assert sum(label.endswith("(2020)") or ".md)" in label for label in labels) == 2


def test_a_country_is_asked_within_the_filter_and_a_document_by_itself() -> None:
    filtered = replace(TABLE, wanted={"hazard": ("Heatwaves",), "country": ("Spain", "France")})
    assert filter_of(filtered, "Spain") == {"hazard": ("Heatwaves",), "country": ("Spain",)}
    assert filter_of(replace(TABLE, by="document"), "abc") == {"document": ("abc",), "versions": ("all",)}


def test_what_is_added_comes_after_what_is_there_and_nothing_twice() -> None:
    more = extended(TABLE, [WHEN, "Who is warned?"], [FRANCE, ComparisonColumn("Italy", "Italy")])
    assert more.questions == (WHO, WHEN, "Who is warned?")
    assert [one.key for one in more.columns] == ["Spain", "France", "Italy"]


@pytest.mark.parametrize(
    ("questions", "columns", "said"),
    [
        ([], [SPAIN], "no question"),
        ([WHO], [], "nothing to compare"),
        ([f"{n}?" for n in range(MOST_QUESTIONS + 1)], [SPAIN], "at most 200 questions"),
        ([WHO], [ComparisonColumn(f"{n}", f"{n}") for n in range(MOST_COLUMNS + 1)], "at most 1000 columns"),
        (
            [f"{n}?" for n in range(MOST_QUESTIONS)],
            [ComparisonColumn(f"{n}", f"{n}") for n in range(101)],
            "at most 20,000 cells; these are 20,200",
        ),
    ],
)
def test_what_makes_no_table_is_refused(questions: list[str], columns: list[ComparisonColumn], said: str) -> None:
    with pytest.raises(InputError, match=said):
        extended(EMPTY, questions, columns)


def test_two_hundred_questions_are_asked_of_a_hundred_documents() -> None:
    columns = [ComparisonColumn(f"{n}", f"{n}") for n in range(100)]
    assert len(extended(EMPTY, [f"{n}?" for n in range(200)], columns).places) == 20_000


def test_what_was_not_asked_or_failed_is_open() -> None:
    asked = {
        (WHO, "Spain"): cell(WHO, "Spain"),
        (WHO, "France"): cell(WHO, "France", "failed"),
        (WHEN, "Spain"): cell(WHEN, "Spain", "nothing found"),
    }
    table = replace(TABLE, cells=asked)
    assert table.open_places == ((WHO, "France"), (WHEN, "France"))
    assert table.describe() == "1 answered, 1 nothing found, 1 failed, 1 not asked yet"


def test_a_question_or_a_column_goes_with_its_cells() -> None:
    table = replace(TABLE, cells={(WHO, "Spain"): cell(WHO, "Spain"), (WHEN, "France"): cell(WHEN, "France")})
    assert without(table, question=WHO).cells.keys() == {(WHEN, "France")}
    assert without(table, column="France").columns == (SPAIN,)


def test_a_column_that_the_collection_lacks_is_not_present(engine: ComparingEngine) -> None:
    table = extended(TABLE, columns=[ComparisonColumn("Peru", "Peru")])
    assert present_columns(table, engine.collection.snapshot()) == {"Spain", "France"}


def test_a_cell_without_an_answer_says_how_hard_was_searched() -> None:
    nothing = replace(cell(WHO, "Spain", "nothing found"), effort=SearchEffort(1, 1200, 9))
    assert cell_text(nothing) == "Nothing found: 1,200 passages in 1 document searched, 9 read closely."
    assert cell_text(None) == "Not asked yet"
    assert cell_text(cell(WHO, "Spain", "closest passages")) == "Closest passages: the ministry"
