"""`sextant eval own` as it is typed."""

import json
from pathlib import Path
from typing import Any

from typer.testing import CliRunner, Result

from cli.main import app

EVACUATION = "The mayor orders the evacuation and the fire service carries it out."
QUESTIONS: list[dict[str, object]] = [
    {
        "id": "evacuation",
        "language": "en",
        "question": "Who orders the evacuation?",
        "passages": [{"document": "flood.md", "page": 1, "quote": EVACUATION}],
    },
    {"id": "cup", "language": "en", "question": "Who won the football world cup in 2014?"},
]


def run(workspace: Path, *words: object) -> Result:
    return CliRunner().invoke(app, ["eval", "own", *map(str, words), "--workspace", str(workspace)])


def run_json(workspace: Path, *words: object) -> dict[str, Any]:
    result = run(workspace, *words, "--json")
    assert result.exit_code == 0, result.stdout + str(result.exception)
    printed: dict[str, Any] = json.loads(result.stdout)
    return printed


def test_questions_are_imported_asked_exported_and_two_runs_compared(workspace: Path, tmp_path: Path) -> None:
    file = tmp_path / "questions.jsonl"
    file.write_text("\n".join(map(json.dumps, QUESTIONS)), encoding="utf-8")
    assert run(workspace, "test").exit_code == 2
    assert run_json(workspace, "import", file) == {"added": 2, "replaced": 0, "missing": []}
    first = run_json(workspace, "test")
    assert {one["measure"]: one["right"] for one in first["shares"]} == {
        "found": 1,
        "cited": 1,
        "first": 1,
        "refused": 1,
    }
    printed = run(workspace, "test").stdout
    assert "First quotation right\tWho orders the evacuation" in printed
    assert "any difference between two runs may be chance" in printed
    assert [one["id"] for one in run_json(workspace, "runs")["runs"]][1] == first["id"]
    compared = run_json(workspace, "compare", first["id"])
    assert [one["change"] for one in compared["questions"]] == ["same", "same"]
    assert compared["settings"] == {}
    assert "First quotation right" in run(workspace, "compare", first["id"]).stdout
    table = tmp_path / "results.csv"
    assert run(workspace, "results", "--export", table).exit_code == 0
    assert len(table.read_bytes().splitlines()) >= 3
    again = tmp_path / "again.jsonl"
    assert run_json(workspace, "export", again)["questions"] == 2
    assert [json.loads(line) for line in again.read_text(encoding="utf-8").splitlines()] == QUESTIONS


def test_without_runs_and_ratings_the_terminal_says_so(workspace: Path) -> None:
    assert run(workspace, "results").exit_code == 2
    assert "0 kept" in run(workspace, "keep-good").stdout
