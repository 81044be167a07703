"""Comparisons whose cells fill in a form: records kept as they come, and the workbook that lists them."""

from __future__ import annotations

import io
import json
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import openpyxl
import pytest

from ingestion.acts.comparisons import (
    begin_comparison,
    continue_comparison,
    exported_comparison,
    extend_comparison,
    list_comparisons,
)
from ingestion.acts.context import ActContext
from ingestion.acts.documents import erase
from ingestion.add_files import add_paths
from ingestion.dataset.comparison.ask_cells import AskedCells, CellsRequest, ask_cells
from ingestion.dataset.comparison.comparison import Comparison
from ingestion.dataset.comparison.store import ComparisonStore
from rag_engine.answering.structured.answer_schema import AnswerSchema, parse_schema
from rag_engine.config import read_config
from rag_engine.engine import Engine
from rag_engine.errors import BackendError
from rag_engine.storage.catalog import describe_document
from rag_engine.types.answer import Attribute
from tests.ingestion.dataset.comparison.conftest import ComparingEngine, WritingModel
from tests.rag_engine.conftest import CountingEmbedder, unread

QUESTION = "When do residents near the dyke leave their homes?"
TEXT = """# Flood plan of {town}

Residents near the dyke of {town} leave their homes when the gauge passes {metres} metres. {order}
"""
TOWNS = ["Cork", "Galway", "Milltown"]
ORDER = "The mayor orders the evacuation, and the fire service carries it out."
_FIELDS = {"measure": "string", "metres": "number", "citation": "integer"}
_MEASURE = {"type": "object", "properties": {name: {"type": kind} for name, kind in _FIELDS.items()}}
_ANSWER = {"measures": {"type": "array", "items": _MEASURE}, "note": {"type": "string"}}
SCHEMA = parse_schema(json.dumps({"type": "object", "properties": _ANSWER}), "measures.json")
EVACUATION = {"measure": "The mayor orders the evacuation", "metres": 4.5, "citation": 1}


class FormModel(WritingModel):
    """A model that finds an evacuation in every document, and fails when it is told to."""

    def complete_json(self, system: str, user: str, schema: dict[str, object], *, seconds: float) -> dict[str, object]:
        if "measures" not in schema["required"]:  # type: ignore[operator]
            raise BackendError("no plan")
        self.read.append(user)
        self.reading()
        for word, failure in self.failing.items():
            if word in user:
                raise failure
        return {"measures": [EVACUATION], "note": "=the mayor orders."}


