"""Fixtures for ingestion: the shared corpus and one sandbox for the session."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from ingestion.backends.sandbox import Sandbox

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def corpus() -> Path:
    return Path(os.environ.get("SEXTANT_SHARED", ROOT.parent / "shared")) / "data" / "corpus"


@pytest.fixture(scope="session")
def sandbox() -> Iterator[Sandbox]:
    with Sandbox() as opened:
        yield opened
