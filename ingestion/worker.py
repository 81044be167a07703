"""Worker process: carries out the queued jobs, so that no page waits and a reload loses nothing."""

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
from ingestion.acts.backups import keep_backup
from ingestion.acts.context import local_person, open_context, queue_run
from ingestion.acts.corrections import relabel
from ingestion.acts.documents import add_files, erase, finish_erasures, unfinished_erasures
from ingestion.acts.evaluation import ask_test_questions
from ingestion.acts.indexes import accept_index, discard_index, measure_gate, rebuild
from ingestion.acts.language_models import pull, try_model
from ingestion.acts.sources import remove_sources
from ingestion.book_index.find_pages import index_pages
from ingestion.config import read_ingestion_config
from ingestion.dataset.comparison.ask_cells import ask_cells, cells_request_of
from ingestion.dataset.comparison.store import ComparisonStore
from ingestion.jobs.kinds import KINDS
from ingestion.jobs.process import server_of
from ingestion.jobs.queue import HEARTBEAT_SECONDS, Job, JobQueue, JobStatus
from ingestion.jobs.uploads import kept_uploads, remove_finished, remove_leftovers, upload_name
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
_ENDINGS: Mapping[ControlSignal, JobStatus] = {"": "done", "pause": "paused", "cancel": "cancelled"}


def work(engine: Engine, *, goes_on: Callable[[], bool] = lambda: True) -> int:
    """Carry out jobs until none waits, or until it shall not continue; return their number."""
    jobs, count = JobQueue(engine.catalog), 0
    try:
        finish_erasures(open_context(engine, local_person()))
    except SextantError as error:
        # Every job ends with it, but for the one that may be its cure; in worker.log meanwhile.
        sys.stderr.write(f"{error}\n")
    while goes_on():
        if (job := jobs.next()) is not None:
            _carry_out(job, engine, jobs)
            count += 1
        elif not engine.generations.renew_files(lambda: goes_on() and not jobs.waiting()):
            break
    return count


def _carry_out(job: Job, engine: Engine, jobs: JobQueue) -> None:
    ended: tuple[JobStatus, list[dict[str, Any]], Message] = (
        "failed",
        [],
        Message("The worker broke off; worker.log says why."),
    )
    try:
        if job.attempts > (times := KINDS[job.kind].attempts):
            raise WorkspaceError("The worker broke off {times} times at this; worker.log may say why.", times=times)
        with _heartbeat(job, jobs) as pulse:
            results = _try(job, engine, pulse)
        ended = (_ENDINGS[pulse.signal] if pulse.cancelled.is_set() else "done", results, pulse.warning)
    except SextantError as error:
        ended = ("failed", [], error.message)
    finally:
        workspace, (status, results, message) = engine.config.workspace, ended
        kept = kept_uploads(workspace, replace(job, results=results))
        # First the job queue: a worker that is killed here must not look for files that it has removed.
        remove_finished(workspace, jobs.finish(job.id, status, results, join_messages([message, kept])))


def _try(job: Job, engine: Engine, pulse: _Pulse) -> list[dict[str, Any]]:
    """Return the result of the job, begun again while another process writes; empty if cancelled."""
    while not pulse.cancelled.is_set():
        try:
            if job.kind != "rebuild" and unfinished_erasures(context := open_context(engine, local_person())):
                finish_erasures(context)
            return _WORK[job.kind](job, engine, pulse)
        except _EndedError:
            break
        except WorkspaceError as error:
            if not error.retryable:
                raise
            pulse.progress = Progress(0, 0, 0, 0, error.message)
        pulse.cancelled.wait(_AGAIN_SECONDS)
    return []


class _Pulse:
    """State that the worker and its heartbeat share."""

    def __init__(self, job: Job, jobs: JobQueue) -> None:
        self._job, self._jobs, self._moved = job, jobs, False
        # Where this attempt began: a job over documents counts those of earlier attempts too.
        self._begun: int | None = 0 if job.kind == "run" else None
        self.progress: Progress | None = None
        self.signal: ControlSignal = ""
        # Reported with the results.
        self.warning = NO_MESSAGE
        # Whether another worker was at this before.
        self.again = job.attempts > 1
        # Set by either signal: what looks at it ends after what it is at.
        self.cancelled = threading.Event()
        self.stopped = threading.Event()
        self._hearing, self._deaf = threading.Lock(), False

    def move(self, now: Progress) -> None:
        """Note how far the work is."""
        self.progress = now
        self._begun = now.done if self._begun is None else self._begun
        if KINDS[self._job.kind].keeps and now.done > self._begun and not self._moved:
            with suppress(sql.exc.OperationalError):
                self._jobs.advance(self._job.id)
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
        """Note the control signal of the job."""
        with self._hearing:
            if signal and not self._deaf:
                self.signal = signal
                self.cancelled.set()


