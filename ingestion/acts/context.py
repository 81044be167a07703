"""An opened workspace as the acts of a person need it, and the way to a worker."""

from __future__ import annotations

import getpass
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from ingestion.acts.register import act
from ingestion.config import user_name
from ingestion.jobs.process import ensure_worker
from ingestion.jobs.queue import Job, JobQueue
from ingestion.records.source_store import SourceStore
from ingestion.types.run import RunRequest, check_phases
from rag_engine.conversations.person import LOCAL, Person
from rag_engine.engine import Engine

# Among so many jobs an equal one is looked for.
LATEST_JOBS = 100


@dataclass(frozen=True, slots=True)
class ActContext:
    """An opened workspace as the acts need it: engine, sources, job queue, person, way to a worker."""

    engine: Engine
    store: SourceStore
    jobs: JobQueue
    person: Person
    start_worker: Callable[[Path], None] = ensure_worker

    @property
    def workspace(self) -> Path:
        """Folder of the workspace."""
        return self.engine.config.workspace


def open_context(engine: Engine, person: Person) -> ActContext:
    """Return the workspace of the engine, ready for the acts of a person."""
    return ActContext(engine, SourceStore(engine.catalog), JobQueue(engine.catalog), person)


def local_person(name: str = "") -> Person:
    """Return the one person of this machine, by the name that is given, else the system's."""
    return replace(LOCAL, name=name.strip() or system_user() or "local person")


def system_user() -> str:
    """Return the name of the user, from SEXTANT_USER or the system.

    It is "" in a container whose user has a number without a name.
    """
    try:
        return user_name() or getpass.getuser()
    except (OSError, KeyError, ImportError):
        return ""


@act("curator", "Starting a job")
def queue_job(context: ActContext, kind: str, arguments: Mapping[str, object]) -> Job:
    """Have the worker carry out a job that is not under way."""
    id = context.jobs.queue(kind, arguments, context.person)
    context.start_worker(context.workspace)
    queued = context.jobs.find(id)
    assert queued is not None, "jobs stay in the queue"
    return queued


@act("curator", "Starting a job")
def queue_once(context: ActContext, kind: str, arguments: Mapping[str, object]) -> Job:
    """Have the worker carry out a job that keeps its finished parts.

    A job of the same arguments that is under way serves as well, and continues where it was paused.
    """
    for job in context.jobs.latest(LATEST_JOBS):
        same = job.kind == kind and job.arguments == arguments and job.signal != "cancel"
        paused = same and (job.status == "paused" or (job.active and job.signal == "pause"))
        if paused:
            context.jobs.resume(job.id)
        if paused or (same and job.active):
            context.start_worker(context.workspace)
            return context.jobs.find(job.id) or job
    return queue_job(context, kind, arguments)


@act("curator", "Starting a run")
def queue_run(context: ActContext, request: RunRequest) -> Job:
    """Queue a run, also for removed codes that must leave the index; return it or an equal one.

    A run goes on without the client that asked for it. An equal run that has begun serves only if no source has changed
    since, for it may have passed the change.
    """
    request = replace(request, phases=check_phases(request.phases))
    for job in context.jobs.latest(LATEST_JOBS):
        same = job.kind == "run" and job.active and not job.signal and job.request == request
        if same and (job.status == "queued" or not context.store.changed_since(job.started)):
            context.start_worker(context.workspace)
            return job
    return queue_job(context, "run", asdict(request))
