"""Worker process: start it, follow the job it is at, end it."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

from ingestion import workspace as folders
from ingestion.jobs.queue import Job, JobQueue
from rag_engine.atomic_write import bound_log
from rag_engine.config import ROOT
from rag_engine.engine import Engine
from rag_engine.errors import WorkspaceError
from rag_engine.processes.serving import find_serving

_LOOK_SECONDS = 0.3
# A worker that cannot even start is not started anew each time a page looks.
_PAUSE_SECONDS = 15.0
# Workers that may end with an error before their job is given up: on a full disk none can say why.
_MOST_BROKEN = 3

# The last worker that this process started for a workspace, and when.
_started: dict[Path, tuple[subprocess.Popen[bytes], float]] = {}
_starting = threading.Lock()


def ensure_worker(workspace: Path) -> None:
    """Start a worker when none is alive. A second one finds the lock taken and ends."""
    with _starting:
        if _may_start(workspace):
            command = [sys.executable, "-m", "ingestion.worker", str(workspace.absolute())]
            bound_log(workspace / "worker.log")
            with (workspace / "worker.log").open("ab") as log:
                process = subprocess.Popen(
                    [*command, str(server_of(workspace))],
                    # -m looks in the current folder first: not in the caller's, where a file may bear one of our names.
                    cwd=ROOT,
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    start_new_session=True,
                )
            _started[workspace] = process, time.monotonic()


def _may_start(workspace: Path) -> bool:
    if workspace in _started:
        process, when = _started[workspace]
        code = process.poll()
        if code is None or (code != 0 and time.monotonic() - when < _PAUSE_SECONDS):
            return False
    return folders.await_worker(workspace)


def follow(engine: Engine, id: int, seen: Callable[[Job], None] = lambda _: None) -> Job:
    """Return the job as it ended; `seen` gets it at every look. A worker is started where none is at it.

    WorkspaceError if workers end with an error and cannot report it.
    """
    jobs, workspace = JobQueue(engine.catalog), engine.config.workspace
    broken: set[int] = set()
    while (job := jobs.find(id)) is not None and job.active:
        seen(job)
        if not job.alive:
            process, _ = _started.get(workspace, (None, 0.0))
            # One that was killed has ended with no error.
            if process is not None and (process.poll() or 0) > 0:
                broken.add(process.pid)
            ensure_worker(workspace)
        if len(broken) >= _MOST_BROKEN:
            raise WorkspaceError(
                "{times} workers ended with an error that they could not report; the end of {log} says why.",
                help="Free space on the disk if it is full, then begin it again: it goes on where it was.",
                times=len(broken),
                log=workspace / "worker.log",
            )
        time.sleep(_LOOK_SECONDS)
    if job is None:
        raise WorkspaceError("Job {id} is not in the workspace any more.", id=id)
    seen(job)
    return job


def end_worker(engine: Engine, seconds: float) -> bool:
    """Cancel the job of the worker; return whether no worker is left within `seconds`."""
    jobs = JobQueue(engine.catalog)
    for job in jobs.latest():
        if job.status == "running":
            jobs.cancel(job.id)
    return folders.await_worker(engine.config.workspace, seconds)


def server_of(workspace: Path) -> int:
    """Return the process id of the `sextant serve` on the workspace, 0 if there is none."""
    serving = find_serving(workspace)
    return serving.process if serving else 0
