"""A question asked of each document, in a workbook that grows and goes on where it was."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import openpyxl
import pytest

from ingestion.add_files import add_paths
from ingestion.dataset.document_answers import AskedDocuments, ask_each_document
from rag_engine.answering.structured.answer_schema import parse_schema
from rag_engine.config import read_config
from rag_engine.engine import Engine
from rag_engine.errors import BackendError, InputError
from tests.rag_engine.conftest import CountingEmbedder

QUESTION = "What is done at the dyke, at the Talsperren and when the heat is great?"
SCHEMA = parse_schema(
    json.dumps(
        {
            "type": "object",
            "properties": {
                "measures": {
                    "type": "array",
                    "items": {
                        "type": "object",
                        "properties": {
                            "measure": {"type": "string"},
                            "metres": {"type": "number"},
                            "citation": {"type": "integer"},
                        },
                    },
                },
                "note": {"type": "string"},
            },
        }
    ),
    "measures.json",
)
EVACUATION = {"measure": "The mayor orders the evacuation", "metres": 4.5, "citation": 1}


class FormModel:
    """A model that finds an evacuation in every document, and stops when it is told to."""

    name = "form model"
    quotes_only = False
    context_window = 8192

    def __init__(self) -> None:
        self.read: list[str] = []
        self.failing: dict[str, BaseException] = {}
        self.measure: dict[str, Any] = EVACUATION

    def stream(self, prompt: object) -> Iterator[str]:
        raise BackendError("not asked")

    def complete_json(self, system: str, user: str, schema: dict[str, object], *, seconds: float) -> dict[str, object]:
        if "measures" not in schema["required"]:  # type: ignore[operator]
            raise BackendError("no plan")
        self.read.append(user)
        for word, failure in self.failing.items():
            if word in user:
                raise failure
        return {"measures": [self.measure], "note": "=1+1 is no formula."}


class EngineOfForms(Engine):
    """An engine with the model of a test, or none."""

    forms: FormModel | None = None

    def language_model(self) -> tuple[FormModel | None, str]:
        return self.forms, ""


@pytest.fixture
def engine(small_documents: Path, tmp_path: Path) -> Iterator[EngineOfForms]:
    engine = EngineOfForms(read_config(tmp_path / "workspace"), embedder=CountingEmbedder())
    engine.forms = FormModel()
    add_paths([small_documents], engine)
    yield engine
    engine.close()


@pytest.fixture
def model(engine: EngineOfForms) -> FormModel:
    assert engine.forms is not None
    return engine.forms


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "answers.xlsx"


def ask(engine: Engine, path: Path, **more: Any) -> AskedDocuments:
    return ask_each_document(engine, QUESTION, SCHEMA, path, **more)


def rows(path: Path, sheet: str = "Documents") -> list[dict[str, Any]]:
    """Return the rows of a sheet by their headings."""
    head, *others = openpyxl.load_workbook(path)[sheet].iter_rows(values_only=True)
    return [dict(zip(map(str, head), row, strict=True)) for row in others]


def test_each_document_is_asked_with_its_own_passages_and_has_a_row(
    engine: EngineOfForms, model: FormModel, path: Path
) -> None:
    done = ask(engine, path)
    assert (done.documents, done.asked, done.failed) == (3, 3, ())
    assert [("Talsperren" in one) + ("Milltown" in one) + ("percepita" in one) for one in model.read] == [1, 1, 1]
    found = {row["File"]: row for row in rows(path)}
    assert found["flood.md"]["measures"] == "1. The mayor orders the evacuation; 4.5 (page 1)"
    assert found["flood.md"]["Result"] == "answered"
    assert found["duerre.md"]["Result"] == "no answer"
    assert "left out" in found["duerre.md"]["Warnings"]


def test_a_record_has_a_row_with_page_and_quote_and_numbers_stay_numbers(engine: EngineOfForms, path: Path) -> None:
    ask(engine, path)
    [row] = rows(path, "Records")
    assert (row["metres"], row["Page"]) == (4.5, 1)
    assert "The mayor" in row["Quote"]


def test_no_cell_is_a_formula(engine: EngineOfForms, path: Path) -> None:
    ask(engine, path)
    workbook = openpyxl.load_workbook(path)
    cells = [cell for sheet in workbook for row in sheet.iter_rows() for cell in row]
    assert not [cell for cell in cells if cell.data_type == "f"]
    assert {cell.value for cell in workbook["Documents"]["E"]} >= {"note", "=1+1 is no formula."}


def test_an_interrupted_run_keeps_what_is_done_and_goes_on(engine: EngineOfForms, model: FormModel, path: Path) -> None:
    model.failing = {"Talsperren": KeyboardInterrupt()}
    with pytest.raises(KeyboardInterrupt):
        ask(engine, path)
    before = {row["File"] for row in rows(path)}
    model.failing = {}
    model.read.clear()
    assert ask(engine, path).asked == 3 - len(before)
    assert len(model.read) == 3 - len(before)
    assert {row["File"] for row in rows(path)} == {"flood.md", "caldo.md", "duerre.md"}
    assert [row["metres"] for row in rows(path, "Records")] == [4.5]


def test_a_document_that_failed_is_shown_and_asked_again(engine: EngineOfForms, model: FormModel, path: Path) -> None:
    model.failing = {"Talsperren": BackendError("too long")}
    assert ask(engine, path).failed == ("duerre.md",)
    assert {row["File"]: row["Result"] for row in rows(path)}["duerre.md"] == "failed"
    model.failing = {}
    done = ask(engine, path)
    assert (done.documents, done.asked, done.failed) == (3, 1, ())


def test_a_model_that_always_fails_ends_the_run(engine: EngineOfForms, model: FormModel, path: Path) -> None:
    model.failing = {"": BackendError("out of memory")}
    with pytest.raises(BackendError, match="out of memory"):
        ask(engine, path)


def test_without_a_model_no_file_is_made(engine: EngineOfForms, path: Path) -> None:
    engine.forms = None
    with pytest.raises(BackendError, match="need a language model"):
        ask(engine, path)
    assert not path.exists()


def test_filters_choose_the_documents_and_earlier_rows_stay(
    engine: EngineOfForms, model: FormModel, path: Path
) -> None:
    assert ask(engine, path, wanted={"language": ("it",)}).documents == 1
    assert ask(engine, path, wanted={"language": ("en",)}).documents == 2
    assert len(model.read) == 2


def test_a_document_that_left_the_collection_leaves_the_workbook(engine: EngineOfForms, path: Path) -> None:
    ask(engine, path)
    engine.collection.erase(engine.catalog.find_document("caldo.md"))
    ask(engine, path)
    assert {row["File"] for row in rows(path)} == {"flood.md", "duerre.md"}


def test_text_of_any_length_and_signs_survives_the_workbook(
    engine: EngineOfForms, model: FormModel, path: Path
) -> None:
    model.measure = EVACUATION | {"measure": "the evacuation _x0041_ \U0001f30a\x00 " + "orders the mayor " * 6_000}
    ask(engine, path)
    held = rows(path, "Records")
    ask(engine, path)
    assert rows(path, "Records") == held
    assert len(model.read) == 3


@pytest.mark.parametrize(
    ("name", "question", "said"),
    [
        ("answers.csv", QUESTION, "no name of a workbook"),
        ("nowhere/answers.xlsx", QUESTION, "cannot be written"),
        ("answers.xlsx", "Another question about the dyke?", "something else than this question"),
    ],
)
def test_a_file_that_cannot_take_the_answers_is_refused(
    engine: EngineOfForms, path: Path, name: str, question: str, said: str
) -> None:
    ask(engine, path)
    with pytest.raises(InputError, match=said):
        ask_each_document(engine, question, SCHEMA, path.parent / name)


def test_progress_counts_documents_and_names_the_one_at_hand(engine: EngineOfForms, path: Path) -> None:
    told: list[tuple[int, int, str]] = []
    ask(engine, path, progress=lambda *now: told.append(now))
    assert [one[:2] for one in told] == [(0, 3), (1, 3), (2, 3), (3, 3)]
    assert told[0][2]
