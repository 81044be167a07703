"""`sextant eval` as it is typed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from cli import app
from tests.rag_engine.evaluation.conftest import WriteDataset, write_dataset

__all__ = ["write_dataset"]


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rag_engine.evaluation.vector_cache.cache_folder", lambda: tmp_path / "cache")


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
