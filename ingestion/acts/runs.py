"""Runs that a person begins, also in plain words."""

from __future__ import annotations

from dataclasses import replace

from ingestion.acts.context import ActContext, queue_run
from ingestion.acts.register import act, enter, name_act
from ingestion.acts.sources import check_codes
from ingestion.jobs.plain_language import Command, interpret
from ingestion.jobs.queue import Job
from ingestion.types.run import RunRequest, describe_request
from rag_engine.text.wording import ENGLISH, Wording


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
    return [job for job in context.jobs.unfinished() if job.kind == "run"]


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


@act("curator", "Starting a run in words")
def understand(context: ActContext, words: str) -> Command | None:
    """Return the request that words ask for, to be confirmed and run; None if they are not understood."""
    language_model, _ = context.engine.models.language_model()
    return interpret(words, [source.code for source in context.store.sources()], language_model)
