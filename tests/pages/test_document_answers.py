"""One question to each document, on the Dataset tab."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from ingestion.dataset.answer_store import AnswerStore, DocumentAnswer
from ingestion.operations.dataset import answered_forms
from ingestion.operations.desk import Desk, open_desk
from pages._shared import resources
from rag_engine.answering.structured.answer_schema import read_schema
from rag_engine.config import DATA
from rag_engine.conversations.person import LOCAL
from tests.pages.test_admin import admin, words
from tests.pages.test_form import model

Start = Callable[..., AppTest]
QUESTION = "What must a county council prepare?"

# Fixture of the tests of forms.
__all__ = ["model"]


@pytest.fixture
def own(collection: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a copy of the collection at which nobody starts a worker."""
    monkeypatch.setattr("pages._shared.jobs.ensure_worker", lambda _: None)
    monkeypatch.setattr(Desk.__init__, "__defaults__", (lambda _: None,))
    return Path(shutil.copytree(collection, tmp_path / "workspace"))


def answer_one(desk: Desk) -> None:
    """Keep the reply of one document."""
    store = AnswerStore(desk.engine.catalog)
    form = store.open(QUESTION, read_schema(DATA / "schemas" / "policy.json"))
    record = desk.engine.collection.documents()[0]
    store.put(form.id, DocumentAnswer(record.document_id, "Plan", record.file, "no answer"))


def pressed(app: AppTest, label: str) -> AppTest:
    return next(one for one in app.button if one.label == label).click().run()


@pytest.mark.usefixtures("model")
def test_asking_puts_a_run_into_the_queue_that_can_be_paused(start: Start, own: Path) -> None:
    app = admin(start(own), "dataset")
    app.text_input(key="documents question").set_value(QUESTION).run()
    app = pressed(app, "Ask each document")
    assert not app.exception
    [run] = resources.jobs().runs()
    assert (run.action, run.arguments["question"], run.status) == ("ask", QUESTION, "queued")
    assert "Asking each document: What must a county council prepare" in words(app)
    app.button(key=f"pause {run.id}").click().run()
    assert resources.jobs().runs()[0].status == "paused"


def test_without_a_model_the_page_names_the_remedy(start: Start, own: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEXTANT_OLLAMA_URL", "http://127.0.0.1:9")
    app = admin(start(own), "dataset")
    app.text_input(key="documents question").set_value(QUESTION).run()
    app = pressed(app, "Ask each document")
    assert "need a language model" in words(app)
    assert resources.jobs().runs() == []


def test_a_question_is_shown_with_its_counts_and_removed_after_a_second_press(start: Start, own: Path) -> None:
    start(own)
    answer_one(open_desk(resources.engine(), LOCAL))
    app = admin(start(own), "dataset")
    assert "1 document: 1 no answer." in words(app)
    app = pressed(app, "Remove")
    assert len(answered_forms(resources.desk())) == 1
    pressed(app, "Remove all answers")
    assert answered_forms(resources.desk()) == []
