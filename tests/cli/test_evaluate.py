"""`sextant eval` as it is typed."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from cli.main import app
from rag_engine.evaluation.answers.accepted_run import keep_run, record_run, require_accepted
from tests.rag_engine.backends.scripted_server import Reply, Script, serving
from tests.rag_engine.evaluation.conftest import WriteDataset, write_dataset

__all__ = ["write_dataset"]


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rag_engine.evaluation.vector_cache.vectors_folder", lambda: tmp_path / "cache")


def run_json(*words: object) -> dict[str, Any]:
    result = CliRunner().invoke(app, ["eval", *(str(word) for word in words), "--json"])
    assert result.exit_code == 0, result.stdout + str(result.exception)
    printed: dict[str, Any] = json.loads(result.stdout)
    return printed


def test_retrieval_is_measured_from_one_command(write_dataset: WriteDataset, tmp_path: Path) -> None:
    runs = tmp_path / "runs"
    report = run_json("retrieval", write_dataset(), "--config", "paper", "--config", "default", "--run", runs)
    assert report["dataset"] == "plans"
    assert report["configs"][1]["ndcg@10"] > 0.9
    assert report["configs"][1]["versus"]["name"] == "paper"
    assert {path.name for path in runs.iterdir()} == {"plans.paper.run", "plans.default.run"}


def test_several_corpora_in_one_index(write_dataset: WriteDataset) -> None:
    report = run_json("retrieval", write_dataset("en"), write_dataset("de"), "--pooled", "--config", "bm25")
    assert report["dataset"] == "en+de"
    assert report["documents"] == 8


def test_an_unknown_configuration_and_a_missing_folder_are_said(write_dataset: WriteDataset, tmp_path: Path) -> None:
    for words, said in (
        ([str(write_dataset()), "--config", "best"], "Use default"),
        ([str(tmp_path / "nothing")], "nothing"),
        ([str(write_dataset()), "--split", "test"], "dev, heldout, all"),
    ):
        result = CliRunner().invoke(app, ["eval", "retrieval", *words, "--json"])
        assert result.exit_code == 2
        assert said in json.loads(result.stdout)["error"]


def test_a_table_is_printed_for_people(write_dataset: WriteDataset) -> None:
    result = CliRunner().invoke(app, ["eval", "retrieval", str(write_dataset()), "--config", "bm25"])
    assert result.exit_code == 0
    assert "nDCG@10" in result.stdout
    assert "bm25" in result.stdout


def test_ways_of_chunking_are_compared_on_real_files(small_documents: Path, tmp_path: Path) -> None:
    passages = [{"document": "flood.md", "page": 1, "quote": "Museums move their collections to the upper floors"}]
    line = {"id": "1", "question": "Where do museums move their collections?", "language": "en", "passages": passages}
    gold = tmp_path / "gold.jsonl"
    gold.write_text(json.dumps(line))
    asked = ("--documents", small_documents, "--gold", gold, "--results", tmp_path / "results")
    report = run_json("chunking", "--strategy", "newline", "--strategy", "semantic", *asked)
    assert [(row["name"], row["figures"]["recall"]["value"]) for row in report["rows"]] == [
        ("newline", 1.0),
        ("semantic", 1.0),
    ]
    assert "recall" in report["rows"][0]["versus"]
    assert (tmp_path / "results" / "chunking.md").is_file()
    report = run_json("ablation", "--config", "default", "--config", "no provenance", *asked)
    assert [row["name"] for row in report["rows"]] == ["default", "no provenance"]
    assert (tmp_path / "results" / "ablation.csv").is_file()


def test_a_missing_quoted_document_is_said(tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["eval", "chunking", "--documents", str(tmp_path), "--json"])
    assert result.exit_code == 2
    assert str(tmp_path) in json.loads(result.stdout)["error"]


EVACUATION = "The mayor orders the evacuation and the fire service carries it out."


@pytest.fixture
def gold(tmp_path: Path) -> Path:
    """Eight questions with one answer, enough for a drop to be significant, and one that nothing answers."""
    asked: dict[str, object] = {"language": "en", "kind": "institutional"}
    found: dict[str, object] = {
        "question": "Who orders the evacuation when the gauge at Milltown passes 4.5 metres?",
        "answer": "The mayor.",
        "passages": [{"document": "flood.md", "page": 1, "quote": EVACUATION}],
        "keywords": ["mayor"],
    }
    lines = [asked | found | {"id": f"en-{number}"} for number in range(8)]
    lines.append(asked | {"id": "en-none", "question": "Who won the football world cup in 2014?"})
    path = tmp_path / "gold.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    return path


def test_answers_are_measured_and_what_was_asked_is_not_asked_again(
    gold: Path, workspace: Path, tmp_path: Path
) -> None:
    words = ("answers", gold, "--workspace", workspace, "--results", tmp_path / "results")
    first = run_json(*words)
    figures = {one["metric"]: one["mean"]["value"] for one in first["figures"] if one["group"] == "all"}
    assert figures["abstention"] == figures["answer_match"] == figures["citation_recall"] == 1
    assert [Path(file).suffix for file in first["files"] if Path(file).is_file()] == [".csv", ".json"]
    # The seconds of a question would be others.
    assert run_json(*words) == first
    assert run_json(*words, "--top-k", 1)["files"] != first["files"]
    table = Path(first["files"][0]).read_text(encoding="utf-8-sig")
    assert table.startswith("id,language,kind,split,answerable,status,seconds,question,answer,cited,generator,abst")
    compared = run_json("gate", gold, "--workspace", workspace, "--against", first["files"][1])
    assert (compared["dropped"], compared["differing"]) == ([], [])


def test_progress_is_recorded_and_a_table_is_printed_for_people(gold: Path, workspace: Path) -> None:
    result = CliRunner().invoke(app, ["eval", "answers", str(gold), "--workspace", str(workspace)])
    assert result.exit_code == 0
    assert "citation_recall" in result.stdout
    assert "9 of 9: Who won the football world cup in 2014?" in result.stderr


def test_the_gate_lets_the_same_figures_pass_and_stops_a_drop(gold: Path, workspace: Path) -> None:
    words = ["eval", "gate", str(gold), "--workspace", str(workspace)]
    assert CliRunner().invoke(app, words).exit_code == 2
    assert CliRunner().invoke(app, [*words, "--accept"]).exit_code == 0
    assert CliRunner().invoke(app, words).exit_code == 0
    run = require_accepted(workspace)
    better = [replace(row, figures={**row.figures, "context_precision": 2.0}) for row in run.rows]
    keep_run(workspace, record_run(workspace, "better", replace(run, rows=tuple(better)), "").id)
    stopped = CliRunner().invoke(app, [*words, "--json"])
    assert stopped.exit_code == 1
    assert json.loads(stopped.stdout)["dropped"] == ["context_precision"]


def test_a_judge_has_the_seconds_of_an_answer_and_what_it_was_too_slow_for_has_no_figure(
    gold: Path, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gold.write_text(gold.read_text(encoding="utf-8").splitlines()[0], encoding="utf-8")
    monkeypatch.setenv("SEXTANT_ANSWER_SECONDS", "1")
    listed = {"models": [{"name": "slow:latest", "model": "slow:latest", "details": {"family": "llama"}}]}
    shown = {"model_info": {"llama.context_length": 8192}, "capabilities": ["completion"]}
    replies: dict[str, Reply | list[Reply]] = {
        "/api/tags": Reply((json.dumps(listed).encode(),)),
        "/api/show": Reply((json.dumps(shown).encode(),)),
        "/api/ps": Reply((b'{"models": []}',)),
        "/api/chat": Reply((), stalls=True),
    }
    with serving(Script(replies)) as server:
        words = ("--judge", "ollama/slow:latest", "--judge-url", server.url)
        run = run_json("answers", gold, "--workspace", workspace, *words)
    assert "faithfulness" not in {one["metric"] for one in run["figures"] if one["mean"]}
    assert run["files"] == []
    assert "was not done within 1 seconds" in run["rows"][0]["failure"]


@pytest.mark.parametrize("judge", ["gpt", "openai/gpt", "ollama/", "mistral/small"])
def test_a_judge_that_cannot_be_found_by_its_name_is_refused(gold: Path, workspace: Path, judge: str) -> None:
    words = ["eval", "answers", str(gold), "--workspace", str(workspace), "--judge", judge, "--json"]
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 2
    assert "names no judge" in json.loads(result.stdout)["error"]


def test_questions_about_documents_that_are_not_there_are_refused(workspace: Path) -> None:
    result = CliRunner().invoke(app, ["eval", "answers", "--workspace", str(workspace), "--json"])
    assert result.exit_code == 2
    assert "The collection lacks" in json.loads(result.stdout)["error"]
