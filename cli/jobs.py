"""Commands that take the sources through the phases, and those that control jobs."""

from __future__ import annotations

import sys
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Column

from cli.options import AsJson, Workspace
from cli.terminal import context_of, end_as_json, err, out, phase_bar, print_phase, print_table

if TYPE_CHECKING:
    from ingestion.acts.context import ActContext
    from ingestion.jobs.plain_language import Command
    from ingestion.jobs.queue import Job

app = typer.Typer()


JobId = Annotated[int, typer.Argument(help="Number of the job (`sextant jobs`); none means the latest it can be.")]


@app.command()
def run(
    phases: Annotated[list[str] | None, typer.Argument(help="Phases; none means all.")] = None,
    code: Annotated[
        list[str] | None, typer.Option("--code", "-c", help="Only this source and what is under it.")
    ] = None,
    failed: Annotated[bool, typer.Option("--failed", help="Only what failed.")] = False,
    every: Annotated[bool, typer.Option("--all", help="Also what is done.")] = False,
    refresh: Annotated[bool, typer.Option("--refresh", help="Ask known addresses for newer files.")] = False,
    workspace: Workspace = None,
    as_json: AsJson = False,
) -> None:
    """Take the sources through the phases.

    These are licence, acquisition, portals, extraction, quality, deduplication, metadata and indexing. A phase
    that is done and unchanged is left alone; an interrupted run continues where it was.
    """
    from ingestion.acts import runs
    from ingestion.types.run import RunRequest, check_phases

    which: Any = "failed" if failed else "all" if every else "due"
    with context_of(workspace, as_json) as context:
        request = RunRequest(check_phases(phases or ()), tuple(code or ()), which, refresh)
        _print_run(watch(context, runs.run(context, request)), as_json)


@app.command()
def retry(workspace: Workspace = None, as_json: AsJson = False) -> None:
    """Try again what failed, and what waits for it."""
    from ingestion.acts import runs
    from ingestion.types.run import RunRequest

    with context_of(workspace, as_json) as context:
        _print_run(watch(context, runs.run(context, RunRequest(which="failed"))), as_json)


@app.command("do")
def do_words(
    words: Annotated[
        str, typer.Argument(help='What to do, in words ("try the failed downloads again") or by the number of a phase.')
    ] = "",
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    workspace: Workspace = None,
    as_json: AsJson = False,
) -> None:
    """Say what to run in words, or pick from the menu; the request is shown and run when you agree."""
    from ingestion.acts import runs
    from ingestion.types.run import describe_request

    if not words and not as_json:
        words = choose_from_menu()
    with context_of(workspace, as_json) as context:
        command = understand(context, words)
        described = describe_request(command.request, len(command.request.codes))
        proposed = {"description": described, "by": command.by, "request": asdict(command.request)}
        end_as_json(as_json and not yes, proposed)
        if not as_json:
            out.print(described, markup=False)
        if not yes and not typer.confirm("Do it?", default=False):
            raise typer.Exit(1)
        _print_run(watch(context, runs.run(context, command.request)), as_json)


@app.command()
def jobs(
    most: Annotated[int, typer.Option(min=1, max=1000, help="How many, newest first.")] = 20,
    workspace: Workspace = None,
    as_json: AsJson = False,
) -> None:
    """List the latest jobs: number, status, when and by whom they were queued, how far, what was asked."""
    from ingestion.jobs.kinds import title_of

    with context_of(workspace, as_json) as context:
        found = context.jobs.latest(most)
    end_as_json(as_json, {"jobs": [asdict(job) for job in found]})
    by = Column("by", no_wrap=True, overflow="ellipsis", max_width=16)
    what = Column("what", no_wrap=True, overflow="ellipsis", ratio=1)
    rows = (
        (job.id, job.status, job.queued[:16].replace("T", " "), job.person.name, _how_far(job), title_of(job))
        for job in found
    )
    print_table(("job", "status", "queued", by, "how far", what), rows)


@app.command()
def pause(id: JobId = 0, workspace: Workspace = None, as_json: AsJson = False) -> None:
    """Pause a job after what it is at."""
    from ingestion.acts.jobs import control

    with context_of(workspace, as_json) as context:
        _print_signal(control(context, "pause", id), "`sextant resume` continues it.", as_json)


@app.command()
def resume(id: JobId = 0, workspace: Workspace = None, as_json: AsJson = False) -> None:
    """Continue a paused job, and show how far it is."""
    from ingestion.acts.jobs import control

    with context_of(workspace, as_json) as context:
        _print_run(watch(context, control(context, "resume", id)), as_json)


