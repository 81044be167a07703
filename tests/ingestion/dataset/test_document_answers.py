"""A question asked of each document, in a workbook that grows and goes on where it was."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import jsonschema
import openpyxl
import pytest

from ingestion.add_files import add_paths
from ingestion.dataset.document_answers import AskedDocuments, ask_each_document
from rag_engine.answering.structured.answer_schema import parse_schema
from rag_engine.config import read_config
from rag_engine.engine import Engine
from rag_engine.errors import BackendError, InputError
from tests.conftest import ROOT
from tests.rag_engine.conftest import CountingEmbedder

QUESTION = "When do residents near the dyke leave their homes?"
TEXT = """# Flood plan of {town}

Residents near the dyke of {town} leave their homes when the gauge passes {metres} metres. {order}
"""
TOWNS = ["Cork", "Galway", "Milltown"]
ORDER = "The mayor orders the evacuation, and the fire service carries it out."
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
        return {"measures": [self.measure], "note": "=the mayor orders."}


class EngineOfForms(Engine):
    """An engine with the model of a test, or none."""

    forms: FormModel | None = None

    def language_model(self) -> tuple[FormModel | None, str]:
        return self.forms, ""


@pytest.fixture(scope="module")
def plans(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a workspace of three plans, of which only Milltown's says who orders the evacuation at 4.5 metres."""
    folder = tmp_path_factory.mktemp("plans")
    for town, metres, order in (("Milltown", "4.5", ORDER), ("Cork", "5.5", ORDER), ("Galway", "4.5", "")):
        (folder / f"{town.lower()}.md").write_text(TEXT.format(town=town, metres=metres, order=order))
    workspace = tmp_path_factory.mktemp("asked") / "workspace"
    engine = Engine(read_config(workspace), embedder=CountingEmbedder())
    add_paths([folder], engine)
    engine.close()
    return workspace


@pytest.fixture
def engine(plans: Path, tmp_path: Path) -> Iterator[EngineOfForms]:
    own = shutil.copytree(plans, tmp_path / "workspace")
    config = read_config(own)
    # How much a reranker can read in time would be measured for each of these workspaces.
    config = replace(config, retrieval=replace(config.retrieval, rerank=False))
    engine = EngineOfForms(config, embedder=CountingEmbedder())
    engine.forms = FormModel()
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
    assert [[town for town in TOWNS if town in read] for read in model.read] == [[town] for town in TOWNS]
    found = {row["File"]: row for row in rows(path)}
    assert found["milltown.md"]["measures"] == "1. The mayor orders the evacuation; 4.5 (page 1)"
    assert found["cork.md"]["measures"] == "1. The mayor orders the evacuation (page 1)"
    assert (found["galway.md"]["Result"], found["galway.md"]["measures"]) == ("no answer", None)
    assert "left out" in found["galway.md"]["Warnings"]


def test_a_record_has_a_row_with_page_and_quote_and_numbers_stay_numbers(engine: EngineOfForms, path: Path) -> None:
    ask(engine, path)
    row = next(row for row in rows(path, "Records") if row["File"] == "milltown.md")
    assert (row["metres"], row["Page"]) == (4.5, 1)
    assert "The mayor" in row["Quote"]


def test_no_cell_is_a_formula(engine: EngineOfForms, path: Path) -> None:
    ask(engine, path)
    workbook = openpyxl.load_workbook(path)
    cells = [cell for sheet in workbook for row in sheet.iter_rows() for cell in row]
    assert not [cell for cell in cells if cell.data_type == "f"]
    assert {cell.value for cell in workbook["Documents"]["E"]} >= {"note", "=the mayor orders."}


def test_an_interrupted_run_keeps_what_is_done_and_goes_on(engine: EngineOfForms, model: FormModel, path: Path) -> None:
    model.failing = {"Galway": KeyboardInterrupt()}
    with pytest.raises(KeyboardInterrupt):
        ask(engine, path)
    before = {row["File"] for row in rows(path)}
    model.failing = {}
    model.read.clear()
    assert ask(engine, path).asked == 3 - len(before)
    assert len(model.read) == 3 - len(before)
    assert {row["File"] for row in rows(path)} == {"milltown.md", "cork.md", "galway.md"}
    assert [row["metres"] for row in rows(path, "Records")] == [None, 4.5]


def test_a_document_that_failed_is_shown_and_asked_again(engine: EngineOfForms, model: FormModel, path: Path) -> None:
    model.failing = {"Galway": BackendError("too long")}
    assert ask(engine, path).failed == ("galway.md",)
    assert {row["File"]: row["Result"] for row in rows(path)}["galway.md"] == "failed"
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
    first, second, _ = (record.document_id for record in engine.collection.documents())
    assert ask(engine, path, wanted={"document": (first,)}).documents == 1
    assert ask(engine, path, wanted={"document": (second,)}).documents == 2
    assert len(model.read) == 2


def test_a_document_that_left_the_collection_leaves_the_workbook(engine: EngineOfForms, path: Path) -> None:
    ask(engine, path)
    engine.collection.erase(engine.catalog.find_document("cork.md"))
    ask(engine, path)
    assert {row["File"] for row in rows(path)} == {"milltown.md", "galway.md"}


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
    ("name", "said"), [("answers.csv", "no name of a workbook"), ("nowhere/answers.xlsx", "cannot be written")]
)
def test_a_file_that_cannot_be_written_is_refused_before_the_model_is_asked(
    engine: EngineOfForms, model: FormModel, path: Path, name: str, said: str
) -> None:
    with pytest.raises(InputError, match=said):
        ask(engine, path.parent / name)
    assert model.read == []


def test_a_workbook_of_another_question_is_not_touched(engine: EngineOfForms, path: Path) -> None:
    ask(engine, path)
    before = path.read_bytes()
    with pytest.raises(InputError, match="something else than this question"):
        ask_each_document(engine, "Another question about the dyke?", SCHEMA, path)
    assert path.read_bytes() == before


def test_what_a_program_reads_of_a_run_has_the_fixed_shape(engine: EngineOfForms, path: Path) -> None:
    contract = json.loads((ROOT / "data" / "contract.schema.json").read_text())
    reply = json.loads(json.dumps(asdict(ask(engine, path)) | {"path": str(path)}))
    jsonschema.validate(reply, {"$ref": "#/$defs/each_document", "$defs": contract["$defs"]})


def test_progress_counts_documents_and_names_the_one_at_hand(engine: EngineOfForms, path: Path) -> None:
    told: list[tuple[int, int, str]] = []
    ask(engine, path, progress=lambda *now: told.append(now))
    assert [one[:2] for one in told] == [(0, 3), (1, 3), (2, 3), (3, 3)]
    assert told[0][2]
