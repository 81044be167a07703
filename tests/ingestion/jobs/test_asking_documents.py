"""A question to each document as a run of the worker: it is paused, taken up again, and asked through the terminal."""

from __future__ import annotations

import json
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import openpyxl
import pytest
from typer.testing import CliRunner

from cli.main import app
from ingestion.add_files import add_paths
from ingestion.dataset.answer_store import AnswerStore
from ingestion.dataset.document_answers import DocumentsRequest
from ingestion.jobs.worker import work
from ingestion.operations import corrections, dataset, documents, runs
from ingestion.operations.answers import ask_documents, remove_answers
from ingestion.operations.desk import Desk, open_desk
from rag_engine.answering.structured.answer_schema import read_schema
from rag_engine.config import DATA, Config, read_config
from rag_engine.conversations.person import LOCAL
from rag_engine.engine import Engine
from rag_engine.errors import BackendError, InputError
from tests.conftest import ROOT
from tests.rag_engine.conftest import CountingEmbedder, unread

QUESTION = "Who orders the evacuation?"
POLICY = DATA / "schemas" / "policy.json"
REQUEST = DocumentsRequest(QUESTION, read_schema(POLICY), {})
TOWNS = ("Cork", "Galway", "Milltown")


class FormModel:
    """A model that finds an evacuation in every document; `reading` is called before it replies."""

    name = "form model"
    quotes_only = False
    context_window = 8192

    def __init__(self) -> None:
        self.read = 0
        self.reading: Callable[[], None] = lambda: None

    def stream(self, prompt: object) -> Iterator[str]:
        raise BackendError("not asked")

    def complete_json(self, system: str, user: str, schema: dict[str, object], *, seconds: float) -> dict[str, object]:
        if "measures" not in schema["required"]:  # type: ignore[operator]
            raise BackendError("no plan")
        self.read += 1
        self.reading()
        return {"measures": [{"measure": "The mayor orders the evacuation", "actor": "mayor", "citation": 1}]}


class EngineOfForms(Engine):
    """An engine with the model of a test."""

    forms: FormModel | None = None

    def language_model(self) -> tuple[FormModel | None, str]:
        return self.forms, ""


@pytest.fixture
def model() -> FormModel:
    return FormModel()


