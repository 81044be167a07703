"""Runs the queued work in a process of its own, so that no page waits and a reload loses nothing."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from ingestion.adding import Progress, add_paths
from ingestion.ledger import HEARTBEAT_SECONDS, Ledger, Run, RunStatus
from rag_engine import workspace as places
from rag_engine.config import read_config
from rag_engine.engine import Engine, open_engine
from rag_engine.errors import SextantError


def ensure_worker(workspace: Path) -> None:
    """Nothing; starts a worker when none is alive. A second one finds the lock taken and goes."""
    engine = open_engine(read_config(workspace))
    alive = any(run.alive for run in Ledger(engine.catalog).runs())
    engine.close()
    if not alive:
        log = (workspace / "worker.log").open("ab")
        subprocess.Popen(
            [sys.executable, "-m", "ingestion.worker", str(workspace)],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )


def work(engine: Engine) -> int:
    """Number of runs that were carried out; ends when none waits."""
    ledger, count = Ledger(engine.catalog), 0
    while (run := ledger.next()) is not None:
        _carry_out(run, engine, ledger)
        count += 1
    return count


def _carry_out(run: Run, engine: Engine, ledger: Ledger) -> None:
    ended: tuple[RunStatus, list[dict[str, Any]], str] = ("failed", [], "The worker broke off; worker.log says why.")
    try:
        with _heartbeat(run, ledger) as pulse:
            results = _ACTIONS[run.action](run.arguments, engine, pulse)
        ended = ("cancelled" if pulse.cancelled else "done", results, "")
    except SextantError as error:
        ended = ("failed", [], str(error))
    finally:
        ledger.finish(run.id, *ended)


class _Pulse:
    """What the worker and its heartbeat tell each other."""

    def __init__(self) -> None:
        self.progress: Progress | None = None
        self.cancelled = False
        self.stopped = threading.Event()


@contextmanager
def _heartbeat(run: Run, ledger: Ledger) -> Iterator[_Pulse]:
    pulse = _Pulse()

    def beat() -> None:
        while not pulse.stopped.wait(HEARTBEAT_SECONDS / 4):
            pulse.cancelled = ledger.beat(run.id, pulse.progress) or pulse.cancelled

    thread = threading.Thread(target=beat, daemon=True)
    thread.start()
    try:
        yield pulse
    finally:
        pulse.stopped.set()
        thread.join()


def _add(arguments: Mapping[str, Any], engine: Engine, pulse: _Pulse) -> list[dict[str, Any]]:
    def progress(now: Progress) -> None:
        pulse.progress = now

    paths = [Path(path) for path in arguments["paths"]]
    added = add_paths(paths, engine, progress=progress, cancelled=lambda: pulse.cancelled)
    uploads = places.uploads(engine.config.workspace)
    for path in paths:
        if path.parent == uploads and not pulse.cancelled:
            path.unlink(missing_ok=True)
    return [
        asdict(replace(one, path=Path(one.path).name)) if uploads in Path(one.path).parents else asdict(one)
        for one in added
    ]


def _erase(arguments: Mapping[str, Any], engine: Engine, _pulse: _Pulse) -> list[dict[str, Any]]:
    return [asdict(engine.erase(engine.catalog.find_document(arguments["document_id"])))]


_ACTIONS = {"add": _add, "erase": _erase}


if __name__ == "__main__":
    with places.work_lock(Path(sys.argv[1])) as mine:
        if mine:
            work(open_engine(read_config(sys.argv[1])))
