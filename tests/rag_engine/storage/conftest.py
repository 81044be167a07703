"""The tests of storage run over the real stores, and over vectors in memory."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from rag_engine.config import read_config
from rag_engine.disk_backends import open_backends
from rag_engine.protocols import StorageBackends
from tests.rag_engine.conftest import CountingEmbedder
from tests.rag_engine.memory_stores import MemoryBackends
from tests.rag_engine.small_collection import indexed


@pytest.fixture(params=["Chroma", "memory"])
def backends(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[StorageBackends]:
    """Yield the stores of a workspace without documents."""
    in_memory = request.param == "memory"
    opened = MemoryBackends(tmp_path / "keywords") if in_memory else open_backends(read_config(tmp_path), "test")
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a workspace with the small collection, which no test changes."""
    workspace = tmp_path_factory.mktemp("whole") / "workspace"
    indexed(workspace, CountingEmbedder()).close()
    return workspace


@pytest.fixture
def workspace(whole: Path, tmp_path: Path) -> Path:
    """Return a copy of that workspace, to be damaged."""
    return Path(shutil.copytree(whole, tmp_path / "workspace"))
