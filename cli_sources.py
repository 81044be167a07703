"""The verbs of the list of sources: from a workbook of addresses to a described collection, and out to a dataset."""

from __future__ import annotations

import getpass
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cli_frame import AsJson, Workspace, bar, engine_of, err, out, print_json, warn

if TYPE_CHECKING:
    from ingestion.ledger import Run
    from ingestion.request import Request
    from ingestion.seeds import SeedReport
    from rag_engine.engine import Engine

app = typer.Typer()
seeds = typer.Typer(no_args_is_help=True, help="The list of sources: add rows, discover new ones.")


@seeds.command("add")
def add_seeds(path: Path, workspace: Workspace = None, as_json: AsJson = False) -> None:
    """Put the rows of a workbook, CSV, sitemap, feed or list, or the files of a folder, on the list of sources."""
    from ingestion.register import Register
    from ingestion.seeds import read_seeds

    with engine_of(workspace, as_json) as engine:
        register = Register(engine.catalog)
        report = read_seeds(path, register.sources())
        register.add(report.new)
    _tell_seeds(report, "added", as_json)


@seeds.command("discover")
def discover_seeds(
    url: str,
    contains: Annotated[
        list[str] | None, typer.Option(help="Only addresses or titles with one of these words.")
    ] = None,
    accept: Annotated[bool, typer.Option("--accept", help="Put the proposals on the list.")] = False,
    workspace: Workspace = None,
    as_json: AsJson = False,
) -> None:
    """Propose the addresses of a feed, a sitemap or a page that names one; nothing is added without --accept."""
    from ingestion.backends.http import HttpWeb
    from ingestion.config import read_ingestion_config
    from ingestion.discovery import discover
    from ingestion.register import Register

    with engine_of(workspace, as_json) as engine, HttpWeb(read_ingestion_config().web) as web:
        register = Register(engine.catalog)
        report = discover(url, web, register.sources(), contains=tuple(contains or ()))
        if accept:
            register.add(report.new)
    _tell_seeds(report, "added" if accept else "proposed", as_json)


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
    metadata, indexing. What is done and unchanged is left alone; broken off, it goes on where it was."""
    from ingestion.request import Request, check_phases

    which: Any = "failed" if failed else "all" if every else "due"
    with engine_of(workspace, as_json) as engine:
        _run(engine, Request(check_phases(phases or ()), tuple(code or ()), which, refresh), as_json)


@app.command()
def retry(workspace: Workspace = None, as_json: AsJson = False) -> None:
    """Try again what failed, and what waits for it."""
    from ingestion.request import Request

    with engine_of(workspace, as_json) as engine:
        _run(engine, Request(which="failed"), as_json)


@app.command()
def status(
    code: Annotated[str, typer.Argument(help="A source, to see its history.")] = "",
    workspace: Workspace = None,
    as_json: AsJson = False,
) -> None:
    """Show how many sources came how far and why others did not; with a code, what happened to that source."""
    from ingestion.register import Register
    from ingestion.reporting import history_json, status_json

    with engine_of(workspace, as_json) as engine:
        register = Register(engine.catalog)
        told = history_json(register, code) if code else status_json(register)
    if as_json:
        print_json(told)
    elif code:
        for event in told["history"]:
            line = " ".join(str(event[name]) for name in ("when", "event", "status", "reason", "author", "message"))
            out.print(" ".join(line.split()), markup=False)
    else:
        for station in told["funnel"]:
            stopped = ", ".join(f"{count} {reason}" for reason, count in station["stopped"].items())
            waiting = f"{station['waiting']} waiting" if station["waiting"] else ""
            out.print(f"{station['name']:10} {station['reached']:6}  {stopped}  {waiting}".rstrip(), markup=False)
        for source in told["stopped"]:
            line = f"{source['code']:12} {source['phase']:13} {source['reason']:20} {source['message']}"
            out.print(line, markup=False)


@app.command()
def review(
    code: Annotated[str, typer.Argument(help="The source to decide on; none lists what waits.")] = "",
    choice: Annotated[str, typer.Argument(help="GREEN or RED for its licence, restore for a rejection, undo.")] = "",
    note: Annotated[str, typer.Option(help="Why; kept with the decision.")] = "",
    by: Annotated[str, typer.Option(help="Who decides.")] = "",
    workspace: Workspace = None,
    as_json: AsJson = False,
) -> None:
    """List what waits for a person's word on its licence, with the evidence; or give that word."""
    from ingestion.register import Register
    from ingestion.reporting import decide, review_json

    with engine_of(workspace, as_json) as engine:
        register = Register(engine.catalog)
        if code:
            decide(register, code, choice, by or getpass.getuser(), note)
        told = review_json(register)
    if as_json:
        print_json(told)
        return
    for waiting in told["waiting"]:
        out.print(f"{waiting['code']}  {waiting['title'] or waiting['url']}", style="bold", markup=False)
        out.print(f"  {waiting['light']} {waiting['reason']}: {waiting['message']}", markup=False)
        for mark in waiting["marks"]:
            out.print(f"  {mark['light']:6} {mark['place']}: {mark['quote'][:160]}", style="dim", markup=False)
    out.print(f"{len(told['waiting'])} wait. Decide with `sextant review CODE GREEN|RED --note WHY`.")


