"""Worker process: carries out the queued runs, so that no page waits and a reload loses nothing."""

from __future__ import annotations

import math
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import asdict, replace
from datetime import UTC, datetime
from pathlib import Path
from types import FrameType
from typing import Any

import sqlalchemy as sql

from ingestion import workspace as folders
from ingestion.book_index.find_pages import index_pages
from ingestion.config import read_ingestion_config
from ingestion.dataset.comparison.ask_cells import ask_cells, cells_request_of
from ingestion.dataset.comparison.store import ComparisonStore
from ingestion.jobs.kinds import KINDS
from ingestion.jobs.process import server_of
from ingestion.jobs.queue import HEARTBEAT_SECONDS, JobQueue, Run, RunStatus
from ingestion.jobs.uploads import kept_uploads, remove_finished, remove_leftovers, upload_name
from ingestion.operations.answers import measure_gate
from ingestion.operations.backups import keep_backup
from ingestion.operations.corrections import relabel
from ingestion.operations.desk import local_person, open_desk, queue_run
from ingestion.operations.documents import add_files, erase, finish_erasures, unfinished_erasures
from ingestion.operations.evaluation import ask_test_questions
from ingestion.operations.indexes import accept_index, discard_index, rebuild
from ingestion.operations.language_models import pull, try_model
from ingestion.operations.sources import remove_sources
from ingestion.pipeline.run import run_phases
from ingestion.records.erasures import begun_erasures, find_erasure
from ingestion.records.refused_files import blame_nobody
from ingestion.records.source_store import SourceStore
from ingestion.tools import open_tools
from ingestion.types.run import ControlSignal, Progress, RunRequest
from rag_engine.config import read_config
from rag_engine.engine import Engine, open_engine
from rag_engine.errors import BackendError, InputError, SextantError, WorkspaceError
from rag_engine.evaluation.answers.run_answers import AnswersRequest
from rag_engine.grounding.build import build_knowledge_base
from rag_engine.messages import NO_MESSAGE, Message, join_messages
from rag_engine.storage.catalog import no_document
from rag_engine.text.control_characters import print_plainly
from rag_engine.waiting import while_waiting

_AGAIN_SECONDS = 2.0


def work(engine: Engine, *, goes_on: Callable[[], bool] = lambda: True) -> int:
    """Carry out runs until none waits, or until it shall not continue; return their number."""
    jobs, count = JobQueue(engine.catalog), 0
    try:
        finish_erasures(open_desk(engine, local_person()))
    except SextantError as error:
        # Every run ends with it, but for the one that may be its cure; in worker.log meanwhile.
        sys.stderr.write(f"{error}\n")
    while goes_on():
        if (run := jobs.next()) is not None:
            _carry_out(run, engine, jobs)
            count += 1
        elif not engine.collection.renew_files(lambda: goes_on() and not jobs.waiting()):
            break
    return count


def _carry_out(run: Run, engine: Engine, jobs: JobQueue) -> None:
    ended: tuple[RunStatus, list[dict[str, Any]], Message] = (
        "failed",
        [],
        Message("The worker broke off; worker.log says why."),
    )
    try:
        if run.attempts > (times := KINDS[run.action].attempts):
            raise WorkspaceError("The worker broke off {times} times at this; worker.log may say why.", times=times)
        with _heartbeat(run, jobs) as pulse:
            results = _try(run, engine, pulse)
        ended = (_ENDINGS[pulse.signal] if pulse.cancelled.is_set() else "done", results, pulse.warning)
    except SextantError as error:
        ended = ("failed", [], error.message)
    finally:
        workspace, (status, results, message) = engine.config.workspace, ended
        kept = kept_uploads(workspace, replace(run, results=results))
        # First the job queue: a worker that is killed here must not look for files that it has removed.
        remove_finished(workspace, jobs.finish(run.id, status, results, join_messages([message, kept])))


_ENDINGS: Mapping[ControlSignal, RunStatus] = {"": "done", "pause": "paused", "cancel": "cancelled"}


