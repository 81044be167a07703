"""Control of jobs: a person pauses, resumes and cancels them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from ingestion.acts.context import ActContext
from ingestion.acts.register import act, enter, name_act
from ingestion.jobs.queue import Job, JobQueue, JobStatus
from ingestion.jobs.uploads import kept_uploads
from rag_engine.errors import InputError
from rag_engine.messages import Message

Control = Literal["pause", "resume", "cancel"]

_CONTROLLABLE: Mapping[Control, tuple[JobStatus, ...]] = {
    "pause": ("running", "queued"),
    "resume": ("paused", "running"),
    "cancel": ("running", "queued", "paused"),
}


@act("curator", "Controlling a job", on="")
def control(context: ActContext, what: Control, id: int = 0) -> Job:
    """Pause, resume or cancel a job, and return it as it is then.

    `id` is its number; 0 means the latest job to which the act applies.
    """
    job = _choose(context.jobs, id, _CONTROLLABLE[what])
    name_act(context, f"job {job.id}: {what}")
    if what == "pause":
        context.jobs.pause(job.id)
        done = Message("job {id}: pause", id=job.id)
    elif what == "cancel":
        context.jobs.cancel(job.id, kept_uploads(context.workspace, job))
        done = Message("job {id}: cancel", id=job.id)
    else:
        context.jobs.resume(job.id)
        context.start_worker(context.workspace)
        done = Message("job {id}: resume", id=job.id)
    enter(context, done)
    return context.jobs.find(job.id) or job


def _choose(jobs: JobQueue, id: int, statuses: Sequence[JobStatus]) -> Job:
    """Return the job of this number, or the latest in the first of these statuses that any job is in."""
    latest = jobs.latest(100)
    in_order = (job for status in statuses for job in latest if job.status == status)
    found = jobs.find(id) if id else next(in_order, None)
    names = " or ".join(statuses)
    if found is None:
        raise InputError(
            "There is no job {id}." if id else "No job is {names}.",
            help="`sextant jobs` lists them.",
            id=id,
            names=names,
        )
    if found.status not in statuses:
        raise InputError(
            "Job {id} is {status}, not {names}.",
            help="`sextant jobs` lists them.",
            id=found.id,
            status=found.status,
            names=names,
        )
    return found
