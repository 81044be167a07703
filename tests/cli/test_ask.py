"""`sextant ask --schema` as a person or a program uses it, with a server that replies as a model."""

import json
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from cli.ask import _print_structured
from cli.main import app
from rag_engine.answering.citations import citation_at
from rag_engine.answering.structured.answer_schema import read_schema
from rag_engine.config import read_config
from rag_engine.engine import open_engine
from rag_engine.messages import Message
from rag_engine.types.answer import Attribute, CitedRecord, StructuredAnswer
from tests.cli.conftest import fixed
from tests.conftest import ROOT
from tests.rag_engine.backends.scripted_server import Reply, Script
from tests.rag_engine.backends.test_openai import CHAT, serving_model, words
from tests.rag_engine.conftest import make_evidence, make_source

POLICY = ROOT / "data" / "schemas" / "policy.json"
QUESTION = "When do residents near the dyke have to leave?"
PLAN = {
    "query_1": "dyke",
    "query_2": "evacuation",
    "query_3": "gauge",
    "output_instructions": "",
    "geographic_scope": [],
}
MEASURE: dict[str, object] = dict.fromkeys(("actor", "instrument", "target_year", "status")) | {"citation": 1}
FORM: dict[str, list[dict[str, object]] | None] = {
    "measures": [
        MEASURE | {"measure": "the mayor orders the evacuation", "actor": "mayor"},
        MEASURE | {"measure": "build a dam", "target_year": 2040},
    ],
    "note": None,
}


def said(reply: dict[str, Any]) -> Reply:
    return Reply(words(json.dumps(reply)))


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> Iterator[Script]:
    """Serve a model; what it replies to is one question after the other."""
    monkeypatch.setenv("SEXTANT_RERANKER", "none")
    with serving_model(monkeypatch) as script:
        yield script


def run(workspace: Path, *words: object) -> Result:
    return CliRunner().invoke(app, ["ask", QUESTION, *map(str, words), "-w", str(workspace)])


def test_a_form_is_printed_as_json_with_the_page_of_each_record(small_workspace: Path, model: Script) -> None:
    model.replies[CHAT] = [said(PLAN), said(FORM)]
    result = run(small_workspace, "--schema", "policy", "--json")
    reply = fixed("structured", result.stdout)
    [measure] = reply["answer"]["measures"]
    assert (measure["actor"], measure["citation"]["file"], measure["citation"]["page"]) == ("mayor", "flood.md", 1)
    assert "evacuation" in measure["citation"]["quote"]
    [reference] = reply["references"]
    assert (reference["file"], reference["pages"]) == ("flood.md", [1])
    assert any("“build a dam”" in warning for warning in reply["warnings"])


def test_a_record_is_bound_to_the_passage_that_holds_its_quote(small_workspace: Path, model: Script) -> None:
    """Also where the search found another passage of the text that was read."""
    model.replies[CHAT] = [said(PLAN), said(FORM)]
    with closing(open_engine(read_config(small_workspace))) as engine:
        evidence = engine.search(QUESTION)
        right = [source.hits[0].child_id for source in evidence.sources]
        sources = tuple(
            replace(one, hits=(replace(one.hits[0], child_id="another", end=one.hits[0].start + 1),))
            for one in evidence.sources
        )
        answer = engine.structure(replace(evidence, sources=sources), read_schema(POLICY))
        [record] = answer.records
        assert record.citation.child_id in right
        document = engine.catalog.find_document(record.citation.document_id)
        texts = [child.text for child in engine.catalog.document_children(document.key)]
        assert any(record.citation.quote in text for text in texts)


