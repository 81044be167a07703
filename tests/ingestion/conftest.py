"""Fixtures for ingestion: shared corpus, one sandbox a session, its engine and jobs."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from ingestion.acts.context import ActContext, open_context
from ingestion.jobs.queue import JobQueue
from ingestion.sandbox.sandbox import Sandbox
from rag_engine.config import read_config
from rag_engine.conversations.person import LOCAL
from rag_engine.engine import Engine
from tests.rag_engine.conftest import CountingEmbedder


@pytest.fixture(scope="session")
def corpus(shared: Path) -> Path:
    return shared / "data" / "corpus"


@pytest.fixture(scope="session")
def sandbox() -> Iterator[Sandbox]:
    with Sandbox() as opened:
        yield opened


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    """Yield an engine over an empty workspace, with an encoder of counted words."""
    with closing(Engine(read_config(tmp_path / "workspace"), embedder=CountingEmbedder())) as engine:
        yield engine


@pytest.fixture
def context(engine: Engine) -> ActContext:
    """Return a context of the acts, in which nobody starts a worker."""
    return replace(open_context(engine, LOCAL), start_worker=lambda _: None)


@pytest.fixture
def jobs(engine: Engine) -> JobQueue:
    return JobQueue(engine.catalog)


@pytest.fixture
def folder(made: Path, tmp_path: Path) -> Iterator[Path]:
    """Yield the folder that a module has `made`; restore it at its path, by which documents are known."""
    shutil.copytree(made, tmp_path / "aside")
    yield made
    shutil.rmtree(made)
    shutil.move(tmp_path / "aside", made)
