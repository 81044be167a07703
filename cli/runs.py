"""The verbs that have the sources taken through the phases, and those that look after the runs."""

from __future__ import annotations

import sys
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table

from cli.terminal import AsJson, Workspace, engine_of, out, phase_bar, print_json, print_table, tell_phase

if TYPE_CHECKING:
    from ingestion.jobs.queue import JobQueue, Run
    from ingestion.types import RunRequest
    from rag_engine.engine import Engine

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
    """Take the sources through the phases: licence, acquisition, portals, extraction, quality, deduplication,
    metadata, indexing. What is done and unchanged is left alone; broken off, it goes on where it was.
    """
    from ingestion.operations import check_codes
    from ingestion.records.source_store import SourceStore
    from ingestion.types import RunRequest, check_phases

    which: Any = "failed" if failed else "all" if every else "due"
    with engine_of(workspace, as_json) as engine:
        chosen = check_phases(phases or ())
        codes = check_codes(SourceStore(engine.catalog), code or ())
        tell_run(carry_out(engine, RunRequest(chosen, codes, which, refresh)), as_json)


@app.command()
def retry(workspace: Workspace = None, as_json: AsJson = False) -> None:
    """Try again what failed, and what waits for it."""
    from ingestion.types import RunRequest

    with engine_of(workspace, as_json) as engine:
        tell_run(carry_out(engine, RunRequest(which="failed")), as_json)


@app.command("do")
def do_words(
    words: Annotated[str, typer.Argument(help='What to do, in words: "try the failed downloads again".')],
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    workspace: Workspace = None,
    as_json: AsJson = False,
) -> None:
    """Say what to run in words; it is said back and run when you agree."""
    from ingestion.jobs.plain_language import interpret
    from ingestion.records.source_store import SourceStore
    from rag_engine.errors import InputError

    with engine_of(workspace, as_json) as engine:
        language_model, _ = engine.language_model()
        codes = [source.code for source in SourceStore(engine.catalog).sources()]
        command = interpret(words, codes, language_model)
        if command is None:
            raise InputError(f"{words!r} was not understood.", help='Say it like "check the licences of the new rows".')
        if as_json and not yes:
            print_json({"spoken": command.spoken, "by": command.by, "request": asdict(command.request)})
            return
        if not as_json:
            out.print(command.spoken, markup=False)
        if not yes and not typer.confirm("Do it?", default=False):
            raise typer.Exit(1)
        tell_run(carry_out(engine, command.request), as_json)


@app.command()
def runs(
    most: Annotated[int, typer.Option(min=1, max=1000, help="How many, newest first.")] = 20,
    workspace: Workspace = None,
    as_json: AsJson = False,
) -> None:
    """List the latest runs: number, status, how far, what was asked."""
    from ingestion.jobs.queue import JobQueue

    with engine_of(workspace, as_json) as engine:
        found = JobQueue(engine.catalog).runs(most)
    if as_json:
        print_json({"runs": [asdict(one) for one in found]})
        return
    table = Table(box=None)
    for name in ("run", "status", "queued", "how far"):
        table.add_column(name, no_wrap=True)
    table.add_column(
        "what", no_wrap=True, overflow="ellipsis", width=max(out.width - 58, 12) if out.is_terminal else None
    )
    for one in found:
        table.add_row(str(one.id), one.status, one.queued[:16].replace("T", " "), _how_far(one), _asked(one))
    print_table(table)


@app.command()
def pause(id: RunId = 0, workspace: Workspace = None, as_json: AsJson = False) -> None:
    """Lay a run aside after the sources it is at."""
    from ingestion.jobs.queue import JobQueue

    with engine_of(workspace, as_json) as engine:
        jobs = JobQueue(engine.catalog)
        chosen = _choose(jobs, id, ("running", "queued"))
        jobs.pause(chosen.id)
        _tell_signal(jobs, chosen.id, "`sextant resume` goes on with it.", as_json)


@app.command()
def resume(id: RunId = 0, workspace: Workspace = None, as_json: AsJson = False) -> None:
    """Go on with a run that was laid aside, and show how far it is."""
    from ingestion.jobs.queue import JobQueue

    with engine_of(workspace, as_json) as engine:
        jobs = JobQueue(engine.catalog)
        chosen = _choose(jobs, id, ("paused", "running"))
        jobs.resume(chosen.id)
        tell_run(_watch(engine, chosen.id), as_json)


