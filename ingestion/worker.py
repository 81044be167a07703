"""Runs the queued work in a process of its own, so that no page waits and a reload loses nothing."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from ingestion.adding import Progress, add_paths
from ingestion.ledger import HEARTBEAT_SECONDS, Ledger, Run, RunStatus
from ingestion.uploading import kept_uploads, remove_leftovers, remove_settled, upload_name
from rag_engine import workspace as places
from rag_engine.config import read_config
from rag_engine.engine import Engine, open_engine
from rag_engine.errors import SextantError, WorkspaceError

_ROOT = Path(__file__).resolve().parents[1]
_AGAIN_SECONDS = 2.0
# A file that ends its worker, for want of memory say, would end the next one too.
_ATTEMPTS = 2
# A worker that cannot even start is not started anew each time a page looks.
_PAUSE_SECONDS = 15.0

# The last worker that this process started for a workspace, and when.
_started: dict[Path, tuple[subprocess.Popen[bytes], float]] = {}
_starting = threading.Lock()


def ensure_worker(workspace: Path) -> None:
    """Nothing; starts a worker when none is alive. A second one finds the lock taken and goes."""
    with _starting:
        if _may_start(workspace):
            with (workspace / "worker.log").open("ab") as log:
                process = subprocess.Popen(
                    [sys.executable, "-m", "ingestion.worker", str(workspace.absolute()), str(_server(workspace))],
                    # -m looks in the current folder first: not in the caller's, where a file may bear one of our names.
                    cwd=_ROOT,
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
    return places.await_worker(workspace)


def ensure_sample(engine: Engine, folder: Path) -> bool:
    """Whether the sample collection is being put into the workspace: it is empty and has not had it before."""
    ledger, arguments = Ledger(engine.catalog), {"paths": [str(folder)]}
    status = next((run.status for run in ledger.runs() if run.arguments == arguments), None)
    if status == "done" or engine.documents():
        return False
    if status not in ("queued", "running"):
        ledger.queue("add", arguments)
    ensure_worker(engine.config.workspace)
    return True


def end_worker(engine: Engine, seconds: float) -> bool:
    """Whether no worker is left; the run it is at is cancelled, and it has so many seconds to end."""
    ledger = Ledger(engine.catalog)
    for run in ledger.runs():
        if run.status == "running":
            ledger.cancel(run.id)
    return places.await_worker(engine.config.workspace, seconds)


def work(engine: Engine, *, goes_on: Callable[[], bool] = lambda: True) -> int:
    """Number of runs that were carried out; ends when none waits, or between two when it shall not go on."""
    ledger, count = Ledger(engine.catalog), 0
    while goes_on() and (run := ledger.next()) is not None:
        _carry_out(run, engine, ledger)
        count += 1
    return count


def _carry_out(run: Run, engine: Engine, ledger: Ledger) -> None:
    ended: tuple[RunStatus, list[dict[str, Any]], str] = ("failed", [], "The worker broke off; worker.log says why.")
    try:
        if run.attempts > _ATTEMPTS:
            raise WorkspaceError(f"The worker broke off {_ATTEMPTS} times at this; worker.log may say why.")
        with _heartbeat(run, ledger) as pulse:
            results = _try(run, engine, pulse)
        ended = ("cancelled" if pulse.cancelled.is_set() else "done", results, "")
    except SextantError as error:
        ended = ("failed", [], str(error))
    finally:
        workspace, (status, results, message) = engine.config.workspace, ended
        kept = kept_uploads(workspace, replace(run, results=results))
        # First the ledger: a worker that is killed here must not look for files that it has removed.
        remove_settled(workspace, ledger.finish(run.id, status, results, f"{message} {kept}".strip()))


def _try(run: Run, engine: Engine, pulse: _Pulse) -> list[dict[str, Any]]:
    """What the action gives, begun again while another process writes in the workspace; empty when cancelled so."""
    while not pulse.cancelled.is_set():
        try:
            return _ACTIONS[run.action](run.arguments, engine, pulse)
        except WorkspaceError as error:
            if not error.retryable:
                raise
            pulse.progress = Progress(0, 0, 0, 0, str(error))
        pulse.cancelled.wait(_AGAIN_SECONDS)
    return []


class _Pulse:
    """What the worker and its heartbeat tell each other."""

    def __init__(self) -> None:
        self.progress: Progress | None = None
        self.cancelled = threading.Event()
        self.stopped = threading.Event()


@contextmanager
def _heartbeat(run: Run, ledger: Ledger) -> Iterator[_Pulse]:
    pulse = _Pulse()
    if run.cancel:
        pulse.cancelled.set()

    def beat() -> None:
        while not pulse.stopped.wait(HEARTBEAT_SECONDS / 4):
            if ledger.beat(run.id, pulse.progress):
                pulse.cancelled.set()

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
    added = add_paths(paths, engine, progress=progress, cancelled=pulse.cancelled.is_set)
    return [asdict(replace(one, path=upload_name(engine.config.workspace, one.path))) for one in added]


def _erase(arguments: Mapping[str, Any], engine: Engine, _pulse: _Pulse) -> list[dict[str, Any]]:
    return [asdict(engine.erase(engine.catalog.find_document(arguments["document_id"])))]


_ACTIONS = {"add": _add, "erase": _erase}


def _server(workspace: Path) -> int:
    """Process of the `sextant serve` on the workspace, 0 where there is none."""
    serving = places.find_serving(workspace)
    return serving.process if serving else 0


def _main(workspace: Path, server: int) -> None:
    with closing(open_engine(read_config(workspace))) as engine:
        ledger, mine = Ledger(engine.catalog), True
        # Looks once more when the lock is free: a run queued at the last moment found the lock taken.
        while mine and ledger.waiting() and _server(workspace) == server:
            with places.work_lock(workspace) as mine:
                if mine:
                    ledger.take_over()
                    remove_leftovers(workspace, ledger)
                    # Its Chroma goes with the server it was started beside; what waits then waits for the next.
                    work(engine, goes_on=lambda: _server(workspace) == server)


if __name__ == "__main__":
    _main(Path(sys.argv[1]), int(sys.argv[2]))
