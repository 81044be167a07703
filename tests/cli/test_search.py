"""`sextant search` lists and exports all passages with the words, as the Search page does."""

import csv
import json
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from typer.testing import CliRunner, Result

from cli.main import app
from tests.cli.conftest import fixed


def run(workspace: Path, *words: object) -> Result:
    return CliRunner().invoke(app, ["search", *map(str, words), "-w", str(workspace)])


def run_json(workspace: Path, *words: object) -> Any:
    return fixed("passages", run(workspace, *words, "--json").stdout)


def test_passages_are_listed_with_marks_and_counts(small_workspace: Path) -> None:
    reply = run_json(small_workspace, "livelli di allerta", "--sort", "relevance")
    first = reply["passages"][0]
    assert (first["file"], first["all_words"], first["rank"]) == ("caldo.md", True, 1)
    assert {first["text"][start:end] for start, end in first["marks"]} == {"livelli", "allerta", "livello"}
    assert first["text"][slice(*first["sentence"])] == "Il piano prevede tre livelli di allerta."
    assert reply["documents"]["held"] == 3
    assert reply["with_all_words"] == 1
    assert reply["total"] >= len(reply["passages"])


def test_as_many_are_shown_as_are_asked_for_and_all_are_counted(small_workspace: Path) -> None:
    reply = run_json(small_workspace, "plan", "--sort", "date", "-k", "1")
    assert len(reply["passages"]) == 1
    assert reply["total"] > 1


def test_only_the_words_and_a_filter_alone(small_workspace: Path) -> None:
    assert run_json(small_workspace, "Talsperren", "--words-only")["total"] == 1
    listed = run_json(small_workspace, "", "--sort", "date", "-f", "year=2000-2025")
    assert [one["file"] for one in listed["passages"]] == ["caldo.md", "flood.md"]


@pytest.mark.parametrize("suffix", [".csv", ".xlsx"])
def test_all_passages_are_written_into_a_file(small_workspace: Path, tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"found{suffix}"
    reply = run_json(small_workspace, "plan", "--export", path, "-k", "1")
    assert reply["path"] == str(path)
    if suffix == ".csv":
        rows = list(csv.reader(path.read_text(encoding="utf-8-sig").splitlines()))
        assert rows[0][:3] == ["Rank", "Document", "Authority"]
    else:
        assert openpyxl.load_workbook(path).worksheets[0].max_row == reply["total"] + 1
    assert f"{reply['total']} passages" in run(small_workspace, "plan", "--export", path).stdout


def test_the_filter_that_excludes_everything_is_named(small_workspace: Path) -> None:
    result = run(small_workspace, "plan", "--sort", "relevance", "-f", "language=it", "-f", "country=Ireland")
    assert result.exit_code == 0
    printed = " ".join(result.stdout.split())
    assert "No document matches your filters." in printed
    assert "Country Ireland excludes the only document that would match without it." in printed


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["plan", "--sort", "colour"], "no order 'colour'"),
        (["plan", "--export", "found.pdf"], "found.pdf names no format"),
        (["", "--sort", "date"], "nothing to search for"),
        (["plan", "--sort", "date", "-f", "hazard=Volcano"], "Flood, Heatwaves"),
        (["plan", "--export", "/nowhere/found.csv"], "cannot be written"),
    ],
)
def test_what_cannot_be_done_is_said_with_the_cure(small_workspace: Path, words: list[str], message: str) -> None:
    result = run(small_workspace, *words, "--json")
    assert result.exit_code == 2
    assert message in json.loads(result.stdout)["error"]


def test_an_empty_collection_says_so(tmp_path: Path) -> None:
    assert "The collection is empty" in run(tmp_path, "plan", "--sort", "date").stdout
