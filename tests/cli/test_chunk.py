"""`sextant chunk` as a person or a program uses it; its JSON is held to data/contract.schema.json."""

from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from cli.main import app
from tests.cli.conftest import fixed

BODY = "The plan sets out who does what when the river rises above its banks in the lower town. " * 5


def run(workspace: Path, *words: object) -> Result:
    return CliRunner().invoke(app, ["chunk", *(str(word) for word in words), "-w", str(workspace / "workspace")])


def run_json(kind: str, workspace: Path, *words: object) -> Any:
    """Return the JSON that the command printed, checked against its shape."""
    return fixed(kind, run(workspace, *words, "--json").stdout)


@pytest.fixture
def plan(tmp_path: Path) -> Path:
    path = tmp_path / "plan.md"
    names = ("Gauges", "Dykes", "Sirens", "Boats", "Shelters")
    path.write_text("# Flood plan\n\n" + "\n\n".join(f"## {name}\n\n{BODY}" for name in names), encoding="utf-8")
    return path


def test_the_json_holds_every_parent_with_its_children_and_place(tmp_path: Path, plan: Path) -> None:
    reply = run_json("chunk", tmp_path, plan, "--strategy", "paragraph")
    assert (reply["file"], reply["language"], reply["strategy"]) == ("plan.md", "en", "paragraph")
    assert [parent["headings"] for parent in reply["parents"]][1:] == [["Dykes"], ["Sirens"], ["Boats"], ["Shelters"]]
    for parent in reply["parents"]:
        for child in parent["children"]:
            assert child["text"] == parent["text"][child["start"] : child["end"]]


def test_a_real_law_shows_its_sections_on_their_pages(tmp_path: Path, shared: Path) -> None:
    reply = run_json("chunk", tmp_path, shared / "data" / "corpus" / "de_zskg_zivilschutz_katastrophenhilfe.pdf")
    assert reply["strategy"] == "section"
    pages = {parent["section"]: parent["page"] for parent in reply["parents"]}
    assert pages["§ 5"] < pages["§ 29"]
    assert any(child["clause"] for parent in reply["parents"] for child in parent["children"])


def test_the_strategy_of_the_environment_is_taken_when_none_is_named(
    tmp_path: Path, plan: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SEXTANT_CHUNKING", "newline")
    assert run_json("chunk", tmp_path, plan)["strategy"] == "newline"


def test_a_person_reads_why_and_where(tmp_path: Path, plan: Path) -> None:
    shown = run(tmp_path, plan).stdout
    assert shown.startswith("paragraph: 5 titles on 1 level over ")
    assert "Shelters" in shown
    # Paragraphs of a text without pages.
    assert "page 1" not in shown


def test_a_topic_is_found_with_the_encoder(tmp_path: Path, plan: Path) -> None:
    assert run_json("chunk", tmp_path, plan, "--strategy", "semantic")["why"] == "Asked for by name."


def test_an_unknown_strategy_is_refused_with_the_known_ones(tmp_path: Path, plan: Path) -> None:
    error = run_json("error", tmp_path, plan, "--strategy", "magic")["error"]
    assert "no strategy 'magic'" in error
    assert "auto, semantic, section" in error


def test_a_missing_file_is_named_with_a_cure(tmp_path: Path) -> None:
    result = run(tmp_path, tmp_path / "none.pdf")
    assert result.exit_code == 2
    assert "none.pdf" in "".join(result.stderr.split())
    assert "Name one document" in " ".join(result.stderr.split())
