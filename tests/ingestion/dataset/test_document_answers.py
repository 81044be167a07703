"""A question asked of each document: rows that are kept as they come, and the workbook that shows them."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import openpyxl
import pytest

from ingestion.add_files import add_paths
from ingestion.dataset.answer_sheets import answer_sheets, of_present, require_workbook_path, write_answers
from ingestion.dataset.answer_store import AnsweredForm, AnswerStore, DocumentAnswer, StatedRecord
from ingestion.dataset.document_answers import AskedDocuments, DocumentsRequest, ask_each_document, request_of
from ingestion.types import Progress
from rag_engine.answering.structured.answer_schema import parse_schema
from rag_engine.config import read_config
from rag_engine.engine import Engine
from rag_engine.errors import BackendError, InputError
from rag_engine.storage.catalog import describe_document
from rag_engine.types import Attribute
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
        self.reading: Callable[[], None] = lambda: None

    def stream(self, prompt: object) -> Iterator[str]:
        raise BackendError("not asked")

    def complete_json(self, system: str, user: str, schema: dict[str, object], *, seconds: float) -> dict[str, object]:
        if "measures" not in schema["required"]:  # type: ignore[operator]
            raise BackendError("no plan")
        self.read.append(user)
        self.reading()
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


REQUEST = DocumentsRequest(QUESTION, SCHEMA, {})


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "answers.xlsx"


def ask(engine: Engine, request: DocumentsRequest = REQUEST, **more: Any) -> AskedDocuments:
    return ask_each_document(engine, AnswerStore(engine.catalog), request, **more)


def write(engine: Engine, path: Path) -> None:
    present = [record.document_id for record in engine.collection.documents()]
    write_answers(path, of_present(AnswerStore(engine.catalog).forms(), present))


def rows(path: Path, sheet: str = "measures") -> list[dict[str, Any]]:
    """Return the rows of a sheet by their headings."""
    head, *others = openpyxl.load_workbook(path)[sheet].iter_rows(values_only=True)
    return [dict(zip(map(str, head), row, strict=True)) for row in others]


def asked_rows(engine: Engine, path: Path, sheet: str = "measures") -> list[dict[str, Any]]:
    """Ask every document, and return the rows of a sheet of the workbook."""
    ask(engine)
    write(engine, path)
    return rows(path, sheet)


def answered(engine: Engine) -> dict[str, str]:
    """Return the status of each file with a reply."""
    return {one.file: one.status for form in AnswerStore(engine.catalog).forms() for one in form.answers.values()}


def test_each_document_is_asked_with_its_own_passages_and_has_a_row(
    engine: EngineOfForms, model: FormModel, path: Path
) -> None:
    done = ask(engine)
    assert (done.documents, done.asked, done.failed) == (3, 3, ())
    assert [[town for town in TOWNS if town in read] for read in model.read] == [[town] for town in TOWNS]
    write(engine, path)
    found = {row["File"]: row for row in rows(path)}
    assert {row["Question"] for row in found.values()} == {QUESTION}
    assert found["milltown.md"]["measures"] == "1. The mayor orders the evacuation; 4.5"
    assert found["cork.md"]["measures"] == "1. The mayor orders the evacuation"
    assert (found["galway.md"]["Result"], found["galway.md"]["measures"]) == ("no answer", None)
    assert "left out" in found["galway.md"]["Warnings"]


def test_a_record_has_a_row_with_page_and_quote_and_numbers_stay_numbers(engine: EngineOfForms, path: Path) -> None:
    row = next(row for row in asked_rows(engine, path, "measures records") if row["File"] == "milltown.md")
    assert (row["metres"], row["Page"]) == (4.5, None)
    assert "The mayor" in row["Quote"]


def test_no_cell_is_a_formula(engine: EngineOfForms, path: Path) -> None:
    asked_rows(engine, path)
    workbook = openpyxl.load_workbook(path)
    cells = [cell for sheet in workbook for row in sheet.iter_rows() for cell in row]
    assert not [cell for cell in cells if cell.data_type == "f"]
    assert {cell.value for cell in workbook["measures"]["F"]} >= {"note", "=the mayor orders."}


def test_a_run_that_breaks_off_keeps_its_rows_and_goes_on(engine: EngineOfForms, model: FormModel) -> None:
    model.failing = {"Galway": KeyboardInterrupt()}
    with pytest.raises(KeyboardInterrupt):
        ask(engine)
    before = answered(engine)
    model.failing = {}
    model.read.clear()
    assert ask(engine).asked == len(model.read) == 3 - len(before)
    assert answered(engine).keys() == {"milltown.md", "cork.md", "galway.md"}


def test_a_run_that_is_stopped_ends_after_the_document_it_is_at(engine: EngineOfForms, model: FormModel) -> None:
    done = ask(engine, stopped=lambda: len(model.read) == 1)
    assert (done.documents, done.asked) == (1, 1)


def test_a_document_that_failed_is_shown_and_asked_again(engine: EngineOfForms, model: FormModel) -> None:
    model.failing = {"Galway": BackendError("too long")}
    assert ask(engine).failed == ("galway.md",)
    assert answered(engine)["galway.md"] == "failed"
    model.failing = {}
    done = ask(engine)
    assert (done.documents, done.asked, done.failed) == (3, 1, ())


def test_a_model_that_always_fails_ends_the_run(engine: EngineOfForms, model: FormModel) -> None:
    model.failing = {"": BackendError("out of memory")}
    with pytest.raises(BackendError, match="out of memory"):
        ask(engine)


def test_without_a_model_nothing_is_asked(engine: EngineOfForms) -> None:
    engine.forms = None
    with pytest.raises(BackendError, match="need a language model"):
        ask(engine)
    assert answered(engine) == {}


def test_filters_choose_the_documents_and_earlier_rows_stay(engine: EngineOfForms, model: FormModel) -> None:
    first, second, _ = (record.document_id for record in engine.collection.documents())
    assert ask(engine, replace(REQUEST, wanted={"document": (first,)})).documents == 1
    assert ask(engine, replace(REQUEST, wanted={"document": (second,)})).documents == 2
    assert len(model.read) == 2


def test_a_document_that_left_the_collection_leaves_the_rows(engine: EngineOfForms, path: Path) -> None:
    ask(engine)
    engine.collection.erase(engine.catalog.find_document("cork.md"))
    write(engine, path)
    assert {row["File"] for row in rows(path)} == {"milltown.md", "galway.md"}
    ask(engine)
    assert answered(engine).keys() == {"milltown.md", "galway.md"}


def test_what_is_being_asked_of_a_document_while_it_is_erased_is_not_kept(
    engine: EngineOfForms, model: FormModel
) -> None:
    def erase_it() -> None:
        if "Cork" in model.read[-1]:
            engine.collection.erase(engine.catalog.find_document("cork.md"))

    model.reading = erase_it
    ask(engine)
    assert answered(engine).keys() == {"milltown.md", "galway.md"}


def test_text_of_any_length_and_signs_survives_the_catalog_and_fits_the_workbook(
    engine: EngineOfForms, path: Path
) -> None:
    [id, *_] = (record.document_id for record in engine.collection.documents())
    text = "the evacuation _x0041_ \U0001f30a\x00 " + "orders the mayor " * 6_000
    record = StatedRecord((Attribute("measure", text), Attribute("metres", 4)), 1, text, "c")
    reply = DocumentAnswer(id, text, "plan.md", "answered", (Attribute("note", ("a", "b")),), (record,), "m", (text,))
    store = AnswerStore(engine.catalog)
    store.put(store.open(QUESTION, SCHEMA).id, reply)
    assert store.open(QUESTION, SCHEMA).answers == {id: reply}
    write(engine, path)
    [row] = rows(path, "measures records")
    assert row["measure"].startswith("the evacuation _x005F_x0041_ \U0001f30a")
    assert row["metres"] == 4


def test_a_row_of_a_record_has_what_a_reference_and_a_reuse_need(engine: EngineOfForms, path: Path) -> None:
    for record in engine.collection.documents():
        known = replace(record.metadata, authority="Town Council", year=2021, licence="CC BY-NC-ND 4.0")
        with engine.catalog.begin() as connection:
            describe_document(connection, record.key, known)
    ask(engine)
    write(engine, path)
    [row, *_] = rows(path, "measures records")
    assert [row[name] for name in ("Authority", "Year", "Licence", "Licence limits")] == [
        "Town Council",
        2021,
        "CC BY-NC-ND 4.0",
        "no commercial use; no changes",
    ]


def test_a_request_survives_the_job_queue(engine: EngineOfForms) -> None:
    request = DocumentsRequest(QUESTION, SCHEMA, {"hazard": ("Flood",)}, engine.retrieval(top_k=3))
    assert request_of(json.loads(json.dumps(request.to_json()))) == request


def test_before_the_first_reply_the_workbook_is_empty(engine: EngineOfForms, path: Path) -> None:
    write(engine, path)
    assert rows(path, "Answers") == []


def test_questions_of_one_schema_share_its_sheets_and_another_schema_has_its_own(
    engine: EngineOfForms, path: Path
) -> None:
    ask(engine)
    ask(engine, replace(REQUEST, question="Who orders the evacuation?"))
    ask(engine, replace(REQUEST, schema=replace(SCHEMA, most=3)))
    write(engine, path)
    assert openpyxl.load_workbook(path).sheetnames == [
        "measures", "measures records", "measures 2", "measures 2 records",
    ]  # fmt: skip
    assert [row["Question"] for row in rows(path)] == [QUESTION] * 3 + ["Who orders the evacuation?"] * 3


def test_the_name_of_a_sheet_is_one_that_a_spreadsheet_takes() -> None:
    reply = DocumentAnswer("0" * 12, "Plan", "plan.md", "no answer")
    form = AnsweredForm(
        "1", QUESTION, replace(SCHEMA, title="Dataset: what [each] plan says of its measures"), {"0": reply}
    )
    names = [sheet.name for sheet in answer_sheets([form], ["Dataset what each plan"])]
    assert names == ["Dataset what each pla 2", "Dataset what each pla 2 records"]
    assert max(map(len, names)) <= 31


@pytest.mark.parametrize(
    ("name", "said"), [("answers.csv", "does not name a workbook"), ("nowhere/answers.xlsx", "cannot be written")]
)
def test_a_place_where_no_workbook_can_be_written_is_refused(tmp_path: Path, name: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        require_workbook_path(tmp_path / name)


def test_progress_counts_documents_and_names_the_one_at_hand(engine: EngineOfForms) -> None:
    told: list[Progress] = []
    ask(engine, progress=told.append)
    assert [(one.done, one.total) for one in told] == [(0, 3), (1, 3), (2, 3), (3, 3)]
    assert told[0].current
