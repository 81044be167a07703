"""`sextant ask --bundle` and `sextant replay` as they are typed."""

import json
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from cli.main import app
from rag_engine.answering.bundle import read_bundle, write_bundle


@pytest.fixture
def kept(workspace: Path, tmp_path: Path) -> Path:
    """Return the bundle of an answer from the workspace."""
    path = tmp_path / "kept.zip"
    question = "Who orders the evacuation when the gauge at Milltown passes 4.5 metres?"
    options = ["-f", "language=en", "-k", "3", "--bundle", str(path), "--workspace", str(workspace)]
    result = CliRunner().invoke(app, ["ask", question, *options])
    assert result.exit_code == 0
    assert "orders the evacuation" in result.stdout
    return path


def replayed(kept: Path, workspace: Path) -> tuple[int, dict[str, Any]]:
    result = CliRunner().invoke(app, ["replay", str(kept), "--workspace", str(workspace), "--json"])
    return result.exit_code, json.loads(result.stdout)


def test_an_answer_is_kept_without_the_machines_paths(kept: Path, tmp_path: Path) -> None:
    bundle = read_bundle(kept)
    assert bundle.asked.filters == {"language": ("en",)}
    assert bundle.asked.top_k == 3
    # Quotations are chosen, not written from a prompt.
    assert bundle.prompt is None
    assert bundle.circumstances.generation >= 1
    with zipfile.ZipFile(kept) as archive:
        assert not [name for name in archive.namelist() if str(tmp_path).encode() in archive.read(name)]


def test_the_same_workspace_gives_the_same_answer(kept: Path, workspace: Path) -> None:
    code, report = replayed(kept, workspace)
    assert code == 0
    assert report["differences"] == []


def test_another_answer_is_shown_and_ends_with_one(kept: Path, workspace: Path) -> None:
    bundle = read_bundle(kept)
    write_bundle(kept, replace(bundle, answer=replace(bundle.answer, text="To the cellar. [Source 1]")))
    code, report = replayed(kept, workspace)
    assert code == 1
    assert [one["part"] for one in report["differences"]] == ["answer"]


def test_a_file_of_something_else_ends_with_a_cure(workspace: Path, tmp_path: Path) -> None:
    (tmp_path / "plan.pdf").write_bytes(b"%PDF-1.7")
    code, report = replayed(tmp_path / "plan.pdf", workspace)
    assert code == 2
    assert "ask --bundle" in report["error"]
