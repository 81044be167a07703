"""`sextant ask --schema` as a person or a program uses it, with a server that replies as a model would."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from typer.testing import CliRunner, Result

from cli.main import app
from tests.conftest import ROOT
from tests.rag_engine.backends.scripted_server import Reply, Script, serving
from tests.rag_engine.backends.test_openai import CHAT, words

CONTRACT = json.loads((ROOT / "data" / "contract.schema.json").read_text())
POLICY = ROOT / "data" / "schemas" / "policy.json"
QUESTION = "When do residents near the dyke have to leave?"
PLAN = {
    "query_1": "dyke",
    "query_2": "evacuation",
    "query_3": "gauge",
    "output_instructions": "",
    "geographic_scope": [],
}
FORM = {
    "measures": [
        {"measure": "the mayor orders the evacuation", "actor": "mayor", "instrument": None, "target_year": None}
        | {"status": None, "citation": 1},
        {
            "measure": "build a dam",
            "actor": None,
            "instrument": None,
            "target_year": 2040,
            "status": None,
            "citation": 1,
        },
    ],
    "note": None,
}


def said(reply: dict[str, Any]) -> Reply:
    return Reply(words(json.dumps(reply)))


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> Iterator[Script]:
    """Serve a model; what it replies to is one question after the other."""
    with serving(Script({"/v1/models/m": Reply((b'{"id": "m", "max_model_len": 8192}',))})) as script:
        monkeypatch.setenv("SEXTANT_OPENAI_URL", f"{script.url}/v1")
        monkeypatch.setenv("SEXTANT_OPENAI_MODEL", "m")
        yield script


def run(workspace: Path, *words: object) -> Result:
    return CliRunner().invoke(app, ["ask", QUESTION, *map(str, words), "-w", str(workspace)])


def test_a_form_is_printed_as_json_with_the_page_of_each_record(small_workspace: Path, model: Script) -> None:
    model.replies[CHAT] = [said(PLAN), said(FORM)]
    result = run(small_workspace, "--schema", POLICY, "--json")
    reply = json.loads(result.stdout)
    jsonschema.validate(reply, {"$ref": "#/$defs/structured", "$defs": CONTRACT["$defs"]})
    [measure] = reply["answer"]["measures"]
    assert (measure["actor"], measure["citation"]["file"], measure["citation"]["page"]) == ("mayor", "flood.md", 1)
    assert "evacuation" in measure["citation"]["quote"]
    assert any("“build a dam”" in warning for warning in reply["warnings"])


def test_a_form_is_printed_as_a_table(small_workspace: Path, model: Script) -> None:
    model.replies[CHAT] = [said(PLAN), said(FORM)]
    result = run(small_workspace, "--schema", POLICY)
    assert result.exit_code == 0
    head, row = (line.split() for line in result.stdout.splitlines()[1:3])
    assert head == ["measure", "actor", "instrument", "target_year", "status", "source", "page"]
    assert row[-5:] == ["–", "–", "–", "1", "1"]
    assert "(flood.md)" in result.stdout


def test_without_a_model_the_cure_is_named(small_workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEXTANT_OLLAMA_URL", "http://127.0.0.1:9")
    result = run(small_workspace, "--schema", POLICY, "--json")
    assert result.exit_code == 2
    reply = json.loads(result.stdout)
    jsonschema.validate(reply, {"$ref": "#/$defs/error", "$defs": CONTRACT["$defs"]})
    assert "Structured answers need a language model" in reply["error"]
    assert "ollama pull" in reply["error"]


def test_a_schema_that_cannot_be_used_is_named_before_a_model_is_asked(
    small_workspace: Path, model: Script, tmp_path: Path
) -> None:
    file = tmp_path / "mine.json"
    file.write_text('{"type": "object", "properties": {}}')
    result = run(small_workspace, "--schema", file)
    assert result.exit_code == 2
    assert "mine.json" in result.output
    assert model.asked == []