@pytest.fixture(scope="module")
def towns(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a workspace of three plans; only Milltown's says who orders the evacuation at 4.5 m."""
    folder = tmp_path_factory.mktemp("plans")
    for town, metres, order in (("Milltown", "4.5", ORDER), ("Cork", "5.5", ORDER), ("Galway", "4.5", "")):
        (folder / f"{town.lower()}.md").write_text(TEXT.format(town=town, metres=metres, order=order))
    workspace = tmp_path_factory.mktemp("asked") / "workspace"
    engine = Engine(read_config(workspace), embedder=CountingEmbedder())
    add_paths([folder], engine)
    engine.close()
    return workspace


@pytest.fixture
def engine(towns: Path, tmp_path: Path) -> Iterator[ComparingEngine]:
    engine = ComparingEngine(unread(shutil.copytree(towns, tmp_path / "workspace")))
    yield engine
    engine.close()


@pytest.fixture(autouse=True)
def model(engine: ComparingEngine) -> FormModel:
    engine.models.writing = FormModel()
    return engine.models.writing


@pytest.fixture
def begun(context: ActContext) -> Comparison:
    return begin_comparison(context, [QUESTION], "document", {}, form=SCHEMA)


def ask(context: ActContext, begun: Comparison) -> AskedCells:
    columns = tuple(column.key for column in begun.columns)
    return ask_cells(
        context.engine, ComparisonStore(context.engine.catalog), CellsRequest(begun.id, begun.questions, columns)
    )


def workbook(context: ActContext, begun: Comparison) -> Any:
    return openpyxl.load_workbook(io.BytesIO(exported_comparison(context, begun.id)))


def evidence(context: ActContext, begun: Comparison) -> dict[str, dict[str, Any]]:
    """Return the rows of the evidence by the town of their column."""
    head, *others = workbook(context, begun)["Evidence"].iter_rows(values_only=True)
    rows = [dict(zip(head, row, strict=True)) for row in others]
    return {str(row["Column"]).removeprefix("Flood plan of "): row for row in rows}


def test_each_document_fills_in_the_form_from_its_own_passages(
    context: ActContext, begun: Comparison, model: WritingModel
) -> None:
    done = ask(context, begun)
    assert (done.asked, done.failed, done.counts) == (3, 0, {"answered": 2, "nothing found": 1})
    read = [[town for town in TOWNS if town in one] for one in model.read]
    assert sorted(town for [town] in read) == TOWNS
    cells = ComparisonStore(context.engine.catalog).require(begun.id).cells.values()
    [milltown] = (cell for cell in cells if "4.5" in cell.text)
    assert milltown.short == "The mayor orders the evacuation; 4.5"
    assert milltown.text == "- The mayor orders the evacuation; 4.5 [Source 1]"
    assert "The mayor" in milltown.citations[0].quote
    assert Attribute("metres", 4.5) in milltown.records[0]


def test_the_evidence_has_a_row_for_each_record_and_a_column_for_each_value(
    context: ActContext, begun: Comparison
) -> None:
    for record in context.engine.collection.documents():
        known = replace(record.metadata, authority="Town Council", year=2021, licence="CC BY-NC-ND 4.0")
        with context.engine.catalog.begin() as connection:
            describe_document(connection, record.key, known)
    ask(context, begun)
    found = evidence(context, begun)
    before = ["Question", "Column", "Status", "Decided by", "Note"]
    assert list(found["Cork"])[:9] == [*before, "note", "measure", "metres", "Authority"]
    milltown = found["Milltown"]
    assert (milltown["measure"], milltown["metres"]) == ("The mayor orders the evacuation", 4.5)
    assert "The mayor" in milltown["Quote"]
    assert [milltown[name] for name in ("Authority", "Year", "Licence limits")] == [
        "Town Council",
        2021,
        "no commercial use; no changes",
    ]
    # What the document does not state is left out.
    assert (found["Cork"]["measure"], found["Cork"]["metres"]) == ("The mayor orders the evacuation", None)
    assert (found["Galway"]["Status"], found["Galway"]["measure"]) == ("nothing found", None)
    assert "left out" in found["Galway"]["Warnings"]


def test_a_document_that_failed_is_asked_again(context: ActContext, begun: Comparison, model: WritingModel) -> None:
    model.failing = {"Galway": BackendError("too long")}
    assert ask(context, begun).failed == 1
    model.failing = {}
    done = ask(context, begun)
    assert (done.asked, done.failed) == (1, 0)


def test_without_a_model_no_form_is_begun_or_asked(
    context: ActContext, begun: Comparison, engine: ComparingEngine
) -> None:
    engine.models.writing = None
    with pytest.raises(BackendError, match="need a language model"):
        begin_comparison(context, [QUESTION], "document", {}, form=SCHEMA)
    with pytest.raises(BackendError, match="need a language model"):
        ask(context, begun)
    assert list_comparisons(context) == [begun]


def test_what_is_being_asked_of_a_document_while_it_is_erased_is_not_kept(
    context: ActContext, begun: Comparison, model: WritingModel
) -> None:
    cork = context.engine.catalog.find_document("cork.md").document_id

    def erase_it() -> None:
        if "Cork" in model.read[-1]:
            erase(context, "cork.md")

    model.reading = erase_it
    ask(context, begun)
    assert "Cork" not in evidence(context, begun)
    assert cork not in {column for _, column in ComparisonStore(context.engine.catalog).require(begun.id).cells}


def test_a_record_of_any_length_and_signs_survives_the_catalog_and_fits_the_workbook(
    context: ActContext, begun: Comparison
) -> None:
    ask(context, begun)
    store = ComparisonStore(context.engine.catalog)
    cell = next(cell for cell in store.require(begun.id).cells.values() if "4.5" in cell.text)
    text = "the evacuation _x0041_ \U0001f30a\x00 " + "orders the mayor " * 6_000
    hostile = replace(cell, records=((Attribute("measure", text), Attribute("metres", 4), Attribute("note", ("a",))),))
    store.put_cell(begun.id, hostile)
    assert store.require(begun.id).cells[hostile.question, hostile.column].records == hostile.records
    row = evidence(context, begun)["Milltown"]
    assert row["measure"].startswith("the evacuation _x005F_x0041_ \U0001f30a")
    assert (row["metres"], row["note"]) == (4, "a")


@pytest.mark.parametrize("form", [None, replace(SCHEMA, most=3)])
def test_a_comparison_is_continued_with_its_own_form_alone(
    context: ActContext, begun: Comparison, form: AnswerSchema | None
) -> None:
    extend_comparison(context, begun.id, ["Who orders the evacuation?"])
    again = continue_comparison(context, [QUESTION], "document", {}, form=SCHEMA)
    assert (again.id, again.form, len(again.questions)) == (begun.id, SCHEMA, 2)
    assert continue_comparison(context, [QUESTION], "document", {}, form=form).id != begun.id
