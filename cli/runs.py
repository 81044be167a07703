"""Commands that take the sources through the phases, and those that control the runs."""

from __future__ import annotations

import sys
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Column

from cli.options import AsJson, Workspace
from cli.terminal import desk_of, end_as_json, err, out, phase_bar, print_phase, print_table

if TYPE_CHECKING:
    from ingestion.jobs.plain_language import Command
    from ingestion.jobs.queue import Run
    from ingestion.operations.desk import Desk

app = typer.Typer()


RunId = Annotated[int, typer.Argument(help="Number of the run (`sextant runs`); none means the latest it can be.")]


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
    from ingestion.operations import runs
    from ingestion.types.run import RunRequest, check_phases

    which: Any = "failed" if failed else "all" if every else "due"
    with desk_of(workspace, as_json) as desk:
        request = RunRequest(check_phases(phases or ()), tuple(code or ()), which, refresh)
        _print_run(watch(desk, runs.run(desk, request)), as_json)


@app.command()
def retry(workspace: Workspace = None, as_json: AsJson = False) -> None:
    """Try again what failed, and what waits for it."""
    from ingestion.operations import runs
    from ingestion.types.run import RunRequest

    with desk_of(workspace, as_json) as desk:
        _print_run(watch(desk, runs.run(desk, RunRequest(which="failed"))), as_json)


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
    from ingestion.operations import runs

    if not words and not as_json:
        words = choose_from_menu()
    with desk_of(workspace, as_json) as desk:
        command = understand(desk, words)
        described = runs.describe_request(command.request, len(command.request.codes))
        proposed = {"description": described, "by": command.by, "request": asdict(command.request)}
        end_as_json(as_json and not yes, proposed)
        if not as_json:
            out.print(described, markup=False)
        if not yes and not typer.confirm("Do it?", default=False):
            raise typer.Exit(1)
        _print_run(watch(desk, runs.run(desk, command.request)), as_json)


@app.command()
def runs(
    most: Annotated[int, typer.Option(min=1, max=1000, help="How many, newest first.")] = 20,
    workspace: Workspace = None,
    as_json: AsJson = False,
) -> None:
    """List the latest runs: number, status, when and by whom they were queued, how far, what was asked."""
    with desk_of(workspace, as_json) as desk:
        found = desk.jobs.runs(most)
    end_as_json(as_json, {"runs": [asdict(one) for one in found]})
    by = Column("by", no_wrap=True, overflow="ellipsis", max_width=16)
    what = Column("what", no_wrap=True, overflow="ellipsis", ratio=1)
    rows = (
        (one.id, one.status, one.queued[:16].replace("T", " "), one.person.name, _how_far(one), _asked(one))
        for one in found
    )
    print_table(("run", "status", "queued", by, "how far", what), rows)


@app.command()
def pause(id: RunId = 0, workspace: Workspace = None, as_json: AsJson = False) -> None:
    """Pause a run after the sources it is at."""
    from ingestion.operations import runs

    with desk_of(workspace, as_json) as desk:
        _print_signal(runs.control(desk, "pause", id), "`sextant resume` continues it.", as_json)


@app.command()
def resume(id: RunId = 0, workspace: Workspace = None, as_json: AsJson = False) -> None:
    """Continue a paused run, and show how far it is."""
    from ingestion.operations import runs

    with desk_of(workspace, as_json) as desk:
        _print_run(watch(desk, runs.control(desk, "resume", id)), as_json)


@app.command()
def cancel(id: RunId = 0, workspace: Workspace = None, as_json: AsJson = False) -> None:
    """End a run for good; completed work is kept."""
    from ingestion.operations import runs

    with desk_of(workspace, as_json) as desk:
        run = runs.control(desk, "cancel", id)
        rest = "asking the same again" if run.action in ("compare", "test") else "`sextant run`"
        _print_signal(run, f"Completed work is kept; {rest} does the rest.", as_json)


def choose_from_menu() -> str:
    """Show the phases by their numbers, and return what a person answers: numbers or words."""
    from ingestion.types.run import PHASES

    for number, phase in enumerate(PHASES, start=1):
        out.print(f"{number} {phase}")
    answered: str = typer.prompt("What is to be done? A number, several, or words")
    return answered


