"""The verb that reads an index, in a terminal."""

from __future__ import annotations

import json
from pathlib import Path

from typer.testing import CliRunner

from cli import app

RUNNER = CliRunner()


def test_an_index_table_is_printed_as_json(tmp_path: Path) -> None:
    path = tmp_path / "terms.csv"
    path.write_text(
        'term,subterm,file,pages,see\nfloods,maps,plan.pdf,"3, 5-6",\nheat,,,,drought; fire\n', encoding="utf-8"
    )
    result = RUNNER.invoke(app, ["index-table", str(path), "--json"])
    assert result.exit_code == 0
    assert json.loads(result.stdout) == [
        {
            "term": "floods", "subterm": "maps", "pages": [3, 5, 6], "printed": ["3", "5", "6"], "see": [],
            "file": "plan.pdf", "definition": "",
        },
        {
            "term": "heat", "subterm": "", "pages": [], "printed": [], "see": ["drought", "fire"], "file": "",
            "definition": "",
        },
    ]  # fmt: skip


def test_an_index_table_is_printed_for_a_person(tmp_path: Path) -> None:
    path = tmp_path / "terms.csv"
    path.write_text("term,pages\nfloods,3\n", encoding="utf-8")
    assert "floods" in RUNNER.invoke(app, ["index-table", str(path)]).stdout


def test_a_file_without_an_index_ends_with_the_cure(tmp_path: Path) -> None:
    path = tmp_path / "letter.txt"
    path.write_text("Dear reader,\n\nthis letter has no index.\n", encoding="utf-8")
    result = RUNNER.invoke(app, ["index-table", str(path), "--json"])
    assert result.exit_code == 2
    assert "has no index" in json.loads(result.stdout)["error"]
    assert "term, file and page" in json.loads(result.stdout)["error"]


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    result = RUNNER.invoke(app, ["index-table", str(tmp_path / "gone.pdf"), "--json"])
    assert result.exit_code == 2
    assert "gone.pdf" in json.loads(result.stdout)["error"]
