"""Fixtures for ingestion: the shared corpus and one sandbox for the session."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from ingestion.extraction.sandbox.sandbox import Sandbox


@pytest.fixture(scope="session")
def corpus(shared: Path) -> Path:
    return shared / "data" / "corpus"


@pytest.fixture(scope="session")
def sandbox() -> Iterator[Sandbox]:
    with Sandbox() as opened:
        yield opened