@contextmanager
def _heartbeat(job: Job, jobs: JobQueue) -> Iterator[_Pulse]:
    pulse = _Pulse(job, jobs)
    pulse.hear(job.signal)

    def beat() -> None:
        while not pulse.stopped.wait(HEARTBEAT_SECONDS / 4):
            # A database that is locked for half a minute has not stopped the worker's heart.
            with suppress(sql.exc.OperationalError):
                pulse.hear(jobs.beat(job.id, pulse.progress))

    thread = threading.Thread(target=beat, daemon=True)
    thread.start()
    try:
        yield pulse
    finally:
        pulse.stopped.set()
        thread.join()


_Work = Callable[[Job, Engine, _Pulse], list[dict[str, Any]]]
_WORK: dict[str, _Work] = {}


def _carries_out(kind: str) -> Callable[[_Work], _Work]:
    """Declare a function as the work of a kind of job."""

    def declared(work: _Work) -> _Work:
        _WORK[kind] = work
        return work

    return declared


@_carries_out("add")
def _add(job: Job, engine: Engine, pulse: _Pulse) -> list[dict[str, Any]]:
    files = [Path(path) for path in job.arguments["paths"]]
    added = add_files(
        open_context(engine, job.person),
        files,
        replaces=job.arguments.get("replaces", ""),
        again=bool(job.arguments.get("again")),
        progress=pulse.move,
        cancelled=pulse.cancelled.is_set,
    )
    return [asdict(replace(outcome, path=upload_name(engine.config.workspace, outcome.path))) for outcome in added]


def _is_still_meant(job: Job, pulse: _Pulse) -> bool:
    """Wait as long as the person who asked for it may think better of it; return whether the work begins."""
    waited = (datetime.now(UTC) - datetime.fromisoformat(job.queued)).total_seconds()
    pulse.cancelled.wait(max(0.0, float(job.arguments.get("undo_seconds", 0)) - waited))
    return pulse.begin_for_good()


@_carries_out("remove")
def _remove(job: Job, engine: Engine, pulse: _Pulse) -> list[dict[str, Any]]:
    # What it queues is this worker's next.
    context = replace(open_context(engine, job.person), start_worker=lambda _: None)
    codes = tuple(job.arguments["codes"])
    if not _is_still_meant(job, pulse):
        return []
    pulse.move(Progress(0, len(codes), 0, 0, ""))
    if pulse.again and not context.store.records().keys() & set(codes):
        # A worker before this one was killed when it had removed them: their documents may still be there.
        queue_run(context, RunRequest(("indexing",), codes))
        return []
    removed = remove_sources(context, codes, job.arguments["author"])
    return [{"codes": removed.codes, "left": removed.left}]


@_carries_out("erase")
def _erase(job: Job, engine: Engine, pulse: _Pulse) -> list[dict[str, Any]]:
    context, asked = open_context(engine, job.person), job.arguments
    author, note, redact = asked.get("author", ""), asked.get("note", ""), bool(asked.get("redact"))
    if not _is_still_meant(job, pulse):
        return []
    erased: list[dict[str, Any]] = []
    refused: list[InputError] = []
    for done, document in enumerate(job.documents):
        pulse.move(Progress(done, len(job.documents), 0, 0, ""))
        try:
            if _is_there(engine, document):
                erased.append(asdict(erase(context, document, author, note, redact=redact)))
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
    kept = any(queued in (document.document_id, document.source) for document in engine.collection.documents())
    return kept or find_erasure(engine.config.workspace, queued) is not None


@_carries_out("relabel")
def _relabel(job: Job, engine: Engine, pulse: _Pulse) -> list[dict[str, Any]]:  # noqa: ARG001 - as every job
    return [{"documents": relabel(open_context(engine, job.person), job.arguments["documents"])}]