def _try(run: Run, engine: Engine, pulse: _Pulse) -> list[dict[str, Any]]:
    """Return the result of the action, begun again while another process writes; empty if cancelled."""
    while not pulse.cancelled.is_set():
        try:
            if run.action != "rebuild" and unfinished_erasures(desk := open_desk(engine, local_person())):
                finish_erasures(desk)
            return _WORK[run.action](run, engine, pulse)
        except WorkspaceError as error:
            if not error.retryable:
                raise
            pulse.progress = Progress(0, 0, 0, 0, error.message)
        pulse.cancelled.wait(_AGAIN_SECONDS)
    return []


class _Pulse:
    """State that the worker and its heartbeat share."""

    def __init__(self, run: Run, jobs: JobQueue) -> None:
        self._run, self._jobs, self._moved = run, jobs, False
        # Where this attempt began: a run over documents counts those of earlier attempts too.
        self._begun: int | None = 0 if run.action == "run" else None
        self.progress: Progress | None = None
        self.signal: ControlSignal = ""
        # Reported with the results.
        self.warning = NO_MESSAGE
        # Whether another worker was at this before.
        self.again = run.attempts > 1
        # Set by either signal: what looks at it ends after what it is at.
        self.cancelled = threading.Event()
        self.stopped = threading.Event()
        self._hearing, self._deaf = threading.Lock(), False

    def move(self, now: Progress) -> None:
        """Note how far the work is."""
        self.progress = now
        self._begun = now.done if self._begun is None else self._begun
        if KINDS[self._run.action].keeps and now.done > self._begun and not self._moved:
            with suppress(sql.exc.OperationalError):
                self._jobs.advance(self._run.id)
                self._moved = True

    def begin_for_good(self) -> bool:
        """Take no control signal from now on; return False if one came before."""
        with self._hearing:
            self._deaf = not self.cancelled.is_set()
        self.progress = Progress(0, 1, 0, 0, "")
        return self._deaf

    def check(self) -> None:
        """Raise where the work is to end."""
        if self.cancelled.is_set():
            raise _EndedError("The work was ended.")

    def hear(self, signal: ControlSignal) -> None:
        """Note the control signal of the run."""
        with self._hearing:
            if signal and not self._deaf:
                self.signal = signal
                self.cancelled.set()


@contextmanager
def _heartbeat(run: Run, jobs: JobQueue) -> Iterator[_Pulse]:
    pulse = _Pulse(run, jobs)
    pulse.hear(run.signal)

    def beat() -> None:
        while not pulse.stopped.wait(HEARTBEAT_SECONDS / 4):
            # A database that is locked for half a minute has not stopped the worker's heart.
            with suppress(sql.exc.OperationalError):
                pulse.hear(jobs.beat(run.id, pulse.progress))

    thread = threading.Thread(target=beat, daemon=True)
    thread.start()
    try:
        yield pulse
    finally:
        pulse.stopped.set()
        thread.join()


_Work = Callable[[Run, Engine, _Pulse], list[dict[str, Any]]]
_WORK: dict[str, _Work] = {}


def _carries_out(kind: str) -> Callable[[_Work], _Work]:
    """Declare a function as the work of a kind of job."""

    def declared(work: _Work) -> _Work:
        _WORK[kind] = work
        return work

    return declared


@_carries_out("add")
def _add(run: Run, engine: Engine, pulse: _Pulse) -> list[dict[str, Any]]:
    files = [Path(path) for path in run.arguments["paths"]]
    added = add_files(
        open_desk(engine, run.person),
        files,
        replaces=run.arguments.get("replaces", ""),
        again=bool(run.arguments.get("again")),
        progress=pulse.move,
        cancelled=pulse.cancelled.is_set,
    )
    return [asdict(replace(one, path=upload_name(engine.config.workspace, one.path))) for one in added]


def _is_still_meant(run: Run, pulse: _Pulse) -> bool:
    """Wait as long as the person who asked for it may think better of it; return whether the work begins."""
    waited = (datetime.now(UTC) - datetime.fromisoformat(run.queued)).total_seconds()
    pulse.cancelled.wait(max(0.0, float(run.arguments.get("undo_seconds", 0)) - waited))
    return pulse.begin_for_good()