@app.command("export")
def export_dataset(path: Path, workspace: Workspace = None, as_json: AsJson = False) -> None:
    """Write the dataset: .xlsx (for editing and import), .csv, .jsonl, .bib or .ris."""
    from ingestion.dataset import export
    from ingestion.register import Register

    with engine_of(workspace, as_json) as engine:
        dossiers = list(Register(engine.catalog).dossiers().values())
        written = export(path, dossiers, workspace=engine.config.workspace)
    if as_json:
        print_json(asdict(written) | {"path": str(path)})
    else:
        out.print(f"Wrote {path}: {written.documents} documents, {written.others} others.", markup=False)
        warn(written.warnings)


@app.command("import")
def import_dataset(
    path: Path,
    by: Annotated[str, typer.Option(help="Whose corrections these are.")] = "",
    workspace: Workspace = None,
    as_json: AsJson = False,
) -> None:
    """Take over the corrections made in an exported workbook; they win over every extractor from then on."""
    from ingestion.register import Register
    from ingestion.reporting import take_corrections

    with engine_of(workspace, as_json) as engine:
        report = take_corrections(path, Register(engine.catalog), by or getpass.getuser())
    if as_json:
        print_json(asdict(report))
        return
    for one in report.corrections:
        out.print(f"{one.code}  {one.field}: {'; '.join(one.values) or '(emptied)'}", markup=False)
    for row in report.unusable:
        err.print(f"{row.place}: {row.reason}", style="yellow", markup=False)
    out.print(f"{len(report.corrections)} corrections; run `sextant run indexing` to bring them into the index.")


def _run(engine: Engine, request: Request, as_json: bool) -> None:
    """Nothing; has a worker take the sources through the phases and shows how far it is. Ctrl-C cancels the run."""
    from ingestion.ledger import Ledger
    from ingestion.worker import follow

    ledger = Ledger(engine.catalog)
    id = ledger.queue("run", asdict(request))
    with bar("Running") as advance:

        def show(now: Run) -> None:
            if now.progress:
                advance(now.progress.done, now.progress.total, f"{now.progress.phase} {now.progress.current}")

        try:
            ended = follow(engine, id, show)
        except KeyboardInterrupt:
            ledger.cancel(id)
            ended = follow(engine, id, show)
    if as_json:
        print_json({"status": ended.status, "message": ended.message, "phases": list(ended.results)})
    else:
        for tally in ended.results:
            counts = ", ".join(
                f"{tally[name]} {name}" for name in ("done", "skipped", "rejected", "failed") if tally[name]
            )
            out.print(f"{tally['phase']:14} {counts}  ({tally['seconds']:.1f} s)", markup=False)
        out.print(f"{ended.status} {ended.message}".strip(), markup=False)
    raise typer.Exit(0 if ended.status == "done" else 1)


def _tell_seeds(report: SeedReport, verb: str, as_json: bool) -> None:
    if as_json:
        print_json(asdict(report))
        return
    for source in report.new:
        out.print(f"{verb:9} {source.code}  {source.title}  {source.url or source.path}", markup=False)
    for row in report.unusable:
        err.print(f"{row.place}: {row.reason}", style="yellow", markup=False)
    out.print(f"{len(report.new)} {verb}, {report.known} known already, {len(report.unusable)} rows not usable.")
    warn(report.warnings)
