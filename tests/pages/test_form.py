"""Answers as a form on the page for questions, with a server that replies as a model would."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.pages.conftest import Start, texts
from tests.pages.test_ask import ask
from tests.rag_engine.backends.scripted_server import Reply, Script
from tests.rag_engine.backends.test_openai import serving_model, words

QUESTION = "What must a county council prepare?"
PLAN = {"query_1": "flood plan", "query_2": "council", "query_3": "plan", "output_instructions": ""}
MEASURE = {"measure": "prepare a local flood plan", "actor": "county council", "instrument": None, "citation": 1}


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> Iterator[Script]:
    form = json.dumps({"measures": [MEASURE | {"target_year": None, "status": None}], "note": None})
    replies = [Reply(words(reply)) for reply in (json.dumps(PLAN | {"geographic_scope": []}), form)]
    with serving_model(monkeypatch, *replies) as script:
        yield script


def test_a_form_is_drawn_as_a_table_whose_rows_lead_to_their_source(start: Start, own: Path, model: Script) -> None:
    app = start(own)
    app.selectbox(key="answer format").set_value("Policy measures").run()
    app = ask(app, QUESTION)
    assert not app.exception
    [table] = [one.value for one in app.markdown if one.value.startswith("| measure |")]
    assert "prepare a local flood plan | county council |" in table
    assert re.search(r"\(#answer-0-source-1 .*\) \|", table)
    assert len(app.get("image")) == 1

    assert any(":gray-badge[Answer format\\: Policy measures]" in one.value for one in app.markdown)

    again = start(own, conversation=app.query_params["conversation"])
    assert any(one.value == table for one in again.markdown)


def test_a_form_without_a_model_says_what_is_missing(start: Start, own: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEXTANT_OLLAMA_URL", "http://127.0.0.1:9")
    app = start(own)
    app.selectbox(key="answer format").set_value("Policy measures").run()
    assert "Structured answers need a language model" in texts(ask(app, QUESTION))
