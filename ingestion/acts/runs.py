"""Runs that a person begins, pauses, resumes and cancels, also in plain words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Literal

from ingestion.acts.context import LATEST_RUNS, ActContext, queue_run
from ingestion.acts.register import act, enter, name_act
from ingestion.acts.sources import check_codes
from ingestion.jobs.plain_language import Command, interpret
from ingestion.jobs.queue import Job, JobQueue, RunStatus
from ingestion.jobs.uploads import kept_uploads
from ingestion.types.run import PHASES, RunRequest
from rag_engine.errors import InputError
from rag_engine.messages import Message, join_messages
from rag_engine.text.wording import ENGLISH, Wording

Control = Literal["pause", "resume", "cancel"]

_CONTROLLABLE: Mapping[Control, tuple[RunStatus, ...]] = {
    "pause": ("running", "queued"),
    "resume": ("paused", "running"),
    "cancel": ("running", "queued", "paused"),
}


@act("curator", "Starting a run", on="")
def run(context: ActContext, request: RunRequest) -> Job:
    """Have the worker take sources through phases; InputError for a phase or code that there is not."""
    codes, without = (check_codes(context.store, codes) for codes in (request.codes, request.without))
    asked = replace(request, codes=codes, without=without)
    name_act(context, describe_request(asked))
    queued = queue_run(context, asked)
    enter(context, describe_request(queued.request))
    return queued


@act("reader")
def unfinished_runs(context: ActContext) -> list[Job]:
    """Return the runs over the sources that are at work, wait or are paused, in their order."""
    found = (one for one in context.jobs.runs(LATEST_RUNS) if one.active or one.status == "paused")
    return sorted((one for one in found if one.kind == "run"), key=lambda one: one.id)


def describe_request(request: RunRequest, named: int = 3, wording: Wording = ENGLISH) -> Message:
    """Return a request in words that name its first `named` sources and count the others."""
    message = wording.message
    names = ", ".join(wording.value("phase", phase) for phase in request.phases)
    if request.phases == PHASES:
        phases = message("all phases")
    elif len(request.phases) > 1:
        phases = message("the phases {names}", names=names)
    else:
        phases = message("the phase {name}", name=names)
    which = {
        "due": message("everything new or changed"),
        "failed": message("everything that failed"),
        "all": message("everything, also what is done"),
    }
    codes, n = ", ".join(request.codes), len(request.codes)
    if n > named:
        codes = wording.counted("{n} source", "{n} sources", n)
    told = {"phases": phases, "what": which[request.which], "codes": codes, "others": ", ".join(request.without)}
    if request.codes and request.without:
        sentence = message("Run {phases} for {what} of {codes}, except {others}.", **told)
    elif request.codes:
        sentence = message("Run {phases} for {what} of {codes}.", **told)
    elif request.without:
        sentence = message("Run {phases} for {what}, except {others}.", **told)
    else:
        sentence = message("Run {phases} for {what}.", **told)
    newer = message("Known addresses are asked for newer files.") if request.refresh else ""
    return join_messages([sentence, newer])


def describe_unfinished(job: Job, wording: Wording = ENGLISH) -> str:
    """Return, in words, the work of an unfinished run and its progress."""
    progress, message = job.progress, wording.message
    standing = {"running": message("At work"), "paused": message("Paused")}.get(job.status, message("Waiting"))
    far = message("{standing}.", standing=standing)
    if progress and progress.phase:
        far = wording.counted(
            "{standing}: {phase}, {done} of {n} source.",
            "{standing}: {phase}, {done} of {n} sources.",
            progress.total,
            standing=standing,
            phase=wording.value("phase", progress.phase),
            done=wording.number(progress.done),
        )
    return f"{far} {describe_request(job.request, wording=wording)}"


@act("curator", "Controlling a run", on="")
def control(context: ActContext, what: Control, id: int = 0) -> Job:
    """Pause, resume or cancel a run, and return it as it is then.

    `id` is its number; 0 means the latest run to which the act applies.
    """
    job = _choose(context.jobs, id, _CONTROLLABLE[what])
    name_act(context, f"run {job.id}: {what}")
    if what == "pause":
        context.jobs.pause(job.id)
    elif what == "cancel":
        context.jobs.cancel(job.id, kept_uploads(context.workspace, job))
    else:
        context.jobs.resume(job.id)
        context.start_worker(context.workspace)
    enter(context, _controlled(what, job.id))
    return context.jobs.find(job.id) or job


def _controlled(what: Control, id: int) -> str:
    return Message(
        "run {id}: pause" if what == "pause" else "run {id}: resume" if what == "resume" else "run {id}: cancel", id=id
    )


@act("curator", "Starting a run in words")
def understand(context: ActContext, words: str) -> Command | None:
    """Return the request that words ask for, to be confirmed and run; None if they are not understood."""
    language_model, _ = context.engine.models.language_model()
    return interpret(words, [source.code for source in context.store.sources()], language_model)


def _choose(jobs: JobQueue, id: int, statuses: Sequence[RunStatus]) -> Job:
    """Return the run of this number, or the latest in the first of these statuses that any run is in."""
    latest = jobs.runs(100)
    in_order = (one for status in statuses for one in latest if one.status == status)
    found = jobs.find(id) if id else next(in_order, None)
    names = " or ".join(statuses)
    if found is None:
        raise InputError(
            "There is no run {id}." if id else "No run is {names}.",
            help="`sextant runs` lists them.",
            id=id,
            names=names,
        )
    if found.status not in statuses:
        raise InputError(
            "Run {id} is {status}, not {names}.",
            help="`sextant runs` lists them.",
            id=found.id,
            status=found.status,
            names=names,
        )
    return found