@pytest.fixture
def open_one(model: FormModel) -> Callable[[Config], EngineOfForms]:
    def opened(config: Config) -> EngineOfForms:
        engine = EngineOfForms(unread(config.workspace), embedder=CountingEmbedder())
        engine.forms = model
        return engine

    return opened


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a workspace with three plans."""
    plans = tmp_path_factory.mktemp("plans")
    for town in TOWNS:
        text = f"# Flood plan of {town}\n\nThe mayor orders the evacuation of {town}.\n"
        (plans / f"{town.lower()}.md").write_text(text, encoding="utf-8")
    workspace = tmp_path_factory.mktemp("made") / "workspace"
    with closing(Engine(unread(workspace), embedder=CountingEmbedder())) as engine:
        add_paths([plans], engine)
    return workspace


@pytest.fixture
def desk(made: Path, open_one: Callable[[Config], EngineOfForms], tmp_path: Path) -> Iterator[Desk]:
    """Return a desk at a copy of it, at which nobody starts a worker."""
    with closing(open_one(read_config(shutil.copytree(made, tmp_path / "workspace")))) as engine:
        yield replace(open_desk(engine, LOCAL), start_worker=lambda _: None)


def answered(desk: Desk) -> set[str]:
    return {one.file for form in dataset.answered_forms(desk) for one in form.answers.values()}


def test_the_worker_asks_every_document_and_counts_them(desk: Desk, model: FormModel) -> None:
    asked = ask_documents(desk, REQUEST)
    work(desk.engine)
    run = desk.jobs.find(asked.id)
    assert run is not None
    assert run.status == "done"
    assert run.results[0]["documents"] == run.results[0]["asked"] == 3
    assert answered(desk) == {"cork.md", "galway.md", "milltown.md"}


def test_a_paused_run_keeps_its_rows_and_the_same_request_continues_it(desk: Desk, model: FormModel) -> None:
    asked = ask_documents(desk, REQUEST)

    def pause() -> None:
        runs.control(desk, "pause", asked.id)
        before, deadline = time.time(), time.monotonic() + 30
        # A heartbeat that began after the signal was given has heard it.
        while (run := desk.jobs.find(asked.id)) is None or run.heartbeat < before + 0.6:
            assert time.monotonic() < deadline
            threading.Event().wait(0.05)

    model.reading = pause
    work(desk.engine)
    assert desk.jobs.runs()[0].status == "paused"
    assert len(answered(desk)) == 1
    model.reading = lambda: None
    assert ask_documents(desk, REQUEST).id == asked.id
    work(desk.engine)
    assert desk.jobs.runs()[0].status == "done"
    assert (len(answered(desk)), model.read) == (3, 3)


def test_what_a_killed_worker_has_asked_is_not_asked_again(desk: Desk, model: FormModel) -> None:
    ask_documents(desk, REQUEST)

    def die() -> None:
        if model.read == 2:
            raise KeyboardInterrupt

    model.reading = die
    with pytest.raises(KeyboardInterrupt):
        work(desk.engine)
    assert len(answered(desk)) == 1
    model.reading = lambda: None
    ask_documents(desk, REQUEST)
    work(desk.engine)
    assert desk.jobs.runs()[0].results[0]["asked"] == 2


def test_a_request_that_waits_already_is_not_queued_twice(desk: Desk) -> None:
    first = ask_documents(desk, REQUEST)
    assert ask_documents(desk, REQUEST).id == first.id
    assert ask_documents(desk, replace(REQUEST, question="Who pays?")).id != first.id


def test_what_cannot_be_asked_is_refused_before_it_waits(desk: Desk) -> None:
    with pytest.raises(InputError, match="Narnia"):
        ask_documents(desk, replace(REQUEST, wanted={"country": ("Narnia",)}))
    assert isinstance(desk.engine, EngineOfForms)
    desk.engine.forms = None
    with pytest.raises(BackendError, match="need a language model"):
        ask_documents(desk, REQUEST)
    assert all(run.action != "ask" for run in desk.jobs.runs())


def test_an_erased_document_leaves_no_answer_behind(desk: Desk) -> None:
    ask_documents(desk, REQUEST)
    work(desk.engine)
    documents.erase(desk, "cork.md")
    [form] = AnswerStore(desk.engine.catalog).forms()
    assert {one.file for one in form.answers.values()} == {"galway.md", "milltown.md"}


def test_the_dataset_has_sheets_for_the_schema_that_no_import_takes_for_its_own(desk: Desk, tmp_path: Path) -> None:
    ask_documents(desk, REQUEST)
    work(desk.engine)
    file = tmp_path / "dataset.xlsx"
    dataset.export_dataset(desk, file)
    workbook = openpyxl.load_workbook(file)
    assert workbook.sheetnames[-2:] == ["Policy measures", "Policy measures records"]
    assert workbook["Policy measures"].max_row == 4
    report = corrections.read_edited(desk, file, "Ada")
    assert (report.corrections, report.decisions, report.rejected) == ((), (), ())


def test_a_question_is_removed_with_its_answers(desk: Desk) -> None:
    ask_documents(desk, REQUEST)
    work(desk.engine)
    [form] = dataset.answered_forms(desk)
    remove_answers(desk, form.id)
    assert dataset.answered_forms(desk) == []


@pytest.fixture
def terminal(
    desk: Desk, open_one: Callable[[Config], EngineOfForms], monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Any]:
    """Return the command in the terminal, whose worker carries out its run in this process."""

    def work_here(workspace: Path) -> None:
        with closing(open_one(read_config(workspace))) as engine:
            work(engine)

    monkeypatch.setattr("rag_engine.engine.open_engine", open_one)
    monkeypatch.setattr("ingestion.jobs.process.ensure_worker", work_here)
    monkeypatch.setattr(Desk.__init__, "__defaults__", (work_here,))
    words = ["ask", QUESTION, "--schema", str(POLICY), "-w", str(desk.workspace), "--each-document"]
    return lambda *more: CliRunner().invoke(app, [*words, *map(str, more)])


def test_the_terminal_writes_the_workbook_and_its_reply_has_the_fixed_shape(
    terminal: Callable[..., Any], tmp_path: Path
) -> None:
    path = tmp_path / "answers.xlsx"
    result = terminal(path, "--json")
    assert result.exit_code == 0, result.output
    contract = json.loads((ROOT / "data" / "contract.schema.json").read_text())
    reply = json.loads(result.stdout)
    jsonschema.validate(reply, {"$ref": "#/$defs/each_document", "$defs": contract["$defs"]})
    assert (reply["documents"], reply["asked"]) == (3, 3)
    assert openpyxl.load_workbook(path).sheetnames == ["Policy measures", "Policy measures records"]
    again = json.loads(terminal(path, "--json").stdout)
    assert (again["documents"], again["asked"]) == (3, 0)


def test_the_terminal_says_what_is_kept_where_the_model_fails(
    terminal: Callable[..., Any], model: FormModel, tmp_path: Path
) -> None:
    def fail() -> None:
        if model.read > 1:
            raise BackendError("out of memory")

    model.reading = fail
    result = terminal(tmp_path / "answers.xlsx")
    # The first of three was asked; the other two failed, one after the other.
    assert result.exit_code == 1
    assert "could not be asked" in result.output
    model.reading = lambda: None
    assert terminal(tmp_path / "answers.xlsx").exit_code == 0


def test_the_terminal_refuses_a_place_without_a_folder_before_anything_is_queued(
    terminal: Callable[..., Any], desk: Desk, tmp_path: Path
) -> None:
    result = terminal(tmp_path / "nowhere" / "answers.xlsx")
    assert result.exit_code == 2
    assert "there is no folder" in result.output
    assert desk.jobs.runs() == []
