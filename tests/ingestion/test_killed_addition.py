"""kill -9 at any moment of an addition, then the same addition again: the state of an undisturbed run."""

from __future__ import annotations

import multiprocessing
import random
import time
from contextlib import closing
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from typing import Any

import pytest

from rag_engine.config import read_config
from rag_engine.engine import Engine
from tests.ingestion.killed_addition import run
from tests.ingestion.left_behind import collection_of
from tests.rag_engine.conftest import CountingEmbedder

# Forked from a process that has imported everything, so that the kills fall on the work and not on imports.
_PROCESSES = multiprocessing.get_context("forkserver")
_PROCESSES.set_forkserver_preload(["tests.ingestion.killed_addition"])

_TOPICS = ("flood", "heat", "drought", "wildfire", "earthquake", "heritage")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("documents")
    for number, topic in enumerate(_TOPICS):
        paragraphs = [
            f"The {topic} plan, measure {n}, binds authority {n * number} until {2020 + n}." for n in range(60)
        ]
        (folder / f"{topic}.txt").write_text("\n\n".join(paragraphs))
    return folder


def _add(workspace: Path, folder: Path) -> ForkServerProcess:
    process = _PROCESSES.Process(target=run, args=(str(workspace), str(folder)))
    process.start()
    return process


def _add_undisturbed(workspace: Path, folder: Path) -> float:
    """Seconds that it took."""
    started = time.monotonic()
    process = _add(workspace, folder)
    process.join(120)
    assert process.exitcode == 0
    return time.monotonic() - started


def _state(workspace: Path) -> dict[str, list[Any]]:
    with closing(Engine(read_config(workspace), embedder=CountingEmbedder())) as engine:
        return collection_of(engine)


@pytest.mark.usefixtures("forked")
def test_an_addition_killed_at_any_moment_ends_as_if_it_had_not_been(folder: Path, tmp_path: Path) -> None:
    _add_undisturbed(tmp_path / "warm up", folder)
    duration = _add_undisturbed(tmp_path / "undisturbed", folder)
    undisturbed = _state(tmp_path / "undisturbed")
    assert len(undisturbed["documents"]) == len(_TOPICS)

    moments, killed = random.Random(20), 0
    for number in range(40):
        workspace = tmp_path / f"killed {number}"
        process = _add(workspace, folder)
        process.join(moments.uniform(0.05, 0.9) * duration)
        alive = process.is_alive()
        process.kill()
        process.join()
        if alive:
            killed += 1
            _add_undisturbed(workspace, folder)
            assert _state(workspace) == undisturbed
        if killed == 20:
            break
    assert killed == 20
