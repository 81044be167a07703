"""Runs the queued work in a process of its own, so that no page waits and a reload loses nothing."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import sqlalchemy as sql

from ingestion.add_files import add_paths
from ingestion.config import read_ingestion_config
from ingestion.jobs.queue import HEARTBEAT_SECONDS, JobQueue, Run, RunStatus
from ingestion.jobs.uploads import kept_uploads, remove_leftovers, remove_settled, upload_name
from ingestion.operations import withdraw
from ingestion.pipeline.run import run_phases
from ingestion.records.source_store import SourceStore
from ingestion.tools import open_tools
from ingestion.types import PHASES, ControlSignal, Progress, RunRequest
from rag_engine import workspace as paths
from rag_engine.config import ROOT, read_config
from rag_engine.engine import Engine, open_engine
from rag_engine.errors import InputError, SextantError, WorkspaceError

_AGAIN_SECONDS = 2.0
_LOOK_SECONDS = 0.3
# A file that ends its worker, for want of memory say, would end the next one too.
_ATTEMPTS = {"add": 2, "erase": 2, "run": 10}
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
                    [sys.executable, "-m", "ingestion.jobs.worker", str(workspace.absolute()), str(_server(workspace))],
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
    return paths.await_worker(workspace)


def ensure_sample(engine: Engine, folder: Path) -> bool:
    """Whether the sample collection is being put into the workspace: it is empty and has not had it before."""
    jobs, arguments = JobQueue(engine.catalog), {"paths": [str(folder)]}
    status = next((run.status for run in jobs.runs() if run.arguments == arguments), None)
    if status == "done" or engine.documents():
        return False
    if status not in ("queued", "running"):
        jobs.queue("add", arguments)
    ensure_worker(engine.config.workspace)
    return True


def follow(engine: Engine, id: int, seen: Callable[[Run], None] = lambda _: None) -> Run:
    """The run as it ended; `seen` gets it at every look. Somebody else may be at it, or a worker is started."""
    jobs = JobQueue(engine.catalog)
    while (run := jobs.find(id)) is not None and run.status in ("queued", "running"):
        seen(run)
        if not run.alive:
            ensure_worker(engine.config.workspace)
        time.sleep(_LOOK_SECONDS)
    if run is None:
        raise WorkspaceError(f"Run {id} is not in the workspace any more.")
    seen(run)
    return run


def end_worker(engine: Engine, seconds: float) -> bool:
    """Whether no worker is left; the run it is at is cancelled, and it has so many seconds to end."""
    jobs = JobQueue(engine.catalog)
    for run in jobs.runs():
        if run.status == "running":
            jobs.cancel(run.id)
    return paths.await_worker(engine.config.workspace, seconds)


def work(engine: Engine, *, goes_on: Callable[[], bool] = lambda: True) -> int:
    """Number of runs that were carried out; ends when none waits, or between two when it shall not go on."""
    jobs, count = JobQueue(engine.catalog), 0
    while goes_on() and (run := jobs.next()) is not None:
        _carry_out(run, engine, jobs)
        count += 1
    return count


def _carry_out(run: Run, engine: Engine, jobs: JobQueue) -> None:
    ended: tuple[RunStatus, list[dict[str, Any]], str] = ("failed", [], "The worker broke off; worker.log says why.")
    try:
        if run.attempts > _ATTEMPTS[run.action]:
            times = _ATTEMPTS[run.action]
            raise WorkspaceError(f"The worker broke off {times} times at this; worker.log may say why.")
        with _heartbeat(run, jobs) as pulse:
            results = _try(run, engine, pulse)
        ended = (_ENDINGS[pulse.signal] if pulse.cancelled.is_set() else "done", results, pulse.said)
    except SextantError as error:
        ended = ("failed", [], str(error))
    finally:
        workspace, (status, results, message) = engine.config.workspace, ended
        kept = kept_uploads(workspace, replace(run, results=results))
        # First the job queue: a worker that is killed here must not look for files that it has removed.
        remove_settled(workspace, jobs.finish(run.id, status, results, f"{message} {kept}".strip()))


_ENDINGS: Mapping[ControlSignal, RunStatus] = {"": "done", "pause": "paused", "cancel": "cancelled"}


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

    def __init__(self, again: bool) -> None:
        self.progress: Progress | None = None
        self.signal: ControlSignal = ""
        # What is to be told with the results.
        self.said = ""
        # Whether another worker was at this before.
        self.again = again
        # Set for either wish: what looks at it ends after what it is at.
        self.cancelled = threading.Event()
        self.stopped = threading.Event()

    def hear(self, signal: ControlSignal) -> None:
        """Nothing; takes note of what people wish of the run."""
        self.signal = signal
        if signal:
            self.cancelled.set()


@contextmanager
def _heartbeat(run: Run, jobs: JobQueue) -> Iterator[_Pulse]:
    pulse = _Pulse(again=run.attempts > 1)
    pulse.hear(run.signal)

    def beat() -> None:
        moved = False
        while not pulse.stopped.wait(HEARTBEAT_SECONDS / 4):
            # A database that is locked for half a minute has not stopped the worker's heart.
            with suppress(sql.exc.OperationalError):
                pulse.hear(jobs.beat(run.id, pulse.progress))
                if run.action == "run" and not moved and pulse.progress is not None and pulse.progress.done:
                    # What it did stays done, so that being broken off after it brings nobody back to the beginning.
                    moved = True
                    jobs.advance(run.id)

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


def _erase(arguments: Mapping[str, Any], engine: Engine, pulse: _Pulse) -> list[dict[str, Any]]:
    try:
        record = engine.catalog.find_document(arguments["document_id"])
    except InputError:
        if pulse.again:
            # The worker before this one was killed when it was done, and before it could say so.
            return []
        raise
    # First the word that it shall stay out: the next run over the list must not bring it back.
    withdraw(record, SourceStore(engine.catalog), engine.config.workspace, author=str(arguments.get("author", "")))
    return [asdict(engine.erase(record))]


def _run(arguments: Mapping[str, Any], engine: Engine, pulse: _Pulse) -> list[dict[str, Any]]:
    def progress(now: Progress) -> None:
        pulse.progress = now

    request = RunRequest(
        phases=tuple(arguments.get("phases") or PHASES),
        codes=tuple(arguments.get("codes", ())),
        which=arguments.get("which", "due"),
        refresh=bool(arguments.get("refresh", False)),
    )
    with open_tools(engine, read_ingestion_config()) as tools:
        pulse.said = tools.language_model_error
        summaries = run_phases(
            SourceStore(engine.catalog), engine, tools, request, progress=progress, signal=lambda: pulse.signal
        )
    return [asdict(summary) for summary in summaries]


_ACTIONS = {"add": _add, "erase": _erase, "run": _run}


def _server(workspace: Path) -> int:
    """Process of the `sextant serve` on the workspace, 0 where there is none."""
    serving = paths.find_serving(workspace)
    return serving.process if serving else 0


def _main(workspace: Path, server: int) -> None:
    with closing(open_engine(read_config(workspace))) as engine:
        jobs, mine = JobQueue(engine.catalog), True
        # Looks once more when the lock is free: a run queued at the last moment found the lock taken.
        while mine and jobs.waiting() and _server(workspace) == server:
            with paths.work_lock(workspace) as mine:
                if mine:
                    jobs.take_over()
                    remove_leftovers(workspace, jobs)
                    # Its Chroma goes with the server it was started beside; what waits then waits for the next.
                    work(engine, goes_on=lambda: _server(workspace) == server)


if __name__ == "__main__":
    _main(Path(sys.argv[1]), int(sys.argv[2]))