@app.command()
def cancel(id: RunId = 0, workspace: Workspace = None, as_json: AsJson = False) -> None:
    """End a run for good; what it has done stays done."""
    from ingestion.jobs.queue import JobQueue

    with engine_of(workspace, as_json) as engine:
        jobs = JobQueue(engine.catalog)
        chosen = _choose(jobs, id, ("running", "queued", "paused"))
        jobs.cancel(chosen.id)
        _tell_signal(jobs, chosen.id, "What it has done stays done; `sextant run` does the rest.", as_json)


def carry_out(engine: Engine, request: RunRequest) -> Run:
    """The run as it ended; a worker does it and its progress is shown. Ctrl-C cancels it."""
    from ingestion.jobs.queue import JobQueue

    return _watch(engine, JobQueue(engine.catalog).queue("run", asdict(request)))


def tell_run(ended: Run, as_json: bool) -> None:
    """Nothing; prints what each phase did and ends the command, with 0 when the run came to its end."""
    if as_json:
        print_json({"status": ended.status, "message": ended.message, "phases": list(ended.results)})
        raise typer.Exit(0 if ended.status == "done" else 1)
    for summary in ended.results:
        if "phase" not in summary:
            # An addition that was resumed: its files are told where it was asked for.
            continue
        counts = ", ".join(
            f"{summary[name]} {name}" for name in ("done", "skipped", "rejected", "failed") if summary[name]
        )
        out.print(f"{summary['phase']:14} {counts}  ({summary['seconds']:.1f} s)", markup=False)
    if ended.status == "done" and not ended.results:
        out.print("Nothing was due.")
    else:
        out.print(f"{ended.status} {ended.message}".strip(), markup=False)
    if ended.status == "paused":
        out.print("`sextant resume` goes on with it.")
    raise typer.Exit(0 if ended.status == "done" else 1)


def _watch(engine: Engine, id: int) -> Run:
    """The run as it ended, its progress shown meanwhile."""
    from ingestion.jobs.queue import JobQueue
    from ingestion.jobs.worker import follow

    last = ""
    with phase_bar() as advance:

        def show(now: Run) -> None:
            nonlocal last
            if now.progress and now.progress.phase:
                last = now.progress.phase
                advance(last, now.progress.done, now.progress.total, now.progress.current)

        try:
            ended = follow(engine, id, show)
        except KeyboardInterrupt:
            JobQueue(engine.catalog).cancel(id)
            ended = follow(engine, id, show)
    _tell_rest(ended, last)
    return ended


def _tell_rest(ended: Run, last: str) -> None:
    """Nothing; where no bar was shown, the lines of the last phase seen, and of those too quick to be seen after it."""
    if sys.stderr.isatty():
        return
    summaries = [summary for summary in ended.results if "phase" in summary]
    first = next((place for place, summary in enumerate(summaries) if summary["phase"] == last), 0)
    for summary in summaries[first:]:
        sources = sum(summary[status] for status in ("done", "skipped", "rejected", "failed"))
        tell_phase(summary["phase"], sources, summary["seconds"])


def _choose(jobs: JobQueue, id: int, statuses: tuple[str, ...]) -> Run:
    """The run of this number, or the latest in the first of these statuses that any run is in."""
    from rag_engine.errors import InputError

    latest = jobs.runs(100)
    in_order = (one for status in statuses for one in latest if one.status == status)
    found = jobs.find(id) if id else next(in_order, None)
    words = " or ".join(statuses)
    if found is None:
        raise InputError(f"There is no run {id}." if id else f"No run is {words}.", help="`sextant runs` lists them.")
    if found.status not in statuses:
        raise InputError(f"Run {found.id} is {found.status}, not {words}.", help="`sextant runs` lists them.")
    return found


def _tell_signal(jobs: JobQueue, id: int, cure: str, as_json: bool) -> None:
    run = jobs.find(id)
    assert run is not None, "runs stay in the ledger"
    if as_json:
        print_json({"run": asdict(run)})
        return
    signal = {"pause": "is laid aside after what it is at", "cancel": "ends after what it is at", "": ""}[run.signal]
    out.print(f"Run {id} {signal if run.status == 'running' else f'is {run.status}'}. {cure}", markup=False)


def _how_far(run: Run) -> str:
    if run.progress is None or run.status in ("done", "failed", "cancelled"):
        return ""
    unit = f"{run.progress.done} of {run.progress.total}"
    return f"{run.progress.phase} {unit}".strip()


def _asked(run: Run) -> str:
    from ingestion.status.views import request_of, said

    if run.action != "run":
        return " ".join([run.action, *(str(path) for path in run.arguments.get("paths", ())[:3])])
    return said(request_of(run.arguments))
