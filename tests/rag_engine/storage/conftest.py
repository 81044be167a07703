"""The tests of storage run over the real stores, and over vectors in memory."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from rag_engine.config import read_config
from rag_engine.disk_backends import open_backends
from rag_engine.protocols import StorageBackends
from tests.rag_engine.memory_stores import MemoryBackends


@pytest.fixture(params=["Chroma", "memory"])
def backends(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[StorageBackends]:
    """Yield the stores of a workspace without documents."""
    in_memory = request.param == "memory"
    opened = MemoryBackends(tmp_path / "keywords") if in_memory else open_backends(read_config(tmp_path), "test")
    yield opened
    opened.close()