@app.command()
def cancel(id: JobId = 0, workspace: Workspace = None, as_json: AsJson = False) -> None:
    """End a job for good; completed work is kept."""
    from ingestion.acts.jobs import control

    with context_of(workspace, as_json) as context:
        job = control(context, "cancel", id)
        rest = "asking the same again" if job.kind in ("compare", "test") else "`sextant run`"
        _print_signal(job, f"Completed work is kept; {rest} does the rest.", as_json)


def choose_from_menu() -> str:
    """Show the phases by their numbers, and return what a person answers: numbers or words."""
    from ingestion.types.run import PHASES

    for number, phase in enumerate(PHASES, start=1):
        out.print(f"{number} {phase}")
    answered: str = typer.prompt("What is to be done? A number, several, or words")
    return answered


def understand(context: ActContext, words: str) -> Command:
    """Return the request that words ask for; InputError where they are not understood."""
    from ingestion.acts import runs
    from rag_engine.errors import InputError

    command = runs.understand(context, words)
    if command is None:
        raise InputError(f"{words!r} was not understood.", help='Say it like "check the licences of the new rows".')
    return command


def watch(context: ActContext, queued: Job) -> Job:
    """Show what a job waits for and its progress until it has ended, and return it; Ctrl-C cancels it."""
    from ingestion.acts.jobs import control
    from ingestion.jobs.process import follow

    last = ""
    _print_turn(context, queued)
    with phase_bar() as advance:

        def show(now: Job) -> None:
            nonlocal last
            # Before its first phase a run has nothing to show.
            if now.progress and (doing := now.progress.phase or ("" if now.kind == "run" else now.kind)):
                last = now.progress.phase
                advance(doing, now.progress.done, now.progress.total, now.progress.current)

        try:
            ended = follow(context.engine, queued.id, show)
        except KeyboardInterrupt:
            control(context, "cancel", queued.id)
            ended = follow(context.engine, queued.id, show)
    _print_remaining_phases(ended, last)
    return ended


def _print_turn(context: ActContext, job: Job) -> None:
    """Print that the job is under way already, or which job comes before it."""
    from ingestion.jobs.kinds import title_of

    if job.status == "running":
        err.print(f"Job {job.id} is doing this already, since {job.started[11:16]}; it is shown here.", markup=False)
        return
    before = next((one for one in context.jobs.latest(100) if one.id < job.id and one.active), None)
    if before is not None and job.status == "queued":
        far = f" ({far})" if (far := _how_far(before)) else ""
        err.print(f"Job {job.id} waits for job {before.id}{far}: {title_of(before)}", markup=False)


def _print_run(ended: Job, as_json: bool) -> None:
    """Print what each phase did and end the command: with 0 for a whole run, with 2 at an error."""
    code = {"done": 0, "failed": 2}.get(ended.status, 1)
    end_as_json(as_json, {"status": ended.status, "message": ended.message, "phases": list(ended.results)}, code)
    print_summary(ended)
    raise typer.Exit(code)


def print_summary(ended: Job) -> None:
    """Print what each phase did, and how the job ended."""
    counts = "done", "skipped", "refused", "failed"
    rows = (
        (
            result["phase"],
            ", ".join(f"{result[name]} {name}" for name in counts if result[name]),
            f"({result['seconds']:.1f} s)",
        )
        # An addition or questions to documents, resumed, have none: they are reported where they were asked for.
        for result in ended.results
        if "phase" in result
    )
    print_table((), rows)
    if ended.status == "done" and not ended.results:
        out.print("Nothing was due.")
    else:
        out.print(f"{ended.status} {ended.message}".strip(), markup=False)
    if ended.status == "paused":
        out.print("`sextant resume` continues it.")


def _print_remaining_phases(ended: Job, last: str) -> None:
    """Print, without a bar, the lines of the last phase seen and of the quick ones after it."""
    if sys.stderr.isatty():
        return
    summaries = [summary for summary in ended.results if "phase" in summary]
    first = next((place for place, summary in enumerate(summaries) if summary["phase"] == last), 0)
    for summary in summaries[first:]:
        sources = sum(summary[status] for status in ("done", "skipped", "refused", "failed"))
        print_phase(summary["phase"], sources, summary["seconds"])


def _print_signal(job: Job, remedy: str, as_json: bool) -> None:
    end_as_json(as_json, {"job": asdict(job)})
    signal = {"pause": "pauses after what it is at", "cancel": "ends after what it is at", "": ""}[job.signal]
    out.print(f"Job {job.id} {signal if job.status == 'running' else f'is {job.status}'}. {remedy}", markup=False)


def _how_far(job: Job) -> str:
    if job.progress is None or job.status in ("done", "failed", "cancelled"):
        return ""
    unit = f"{job.progress.done} of {job.progress.total}"
    return f"{job.progress.phase} {unit}".strip()
