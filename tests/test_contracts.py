"""Each import contract of pyproject.toml can fail."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.conftest import ROOT

PACKAGES = ("rag_engine", "ingestion", "pages", "cli")
# One import that breaks each contract: the file, and what it imports.
BROKEN_BY = {
    "packages": ("rag_engine/text/sentences.py", "cli.main"),
    "product": ("rag_engine/evaluation/rankers.py", "benchmarks.measure"),
    "engine": ("rag_engine/text/sentences.py", "rag_engine.engine"),
    "ingestion": ("ingestion/web/urls.py", "ingestion.pipeline.run"),
    "phases": ("ingestion/phases/quality.py", "ingestion.phases.licence"),
    "types": ("rag_engine/types/answer.py", "rag_engine.errors"),
    "streamlit": ("ingestion/config.py", "streamlit"),
    "backends": ("pages/_ask/answer.py", "rag_engine.backends.chroma"),
}
SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]


@pytest.fixture(scope="module")
def bare_tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Every module of the product, empty, under the contracts of the product."""
    tree = tmp_path_factory.mktemp("tree")
    for package in PACKAGES:
        for path in (ROOT / package).rglob("*.py"):
            copy = tree / path.relative_to(ROOT)
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.touch()
    shutil.copy(ROOT / "pyproject.toml", tree)
    return tree


def test_every_contract_is_tried() -> None:
    assert {contract["id"] for contract in SETTINGS["contracts"]} == set(BROKEN_BY)


def test_no_contract_has_an_exception() -> None:
    assert not [contract["id"] for contract in SETTINGS["contracts"] if "ignore_imports" in contract]


def test_a_tree_without_imports_keeps_all_contracts(bare_tree: Path) -> None:
    assert "0 broken" in _lint(bare_tree)


@pytest.mark.parametrize("contract", BROKEN_BY)
def test_a_bad_import_breaks_the_contract(contract: str, bare_tree: Path) -> None:
    name, imported = BROKEN_BY[contract]
    bad = bare_tree / name
    assert bad.exists()
    bad.write_text(f"import {imported}\n", encoding="utf-8")
    try:
        assert "0 kept, 1 broken" in _lint(bare_tree, "--contract", contract)
    finally:
        bad.write_text("", encoding="utf-8")


def _lint(tree: Path, *options: str) -> str:
    command = [str(Path(sys.executable).parent / "lint-imports"), "--no-logo", "--no-cache", *options]
    environment = {**os.environ, "PYTHONPATH": str(tree)}
    ended = subprocess.run(command, cwd=tree, env=environment, capture_output=True, encoding="utf-8", check=False)
    return ended.stdout
