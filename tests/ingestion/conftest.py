"""Fixtures for ingestion: shared corpus, one sandbox a session, and a folder as its module made it."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from ingestion.sandbox.sandbox import Sandbox


@pytest.fixture(scope="session")
def corpus(shared: Path) -> Path:
    return shared / "data" / "corpus"


@pytest.fixture(scope="session")
def sandbox() -> Iterator[Sandbox]:
    with Sandbox() as opened:
        yield opened


@pytest.fixture
def folder(made: Path, tmp_path: Path) -> Iterator[Path]:
    """Yield the folder that a module has `made`; restore it at its path, by which documents are known."""
    shutil.copytree(made, tmp_path / "aside")
    yield made
    shutil.rmtree(made)
    shutil.move(tmp_path / "aside", made)
