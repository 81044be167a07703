"""Corrections in the terminal."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from cli.main import app
from rag_engine.config import Config
from rag_engine.engine import Engine
from tests.rag_engine.conftest import CountingEmbedder

HARBOUR = "# Rules of the {}\n\nThe harbour master keeps the rules of the harbour against floods."


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a workspace with two files."""

    def opened(config: Config) -> Engine:
        return Engine(config, embedder=CountingEmbedder())

    monkeypatch.setattr("rag_engine.engine.open_engine", opened)
    monkeypatch.setenv("SEXTANT_USER", "Ada")
    for name in ("quay", "marina"):
        (tmp_path / f"{name}.md").write_text(HARBOUR.format(name), encoding="utf-8")
        sextant(tmp_path, "add", str(tmp_path / f"{name}.md"))
    return tmp_path


def sextant(folder: Path, *words: str, code: int = 0) -> str:
    result = CliRunner().invoke(app, [*words, "-w", str(folder / "workspace")])
    assert result.exit_code == code, result.output
    return " ".join(result.output.split())


def metadata(folder: Path, name: str) -> dict[str, object]:
    shown: dict[str, dict[str, dict[str, object]]] = json.loads(sextant(folder, "show", name, "--json"))
    return shown["document"]["metadata"]


def test_several_documents_are_corrected_and_what_was_done_is_undone(workspace: Path) -> None:
    said = sextant(workspace, "correct", "quay.md", "marina.md", "hazards=Flood; Wildfire", "date=2019-05")
    assert said.count("hazards: Flood; Wildfire") == 2
    for name in ("quay.md", "marina.md"):
        assert (metadata(workspace, name)["hazards"], metadata(workspace, name)["year"]) == (
            ["Flood", "Wildfire"],
            2019,
        )
    sextant(workspace, "correct", "quay.md", "--undo")
    assert metadata(workspace, "quay.md")["year"] is None
    assert metadata(workspace, "marina.md")["year"] == 2019


def test_an_emptied_field_an_agreement_and_the_history(workspace: Path) -> None:
    assert "Nothing was corrected." in sextant(workspace, "correct", "quay.md", "--history")
    sextant(workspace, "correct", "quay.md", "title=", "--note", "It has none.")
    assert "language: en (agreed)" in sextant(workspace, "correct", "quay.md", "language", "--agree")
    told = sextant(workspace, "correct", "quay.md", "--history")
    assert "Ada" in told
    assert "title: (emptied) (It has none.)" in told
    assert "Nothing changed." in sextant(workspace, "correct", "quay.md", "language", "--agree")


def test_the_licence_of_a_document_is_stated_and_undone(workspace: Path) -> None:
    said = sextant(workspace, "correct", "quay.md", "licence=CC-BY-NC 4.0", "source_url=https://port.example/rules")
    assert "licence: CC BY-NC 4.0" in said
    known = metadata(workspace, "quay.md")
    assert (known["licence"], known["source_url"]) == ("CC BY-NC 4.0", "https://port.example/rules")
    sextant(workspace, "correct", "quay.md", "licence", "--undo")
    assert metadata(workspace, "quay.md")["licence"] == ""


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["hazards=Floods"], "hazards cannot be"),
        (["date=May"], "is not a date"),
        (["source_url=the port"], "is not one web address"),
        ([], "nothing to correct"),
        (["title=T", "--undo"], "One thing at a time"),
        (["titel=T"], "There is no field"),
        (["--undo"], "Nothing was corrected"),
    ],
)
def test_what_cannot_be_done_is_said_with_its_remedy(workspace: Path, words: list[str], why: str) -> None:
    assert why in sextant(workspace, "correct", "quay.md", *words, code=2)