@_carries_out("remove")
def _remove(run: Run, engine: Engine, pulse: _Pulse) -> list[dict[str, Any]]:
    # What it queues is this worker's next.
    desk = replace(open_desk(engine, run.person), start_worker=lambda _: None)
    codes = tuple(run.arguments["codes"])
    if not _is_still_meant(run, pulse):
        return []
    pulse.move(Progress(0, len(codes), 0, 0, ""))
    if pulse.again and not desk.store.records().keys() & set(codes):
        # A worker before this one was killed when it had removed them: their documents may still be there.
        queue_run(desk, RunRequest(("indexing",), codes))
        return []
    removed = remove_sources(desk, codes, run.arguments["author"])
    return [{"codes": removed.codes, "left": removed.left}]


@_carries_out("erase")
def _erase(run: Run, engine: Engine, pulse: _Pulse) -> list[dict[str, Any]]:
    desk, asked = open_desk(engine, run.person), run.arguments
    author, note, redact = asked.get("author", ""), asked.get("note", ""), bool(asked.get("redact"))
    if not _is_still_meant(run, pulse):
        return []
    erased: list[dict[str, Any]] = []
    refused: list[InputError] = []
    for done, document in enumerate(run.documents):
        pulse.move(Progress(done, len(run.documents), 0, 0, ""))
        try:
            if _is_there(engine, document):
                erased.append(asdict(erase(desk, document, author, note, redact=redact)))
            elif not pulse.again:
                raise no_document(document)
            # Else a worker before this one was killed when it was done, and before it could report it.
        except InputError as error:
            refused.append(error)
    if refused and not erased:
        raise refused[0]
    # The others are gone, as was asked, and what is left of them is told.
    pulse.warning = join_messages(one.message for one in refused)
    return erased


def _is_there(engine: Engine, queued: str) -> bool:
    """Return whether the document of a source or id (not a title) is there, if only half erased."""
    kept = any(queued in (one.document_id, one.source) for one in engine.collection.documents())
    return kept or find_erasure(engine.config.workspace, queued) is not None


@_carries_out("relabel")
def _relabel(run: Run, engine: Engine, pulse: _Pulse) -> list[dict[str, Any]]:  # noqa: ARG001 - as every action
    return [{"documents": relabel(open_desk(engine, run.person), run.arguments["documents"])}]


@_carries_out("run")
def _run(run: Run, engine: Engine, pulse: _Pulse) -> list[dict[str, Any]]:
    request = run.request
    # Sources that are named, or what failed: both are asked for on purpose.
    again = request.which == "failed" or (request.which == "all" and bool(request.codes))
    with open_tools(engine, read_ingestion_config(engine.config.workspace), again=again) as tools:
        pulse.warning = tools.language_model_error
        summaries = run_phases(
            SourceStore(engine.catalog),
            engine,
            tools,
            run.request,
            progress=pulse.move,
            signal=lambda: pulse.signal,
        )
    return [asdict(summary) for summary in summaries]


@_carries_out("compare")
def _compare(run: Run, engine: Engine, pulse: _Pulse) -> list[dict[str, Any]]:
    asked = ask_cells(
        engine,
        ComparisonStore(engine.catalog),
        cells_request_of(run.arguments),
        progress=pulse.move,
        stopped=pulse.cancelled.is_set,
    )
    return [asdict(asked)]


class _EndedError(SextantError):
    """Somebody asked to end work that does not look for it itself."""


def _stoppable(pulse: _Pulse) -> Callable[[int, int, str], None]:
    """Return a function that notes progress, and raises where the work is to end."""

    def move(done: int, total: int, current: str) -> None:
        pulse.check()
        pulse.move(Progress(done, total, 0, 0, current))

    return move


@_carries_out("backup")
def _backup(run: Run, engine: Engine, pulse: _Pulse) -> list[dict[str, Any]]:
    try:
        made = keep_backup(open_desk(engine, run.person), progress=_stoppable_bytes(pulse))
    except _EndedError:
        return []
    return [{**asdict(made), "file": str(made.file)}]


@_carries_out("pull")
def _pull(run: Run, engine: Engine, pulse: _Pulse) -> list[dict[str, Any]]:
    desk, model = open_desk(engine, run.person), str(run.arguments["model"])
    try:
        with while_waiting(lambda _: pulse.check()):
            pull(desk, model, progress=_stoppable_bytes(pulse))
            try:
                return [{"model": model, **asdict(try_model(desk, model))}]
            except BackendError as error:
                # The model is there and chosen; the person decides whether it stays.
                pulse.warning = error.message
    except _EndedError:
        return []
    return [{"model": model}]


