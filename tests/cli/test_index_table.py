"""The verb that reads an index, in a terminal."""

import json
import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

from cli.main import app

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


def test_a_table_is_applied_to_the_files_it_names_and_taken_away_again(small_workspace: Path, tmp_path: Path) -> None:
    workspace, table, cache = tmp_path / "workspace", tmp_path / "terms.csv", tmp_path / "metadata.json"
    shutil.copytree(small_workspace, workspace)
    table.write_text("term,file,page\nmuseums,flood.md,1\nlawns,duerre.md,1\nsnow,snow.md,4\n", encoding="utf-8")
    command = ["index-table", str(table), "-w", str(workspace)]

    result = RUNNER.invoke(app, [*command, "--apply", "--cache", str(cache), "--json"])

    assert result.exit_code == 0
    applied = json.loads(result.stdout)
    assert [(one["file"], one["entries"], one["named"]) for one in applied["documents"]] == [
        ("flood.md", 1, 1),
        ("duerre.md", 1, 0),
    ]
    assert applied["unmatched"] == ["snow.md"]
    assert [one["term"] for one in json.loads(cache.read_text(encoding="utf-8"))] == ["museums", "lawns"]

    told = RUNNER.invoke(app, [*command, "--apply"])
    assert "flood.md: 1 terms at 1 places, 1 of them where the page names the term" in told.stdout
    assert "No document: snow.md" in told.stderr

    assert json.loads(RUNNER.invoke(app, [*command, "--remove", "--json"]).stdout)["documents"] == 2
    again = RUNNER.invoke(app, [*command, "--remove", "--json"])
    assert again.exit_code == 2
    assert "No table is applied" in json.loads(again.stdout)["error"]


def test_options_that_do_not_go_together_are_refused(tmp_path: Path) -> None:
    for options in (["--apply", "--remove"], ["--document", "a.pdf"], ["--remove", "--cache", "x.json"]):
        result = RUNNER.invoke(app, ["index-table", str(tmp_path / "terms.csv"), *options, "--json"])
        assert result.exit_code == 2
        assert "do not go together" in json.loads(result.stdout)["error"]


def test_the_knowledge_base_of_a_table_is_built_by_the_worker_and_exported(
    small_workspace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SEXTANT_READER", "none")
    monkeypatch.setenv("SEXTANT_OLLAMA_URL", "http://127.0.0.1:9")
    workspace, table, exported = tmp_path / "workspace", tmp_path / "terms.csv", tmp_path / "base.json"
    shutil.copytree(small_workspace, workspace)
    table.write_text("term,file,page\nmuseums,flood.md,1\nlawns,duerre.md,1\n", encoding="utf-8")
    nothing = RUNNER.invoke(app, ["knowledge", "build", "-w", str(workspace), "--json"])
    assert "has an index" in json.loads(nothing.stdout)["error"]
    RUNNER.invoke(app, ["index-table", str(table), "-w", str(workspace), "--apply"])

    built = RUNNER.invoke(app, ["knowledge", "build", "-w", str(workspace)])
    written = RUNNER.invoke(app, ["knowledge", "export", str(exported), "-w", str(workspace)])

    assert built.exit_code == written.exit_code == 0, built.output + written.output
    assert "2 entries: 2 written" in built.stdout
    read = {one["term"]: one for one in json.loads(exported.read_text(encoding="utf-8"))}
    assert "Museums move their collections to the upper floors" in read["museums"]["text"]
    assert read["lawns"]["language"] == "de"
