"""A process that takes a list of sources through the phases, so that a test can watch it, or kill it."""

from __future__ import annotations

import os
from pathlib import Path

import chromadb  # noqa: F401 - imported late by the program, here before the processes are forked
import lingua  # noqa: F401
import playwright.sync_api  # noqa: F401
import scipy.stats  # noqa: F401

from ingestion import worker
from ingestion import workspace as folders
from ingestion.jobs.queue import JobQueue
from rag_engine.config import read_config
from rag_engine.engine import open_engine

SETTINGS = {"SEXTANT_HOST_SECONDS": "0", "SEXTANT_WEB_SECONDS": "4", "SEXTANT_WEB_MEGABYTES": "5"}


def run(workspace: str, intranet: str) -> None:
    """Run until no work waits in the workspace."""
    os.environ |= SETTINGS | {"SEXTANT_INTRANET": intranet}
    engine = open_engine(read_config(workspace))
    with folders.work_lock(Path(workspace)) as mine:
        assert mine, "no other process works here"
        JobQueue(engine.catalog).take_over()
        worker.work(engine)
    engine.close()