def _stoppable_bytes(pulse: _Pulse) -> Callable[..., None]:
    """Return a function that notes progress in bytes, and raises where the work is to end."""

    def move(done: int, total: int, *_: str) -> None:
        pulse.check()
        pulse.move(Progress(_megabytes(done), _megabytes(total), done, total, ""))

    return move


def _megabytes(size: int) -> int:
    return math.ceil(size / 1e6)


@_carries_out("rebuild")
def _rebuild(run: Run, engine: Engine, pulse: _Pulse) -> list[dict[str, Any]]:
    encode, anyway = bool(run.arguments.get("encode")), bool(run.arguments.get("anyway"))
    try:
        children = rebuild(open_desk(engine, run.person), encode=encode, anyway=anyway, progress=_stoppable(pulse))
    except _EndedError:
        return []
    return [{"children": children}]


@_carries_out("decide")
def _decide(run: Run, engine: Engine, pulse: _Pulse) -> list[dict[str, Any]]:
    desk, accept = open_desk(engine, run.person), bool(run.arguments.get("accept"))
    if pulse.again and engine.collection.waiting() is None:
        # A worker before this one may have been killed when it was done, and before it could report it.
        return []
    if accept:
        return [{"children": accept_index(desk)}]
    discard_index(desk)
    return []


@_carries_out("gate")
def _gate(run: Run, engine: Engine, pulse: _Pulse) -> list[dict[str, Any]]:
    accept = bool(run.arguments.get("accept"))
    try:
        result = measure_gate(open_desk(engine, run.person), accept=accept, progress=_stoppable(pulse))
    except _EndedError:
        return []
    return [{"dropped": list(result.dropped)}] if result else []


@_carries_out("test")
def _test(run: Run, engine: Engine, pulse: _Pulse) -> list[dict[str, Any]]:
    try:
        desk, request = open_desk(engine, run.person), AnswersRequest(**run.arguments)
        kept, pulse.warning = ask_test_questions(desk, request, _stoppable(pulse))
    except _EndedError:
        return []
    return [{"id": kept.id, "questions": len(kept.run.rows), "failed": sum(row.failed for row in kept.run.rows)}]


def _left(entries: int) -> Message:
    return Message("{count} entries are left for the next run.", count=entries)


@_carries_out("ground")
def _ground(run: Run, engine: Engine, pulse: _Pulse) -> list[dict[str, Any]]:
    generator, pulse.warning = (
        engine.language_model() if read_ingestion_config(engine.config.workspace).use_model else (None, NO_MESSAGE)
    )
    summary = build_knowledge_base(
        engine,
        generator,
        lambda record: index_pages(engine.catalog.extracted(record)),
        # What another worker has done of it is not done once more.
        again=bool(run.arguments.get("again")) and not pulse.again,
        progress=lambda done, total, now: pulse.move(Progress(done, total, 0, 0, now, "grounding")),
        stopped=pulse.cancelled.is_set,
    )
    if summary.failed:
        pulse.warning = join_messages([pulse.warning, _left(summary.failed), summary.failure])
    return [asdict(summary)]


def _main(workspace: Path, server: int) -> None:
    os.umask(0o077)
    with closing(open_engine(read_config(workspace))) as engine:
        jobs, mine = JobQueue(engine.catalog), True
        due = jobs.waiting() or bool(begun_erasures(engine.config.workspace) or engine.collection.left_by_erasures())
        # Looks once more when the lock is free: a run queued at the last moment found the lock taken.
        while mine and due and server_of(workspace) == server:
            with folders.work_lock(workspace) as mine:
                if mine:
                    jobs.take_over()
                    remove_leftovers(workspace, jobs)
                    # What waits when the server that it was started beside ends waits for the next.
                    work(engine, goes_on=lambda: server_of(workspace) == server)
            due = jobs.waiting()


def _end_as_asked(number: int, _frame: FrameType | None) -> None:
    """End as the signal would have, without a mark against the current source."""
    blame_nobody()
    signal.signal(number, signal.SIG_DFL)
    signal.raise_signal(number)


if __name__ == "__main__":
    print_plainly()
    signal.signal(signal.SIGTERM, _end_as_asked)
    _main(Path(sys.argv[1]), int(sys.argv[2]))
