"""Engines to search with: the three plans, and twelve reports that repeat a word."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from rag_engine.config import read_config
from rag_engine.engine import Engine, open_engine
from tests.rag_engine.conftest import CountingEmbedder
from tests.rag_engine.small_collection import Written, indexed

REPORTS = 12


@pytest.fixture(scope="session")
def plans(small_workspace: Path) -> Iterator[Engine]:
    """Yield an engine over the three plans, with the real encoder."""
    engine = open_engine(read_config(small_workspace))
    yield engine
    engine.close()


@pytest.fixture
def reports(tmp_path: Path, embedder: CountingEmbedder) -> Iterator[Engine]:
    """Yield an engine over reports of five passages on sluices, and a notice on something else."""
    page = "The sluice number {n} was opened by hand in the night of the storm, and the water ran off. " * 12
    written = [
        Written(f"Report {number}", tuple(page.format(n=f"{number}-{part}") for part in range(5)))
        for number in range(REPORTS)
    ]
    engine = indexed(tmp_path / "workspace", embedder, [*written, Written("Notice", ("Grass is cut in the spring.",))])
    yield engine
    engine.close()