def understand(desk: Desk, words: str) -> Command:
    """Return the request that words ask for; InputError where they are not understood."""
    from ingestion.operations import runs
    from rag_engine.errors import InputError

    command = runs.understand(desk, words)
    if command is None:
        raise InputError(f"{words!r} was not understood.", help='Say it like "check the licences of the new rows".')
    return command


def watch(desk: Desk, queued: Run) -> Run:
    """Show what a run waits for and its progress until it has ended, and return it; Ctrl-C cancels it."""
    from ingestion.jobs.process import follow
    from ingestion.operations.runs import control

    last = ""
    _print_turn(desk, queued)
    with phase_bar() as advance:

        def show(now: Run) -> None:
            nonlocal last
            # Before its first phase a run of phases has nothing to show.
            if now.progress and (doing := now.progress.phase or ("" if now.action == "run" else now.action)):
                last = now.progress.phase
                advance(doing, now.progress.done, now.progress.total, now.progress.current)

        try:
            ended = follow(desk.engine, queued.id, show)
        except KeyboardInterrupt:
            control(desk, "cancel", queued.id)
            ended = follow(desk.engine, queued.id, show)
    _print_remaining_phases(ended, last)
    return ended


def _print_turn(desk: Desk, run: Run) -> None:
    """Print that the run is under way already, or which run comes before it."""
    if run.status == "running":
        err.print(f"Run {run.id} is doing this already, since {run.started[11:16]}; it is shown here.", markup=False)
        return
    before = next((one for one in desk.jobs.runs(100) if one.id < run.id and one.active), None)
    if before is not None and run.status == "queued":
        far = f" ({far})" if (far := _how_far(before)) else ""
        err.print(f"Run {run.id} waits for run {before.id}{far}: {_asked(before)}", markup=False)


def _print_run(ended: Run, as_json: bool) -> None:
    """Print what each phase did and end the command: with 0 for a whole run, with 2 at an error."""
    code = {"done": 0, "failed": 2}.get(ended.status, 1)
    end_as_json(as_json, {"status": ended.status, "message": ended.message, "phases": list(ended.results)}, code)
    print_summary(ended)
    raise typer.Exit(code)


def print_summary(ended: Run) -> None:
    """Print what each phase did, and how the run ended."""
    counts = "done", "skipped", "rejected", "failed"
    rows = (
        (one["phase"], ", ".join(f"{one[name]} {name}" for name in counts if one[name]), f"({one['seconds']:.1f} s)")
        # An addition or questions to documents, resumed, have none: they are reported where they were asked for.
        for one in ended.results
        if "phase" in one
    )
    print_table((), rows)
    if ended.status == "done" and not ended.results:
        out.print("Nothing was due.")
    else:
        out.print(f"{ended.status} {ended.message}".strip(), markup=False)
    if ended.status == "paused":
        out.print("`sextant resume` continues it.")


def _print_remaining_phases(ended: Run, last: str) -> None:
    """Print, without a bar, the lines of the last phase seen and of the quick ones after it."""
    if sys.stderr.isatty():
        return
    summaries = [summary for summary in ended.results if "phase" in summary]
    first = next((place for place, summary in enumerate(summaries) if summary["phase"] == last), 0)
    for summary in summaries[first:]:
        sources = sum(summary[status] for status in ("done", "skipped", "rejected", "failed"))
        print_phase(summary["phase"], sources, summary["seconds"])


def _print_signal(run: Run, remedy: str, as_json: bool) -> None:
    end_as_json(as_json, {"run": asdict(run)})
    signal = {"pause": "pauses after what it is at", "cancel": "ends after what it is at", "": ""}[run.signal]
    out.print(f"Run {run.id} {signal if run.status == 'running' else f'is {run.status}'}. {remedy}", markup=False)


def _how_far(run: Run) -> str:
    if run.progress is None or run.status in ("done", "failed", "cancelled"):
        return ""
    unit = f"{run.progress.done} of {run.progress.total}"
    return f"{run.progress.phase} {unit}".strip()


def _asked(run: Run) -> str:
    if run.action == "compare":
        return f"compare: {'; '.join(run.arguments['questions'])}"
    if run.action != "run":
        return " ".join([run.action, *(str(path) for path in run.arguments.get("paths", ())[:3])])
    from ingestion.operations.runs import describe_request

    return describe_request(run.request)