@_carries_out("run")
def _run(job: Job, engine: Engine, pulse: _Pulse) -> list[dict[str, Any]]:
    request = job.request
    # Sources that are named, or what failed: both are asked for on purpose.
    again = request.which == "failed" or (request.which == "all" and bool(request.codes))
    with open_tools(engine, read_ingestion_config(engine.config.workspace), again=again) as tools:
        pulse.warning = tools.language_model_error
        summaries = run_phases(
            SourceStore(engine.catalog),
            engine,
            tools,
            job.request,
            progress=pulse.move,
            signal=lambda: pulse.signal,
        )
    return [asdict(summary) for summary in summaries]


@_carries_out("compare")
def _compare(job: Job, engine: Engine, pulse: _Pulse) -> list[dict[str, Any]]:
    asked = ask_cells(
        engine,
        ComparisonStore(engine.catalog),
        cells_request_of(job.arguments),
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
def _backup(job: Job, engine: Engine, pulse: _Pulse) -> list[dict[str, Any]]:
    made = keep_backup(open_context(engine, job.person), progress=_stoppable_bytes(pulse))
    return [{**asdict(made), "file": str(made.file)}]


@_carries_out("pull")
def _pull(job: Job, engine: Engine, pulse: _Pulse) -> list[dict[str, Any]]:
    context, model = open_context(engine, job.person), str(job.arguments["model"])
    with while_waiting(lambda _: pulse.check()):
        pull(context, model, progress=_stoppable_bytes(pulse))
        try:
            return [{"model": model, **asdict(try_model(context, model))}]
        except BackendError as error:
            # The model is there and chosen; the person decides whether it stays.
            pulse.warning = error.message
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
def _rebuild(job: Job, engine: Engine, pulse: _Pulse) -> list[dict[str, Any]]:
    encode, anyway = bool(job.arguments.get("encode")), bool(job.arguments.get("anyway"))
    context, progress = open_context(engine, job.person), _stoppable(pulse)
    return [{"children": rebuild(context, encode=encode, anyway=anyway, progress=progress)}]


@_carries_out("decide")
def _decide(job: Job, engine: Engine, pulse: _Pulse) -> list[dict[str, Any]]:
    context, accept = open_context(engine, job.person), bool(job.arguments.get("accept"))
    if pulse.again and engine.collection.waiting() is None:
        # A worker before this one may have been killed when it was done, and before it could report it.
        return []
    if accept:
        return [{"children": accept_index(context)}]
    discard_index(context)
    return []


@_carries_out("gate")
def _gate(job: Job, engine: Engine, pulse: _Pulse) -> list[dict[str, Any]]:
    accept = bool(job.arguments.get("accept"))
    result = measure_gate(open_context(engine, job.person), accept=accept, progress=_stoppable(pulse))
    return [{"dropped": list(result.dropped)}] if result else []


@_carries_out("test")
def _test(job: Job, engine: Engine, pulse: _Pulse) -> list[dict[str, Any]]:
    context, request = open_context(engine, job.person), AnswersRequest(**job.arguments)
    kept, pulse.warning = ask_test_questions(context, request, _stoppable(pulse))
    return [{"id": kept.id, "questions": len(kept.run.rows), "failed": sum(row.failed for row in kept.run.rows)}]


@_carries_out("ground")
def _ground(job: Job, engine: Engine, pulse: _Pulse) -> list[dict[str, Any]]:
    uses_model = read_ingestion_config(engine.config.workspace).use_model
    generator, pulse.warning = engine.models.language_model() if uses_model else (None, NO_MESSAGE)
    summary = build_knowledge_base(
        engine,
        generator,
        lambda record: index_pages(engine.catalog.extracted(record)),
        # What another worker has done of it is not done once more.
        again=bool(job.arguments.get("again")) and not pulse.again,
        progress=lambda done, total, now: pulse.move(Progress(done, total, 0, 0, now, "grounding")),
        stopped=pulse.cancelled.is_set,
    )
    if summary.failed:
        pulse.warning = join_messages(
            [
                pulse.warning,
                Message("{count} entries are left for the next job.", count=summary.failed),
                summary.failure,
            ]
        )
    return [asdict(summary)]


def _main(workspace: Path, server: int) -> None:
    os.umask(0o077)
    with closing(open_engine(read_config(workspace))) as engine:
        jobs, mine = JobQueue(engine.catalog), True
        due = jobs.waiting() or bool(begun_erasures(engine.config.workspace) or engine.collection.left_by_erasures())
        # Looks once more when the lock is free: a job queued at the last moment found the lock taken.
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