def test_a_form_is_printed_as_a_table_with_source_and_page(capsys: pytest.CaptureFixture[str]) -> None:
    source = make_source(3, "The mayor orders the evacuation.", title="Flood plan")
    citation = citation_at(source, 0, len(source.text), lambda *_: 7)
    values = (Attribute("measure", "[red]evacuation"), Attribute("binding", True), Attribute("year", None))
    answer = StructuredAnswer(
        status="answered",
        list_name="measures",
        entities=(Attribute("places", ("Milltown", "Cork")),),
        records=(CitedRecord(values, citation),),
        evidence=make_evidence(QUESTION, [source]),
        generator="m",
        warnings=(Message("A dam was left out."),),
    )
    _print_structured(answer)
    printed = capsys.readouterr()
    entity, head, row, _, reference = (line.split() for line in printed.out.splitlines())
    assert entity == ["places:", "Milltown;", "Cork"]
    assert head == ["measure", "binding", "year", "source", "page"]
    assert row == ["[red]evacuation", "yes", "–", "3", "7"]
    assert " ".join(reference).startswith("[Source 3] Ministry, Flood plan, 2022, page 7")
    assert "A dam was left out." in printed.err


def test_without_a_model_the_cure_is_named(small_workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEXTANT_OLLAMA_URL", "http://127.0.0.1:9")
    result = run(small_workspace, "--schema", POLICY, "--json")
    assert result.exit_code == 2
    reply = fixed("error", result.stdout)
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


def test_the_error_of_a_model_is_followed_by_what_is_quoted_without_one(small_workspace: Path, model: Script) -> None:
    model.replies[CHAT] = [said(PLAN), Reply((b'{"error": {"message": "out of memory"}}',), status=500)]
    result = run(small_workspace, "--json")
    reply = fixed("ask", result.stdout)
    assert (result.exit_code, reply["status"]) == (1, "error")
    assert "out of memory" in reply["text"]
    assert "(the language model did not answer):" in reply["quotations"]
    assert "dyke" in reply["citations"][0]["quote"]


@pytest.mark.parametrize(
    ("reply", "said", "heading", "code"),
    [
        (Reply((b'{"error": {"message": "out of memory"}}',), status=500), "out of memory", "did not answer", 1),
        (Reply(words("No answer found in these documents.")), "No answer found", "found no answer in them", 0),
    ],
    ids=["its error", "its refusal"],
)
def test_what_a_model_says_instead_of_an_answer_is_printed_once_above_the_quotations(
    small_workspace: Path, model: Script, reply: Reply, said: str, heading: str, code: int
) -> None:
    model.replies[CHAT] = [Reply(words(json.dumps(PLAN))), reply]
    result = run(small_workspace)
    output = " ".join(result.output.split())
    assert (result.exit_code, output.count(said)) == (code, 1)
    above, found, quoted = output.partition(f"(the language model {heading}):")
    assert found
    assert said in above
    assert "dyke" in quoted


@pytest.mark.parametrize(
    ("verdict", "line"),
    [
        (said({"labels": ["unsupported"]}), "1 unsupported. Judged by a second model, second."),
        (Reply((b"{}",), status=500), "Checked automatically without the second model second, which failed:"),
    ],
)
def test_a_second_model_labels_the_sentences_and_the_answer_says_so(
    small_workspace: Path, model: Script, monkeypatch: pytest.MonkeyPatch, verdict: Reply, line: str
) -> None:
    monkeypatch.setenv("SEXTANT_JUDGE_MODEL", "second")
    written = "Residents within 300 metres of the dyke leave their homes [Source 1]."
    model.replies[CHAT] = [said(PLAN), Reply(words(written)), verdict]
    result = run(small_workspace)
    assert line in " ".join(result.output.split())
    assert [body["model"] for path, body in model.asked if path == CHAT] == ["m", "m", "second"]


def test_a_form_is_not_kept_as_a_bundle_and_that_is_said_before_anything_is_asked(
    small_workspace: Path, tmp_path: Path
) -> None:
    kept = tmp_path / "kept.zip"
    result = run(small_workspace, "--schema", POLICY, "--bundle", kept)
    assert result.exit_code == 2
    assert "--bundle keeps an answer in words" in " ".join(result.output.split())
    assert not kept.exists()
