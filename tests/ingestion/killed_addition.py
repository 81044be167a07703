"""A process for tests to kill: it adds a folder to a workspace with an encoder of counted words."""

from __future__ import annotations

from pathlib import Path

import chromadb  # noqa: F401 - imported late by the program, here before the processes are forked
import lingua  # noqa: F401
import pydantic_settings  # noqa: F401

from ingestion.add_files import add_paths
from rag_engine.config import read_config
from rag_engine.engine import Engine
from tests.rag_engine.conftest import CountingEmbedder


def run(workspace: str, folder: str) -> None:
    engine = Engine(read_config(workspace), embedder=CountingEmbedder())
    add_paths([Path(folder)], engine)
    engine.close()
