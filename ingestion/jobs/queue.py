"""Job queue in the catalog database: requests, their progress and their results."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

import sqlalchemy as sql

from ingestion.jobs.kinds import KINDS
from ingestion.records.source_store import now
from ingestion.types.run import PHASES, ControlSignal, Progress, RunRequest
from rag_engine.conversations.person import LOCAL, Person
from rag_engine.messages import Message, dump_json, load_json
from rag_engine.storage.catalog import Catalog
from rag_engine.storage.schema import MessageText

JobStatus = Literal["queued", "running", "paused", "done", "failed", "cancelled"]

# A killed worker may still answer signals as a zombie: it lives as long as its heart beats.
HEARTBEAT_SECONDS = 2.0
DEAD_AFTER_SECONDS = 15.0

TABLES = sql.MetaData()
jobs = sql.Table(
    "jobs",
    TABLES,
    sql.Column("id", sql.Integer, primary_key=True, autoincrement=True),
    sql.Column("kind", sql.String, nullable=False),
    sql.Column("arguments", sql.String, nullable=False),
    sql.Column("status", sql.String, nullable=False, index=True),
    sql.Column("progress", sql.String, nullable=False, default=""),
    sql.Column("results", sql.String, nullable=False, default="[]"),
    sql.Column("message", MessageText, nullable=False, default=""),
    sql.Column("signal", sql.String, nullable=False, default=""),
    sql.Column("queued", sql.String, nullable=False),
    sql.Column("started", sql.String, nullable=False, default=""),
    sql.Column("heartbeat", sql.Float, nullable=False, default=0.0),
    sql.Column("attempts", sql.Integer, nullable=False, default=0),
    sql.Column("person", sql.String, nullable=False, default=""),
)


@dataclass(frozen=True, slots=True)
class Job:
    """A piece of work: its request, its person, its progress and its result."""

    id: int
    kind: str
    arguments: Mapping[str, Any]
    status: JobStatus
    progress: Progress | None
    results: Sequence[Mapping[str, Any]]
    message: Message
    signal: ControlSignal
    queued: str
    started: str
    heartbeat: float
    attempts: int
    person: Person

    @property
    def request(self) -> RunRequest:
        """The request that a run was queued with."""
        return RunRequest(
            phases=tuple(self.arguments.get("phases") or PHASES),
            codes=tuple(self.arguments.get("codes") or ()),
            which=self.arguments.get("which", "due"),
            refresh=bool(self.arguments.get("refresh", False)),
            without=tuple(self.arguments.get("without") or ()),
        )

    @property
    def documents(self) -> tuple[str, ...]:
        """The sources of the documents that a deletion was queued with."""
        return tuple(self.arguments["documents"])

    @property
    def active(self) -> bool:
        """Whether the job waits for a worker or is being carried out."""
        return self.status in ("queued", "running")

    @property
    def alive(self) -> bool:
        """Whether a worker is on it at this moment."""
        return self.status == "running" and time.time() - self.heartbeat < DEAD_AFTER_SECONDS


class JobQueue:
    """The jobs of a workspace."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        with catalog.begin() as connection:
            TABLES.create_all(connection)

    def queue(self, kind: str, arguments: Mapping[str, Any], person: Person = LOCAL) -> int:
        """Put a job that a person asks for in the queue and return its number."""
        values = {"kind": kind, "arguments": json.dumps(arguments), "status": "queued", "queued": now()}
        values["person"] = json.dumps(asdict(person))
        with self._catalog.begin() as connection:
            inserted = connection.execute(sql.insert(jobs).values(values)).inserted_primary_key
        return int(inserted[0])

    def latest(self, limit: int = 20) -> list[Job]:
        """Return the latest jobs, newest first."""
        return [_job(row) for row in self._catalog.read(sql.select(jobs).order_by(jobs.c.id.desc()).limit(limit))]

    def finished(self) -> list[Job]:
        """Return all jobs that have ended, oldest first."""
        ended = jobs.c.status.not_in(("queued", "running", "paused"))
        return [_job(row) for row in self._catalog.read(sql.select(jobs).where(ended).order_by(jobs.c.id))]

    def unfinished(self) -> list[Job]:
        """Return all jobs that are at work, wait or are paused, oldest first."""
        begun = jobs.c.status.in_(("queued", "running", "paused"))
        return [_job(row) for row in self._catalog.read(sql.select(jobs).where(begun).order_by(jobs.c.id))]

    def find(self, id: int) -> Job | None:
        """Return the job with this number, or None."""
        if not 0 < id < 2**63:
            # No database can be asked for it.
            return None
        rows = self._catalog.read(sql.select(jobs).where(jobs.c.id == id))
        return _job(rows[0]) if rows else None

    def waiting(self) -> bool:
        """Return whether there is work that has not ended."""
        active = jobs.c.status.in_(("queued", "running"))
        return bool(self._catalog.read(sql.select(jobs.c.id).where(active).limit(1)))

    def next(self) -> Job | None:
        """Take up the oldest job that waits or that a dead worker left; the attempt is counted."""
        dead = sql.and_(jobs.c.status == "running", jobs.c.heartbeat < time.time() - DEAD_AFTER_SECONDS)
        waiting = sql.select(jobs).where(sql.or_(jobs.c.status == "queued", dead)).order_by(jobs.c.id).limit(1)
        rows = self._catalog.read(waiting)
        if not rows:
            return None
        job = _job(rows[0])
        return self._set(job.id, status="running", started=now(), heartbeat=time.time(), attempts=job.attempts + 1)

    def take_over(self) -> None:
        """Have running jobs taken up again: their worker is dead, as the one worker knows that calls this."""
        with self._catalog.begin() as connection:
            connection.execute(sql.update(jobs).where(jobs.c.status == "running").values(heartbeat=0.0))

    def beat(self, id: int, progress: Progress | None) -> ControlSignal:
        """Note that the job's worker lives and how far it is; return the control signal."""
        return self._set(id, heartbeat=time.time(), progress=dump_json(asdict(progress)) if progress else "").signal

    def advance(self, id: int) -> None:
        """Note that the job has got somewhere, so that being interrupted now does not count against it."""
        self._set(id, attempts=1)

    def finish(self, id: int, status: JobStatus, results: Sequence[object], message: str = "") -> Job:
        """Record the end of the job and return it; the title of its last source is not kept."""
        job = self.find(id)
        progress = _at_rest(job.progress if job else None, status)
        return self._set(id, status=status, results=dump_json(results), message=message, progress=progress)

    def forget_current(self) -> None:
        """Forget the present and last sources of jobs.

        Their names may be the title of a document, or a term of its index. A server's word on a failure goes too: it
        may repeat the text that it was given.
        """
        for row in self._catalog.read(sql.select(jobs).where(jobs.c.progress != "")):
            job = _job(row)
            self._set(job.id, progress=_at_rest(job.progress, job.status))
        failed = sql.and_(
            jobs.c.status == "failed",
            jobs.c.kind.in_([name for name, kind in KINDS.items() if kind.reads]),
            jobs.c.message != "",
        )
        with self._catalog.begin() as connection:
            connection.execute(sql.update(jobs).where(failed).values(message=""))
        for row in self._catalog.read(sql.select(jobs).where(jobs.c.kind == "ground", jobs.c.message != "")):
            job = _job(row)
            if any(result.get("failure") for result in job.results):
                results = [{**result, "failure": ""} for result in job.results]
                self._set(job.id, results=dump_json(results), message="")

    def cancel(self, id: int, message: str = "") -> None:
        """End a waiting job at once with the message, a running one after the file it is at."""
        with self._catalog.begin() as connection:
            connection.execute(sql.update(jobs).where(jobs.c.id == id).values(signal="cancel"))
            waiting = sql.and_(jobs.c.id == id, jobs.c.status.in_(("queued", "paused")))
            connection.execute(sql.update(jobs).where(waiting).values(status="cancelled", message=message, progress=""))

    def pause(self, id: int) -> None:
        """Pause a waiting job at once, a running one after its current source."""
        with self._catalog.begin() as connection:
            wished = sql.and_(jobs.c.id == id, jobs.c.signal == "")
            connection.execute(sql.update(jobs).where(wished).values(signal="pause"))
            waiting = sql.and_(jobs.c.id == id, jobs.c.status == "queued", jobs.c.signal == "pause")
            connection.execute(sql.update(jobs).where(waiting).values(status="paused"))

    def resume(self, id: int) -> None:
        """Have a paused job wait for the worker again."""
        with self._catalog.begin() as connection:
            paused = sql.and_(jobs.c.id == id, jobs.c.status.in_(("paused", "running")), jobs.c.signal == "pause")
            connection.execute(sql.update(jobs).where(paused).values(signal=""))
            aside = sql.and_(jobs.c.id == id, jobs.c.status == "paused")
            connection.execute(sql.update(jobs).where(aside).values(status="queued", attempts=0))

    def _set(self, id: int, **values: object) -> Job:
        with self._catalog.begin() as connection:
            connection.execute(sql.update(jobs).where(jobs.c.id == id).values(values))
            return _job(connection.execute(sql.select(jobs).where(jobs.c.id == id)).one())


def _job(row: Sequence[Any]) -> Job:
    values = dict(zip(jobs.c.keys(), row, strict=True))
    decoded = {
        "arguments": json.loads(values["arguments"]),
        "results": load_json(values["results"]),
        "progress": _progress(values["progress"]),
        "person": Person(**json.loads(values["person"])) if values["person"] else LOCAL,
    }
    return Job(**values | decoded)


def _at_rest(progress: Progress | None, status: JobStatus) -> str:
    """Return progress as it is stored: without the current source, and none of an ended job."""
    if progress is None or status in ("done", "failed", "cancelled"):
        return ""
    return json.dumps(asdict(replace(progress, current="")))


def _progress(stored: str) -> Progress | None:
    if not stored:
        return None
    values: dict[str, Any] = load_json(stored)
    # JSON has no tuples.
    values |= {name: tuple(one) for name, one in values.items() if isinstance(one, list)}
    return Progress(**values)
