"""Seconds until an erased document of a large collection is found nowhere, and of the job after it.

    python -m benchmarks.retrieval.retrieval_scale --workspace DIR
    python -m benchmarks.pipeline.erasing --workspace DIR [--documents N] [--job]

Documents are erased in one process each, for a process pays once for opening the stores. Those of DIR are gone then.
"""

from __future__ import annotations

import argparse
import multiprocessing
import time
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from benchmarks.report import machine, write_table
from ingestion.acts.context import local_person, open_context
from ingestion.acts.documents import erase
from ingestion.worker import work
from rag_engine.config import read_config
from rag_engine.engine import Engine


def seconds_of_erasing(workspace: Path, document: str) -> float:
    """Erase a document in this process, which opens the workspace, and return the seconds."""
    started = time.perf_counter()
    with closing(Engine(read_config(workspace))) as engine:
        context = replace(open_context(engine, local_person()), start_worker=lambda _: None)
        erase(context, document)
    return time.perf_counter() - started


def seconds_of_job(workspace: Path) -> float:
    """Let a worker make the files of the indexes new, and return the seconds."""
    started = time.perf_counter()
    with closing(Engine(read_config(workspace))) as engine:
        work(engine)
    return time.perf_counter() - started


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workspace", type=Path, required=True)
    parser.add_argument("--documents", type=int, default=3)
    parser.add_argument("--job", action="store_true", help="also time the job, which takes minutes")
    asked = parser.parse_args()
    with closing(Engine(read_config(asked.workspace))) as engine:
        passages, documents = len(engine.collection.snapshot()), engine.collection.documents()
    alone = multiprocessing.get_context("spawn")
    rows = []
    for document in documents[: asked.documents]:
        with alone.Pool(1) as pool:
            seconds = pool.apply(seconds_of_erasing, (asked.workspace, document.document_id))
        rows.append(["one document, until it is found nowhere", f"{document.children:,}", f"{seconds:.1f}"])
    if asked.job:
        rows.append(["the job after it", f"{passages:,}", f"{seconds_of_job(asked.workspace):.0f}"])
    notes = [machine(), f"{passages:,} passages of {len(documents):,} documents."]
    write_table("erasing", "Erasing a document of a large collection", ["what", "passages", "seconds"], rows, notes)


if __name__ == "__main__":
    main()
