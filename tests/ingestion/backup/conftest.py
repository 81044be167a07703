"""A workspace and its backup, each test its own."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from ingestion.acts.backups import backup
from tests.ingestion.backup.workspaces import make_workspace, place


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_workspace(tmp_path_factory.mktemp("made") / "workspace")


@pytest.fixture
def workspace(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(made, tmp_path / "workspace"))


@pytest.fixture
def archive(workspace: Path, tmp_path: Path) -> Path:
    return backup(place(workspace), tmp_path / "backup.zip").file
