"""Commands of the list of sources: see it, add to it, discover more, remove some, show their status."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Column

from cli.jobs import watch
from cli.options import AsJson, By, Workspace
from cli.terminal import (
    author_of,
    context_of,
    end_as_json,
    err,
    out,
    print_json,
    print_line,
    print_table,
    say,
    spinner,
    warn,
)

if TYPE_CHECKING:
    from ingestion.source_lists.merge import SourceListReport
    from ingestion.status.views import SourceReport, StatusReport
    from ingestion.types.source import Relation

app = typer.Typer()
source_list = typer.Typer(
    no_args_is_help=True, help="The list of sources: see it, add rows, discover new ones, remove some."
)


@source_list.command("add")
def add_rows(path: Path, workspace: Workspace = None, as_json: AsJson = False) -> None:
    """Put the rows of a workbook, CSV, sitemap, feed or list, or a folder's files, on the list of sources."""
    from ingestion.acts.sources import add_list

    with context_of(workspace, as_json) as context, spinner(f"Reading {path.name} …"):
        report = add_list(context, path)
    _print_listed(report, "added", as_json)


@source_list.command("discover")
def discover_rows(
    url: str,
    contains: Annotated[
        list[str] | None, typer.Option(help="Only addresses or titles with one of these words.")
    ] = None,
    accept: Annotated[bool, typer.Option("--accept", help="Put the proposals on the list.")] = False,
    workspace: Workspace = None,
    as_json: AsJson = False,
) -> None:
    """Propose the addresses of a feed, a sitemap or a page that names one; --accept adds them."""
    from ingestion.acts.sources import add_sources, discover_sources

    with context_of(workspace, as_json) as context, spinner("Looking …"):
        report = discover_sources(context, url, contains or ())
        if accept:
            add_sources(context, report.new)
    _print_listed(report, "added" if accept else "proposed", as_json)


@source_list.command("list")
def list_rows(workspace: Workspace = None, as_json: AsJson = False) -> None:
    """List the sources, each with its status."""
    from ingestion.status.views import source_rows

    with context_of(workspace, as_json) as context:
        found = source_rows(context.store.records().values())
    names = ("code", "phase", "status", "reason", "title", "address", "parent")
    end_as_json(as_json, {"sources": [{name: getattr(row, name) for name in names} for row in found]})
    rows = (
        (row.code, "/".join(filter(None, (row.phase, row.status, row.reason))), row.title, row.address) for row in found
    )
    # Code and status are shown whole; title and address share what is left of a terminal.
    shared = (Column(name, no_wrap=True, overflow="ellipsis", ratio=1) for name in ("title", "address"))
    print_table(("code", "state", *shared), rows)


@source_list.command("remove")
def remove_rows(codes: list[str], by: By = "", workspace: Workspace = None, as_json: AsJson = False) -> None:
    """Take sources off the list with their files, and their documents out of the index.

    Decisions and corrections are kept, and what conversations keep of a document: `sextant erase` removes that too.
    """
    from ingestion.acts.sources import remove_sources

    with context_of(workspace, as_json) as context:
        removed = remove_sources(context, codes, author_of(by))
        ended = watch(context, removed.job) if removed.job else None
    job, code = (asdict(ended), int(ended.status != "done")) if ended else (None, 0)
    if as_json:
        print_json({"removed": list(removed.codes), "left": list(removed.left), "run": job})
    else:
        out.print(f"{len(removed.codes)} removed.")
        if removed.left:
            say(f"Sources found under them stay: {', '.join(removed.left[:20])}.")
    if code:
        err.print("Their documents still answer; run `sextant run indexing`.", style="red", markup=False)
    raise typer.Exit(code)


@app.command()
def status(
    code: Annotated[str, typer.Argument(help="A source, to see what is known of it and its history.")] = "",
    workspace: Workspace = None,
    as_json: AsJson = False,
) -> None:
    """Show how many sources came how far and why others did not; with a code, that source."""
    from ingestion.status.views import source_report, status_report

    with context_of(workspace, as_json) as context:
        if code:
            source = source_report(context.store, code)
            print_json(asdict(source)) if as_json else _print_source(source)
        else:
            report = status_report(list(context.store.records().values()))
            print_json(asdict(report)) if as_json else _print_status(report)


def _print_status(report: StatusReport) -> None:
    counts = (Column(name, justify="right") for name in ("reached", "waiting"))
    rows = (
        (
            stage.name,
            stage.reached,
            stage.waiting or "",
            ", ".join(f"{n} {reason}" for reason, n in stage.stopped.items()),
        )
        for stage in report.funnel
    )
    print_table(("stage", *counts, "stopped on the way"), rows)
    lights = ", ".join(f"{count} {light}" for light, count in sorted(report.lights.items()))
    if lights:
        out.print(f"\nLicences of the documents: {lights}", markup=False)
    width = max((len(source.code) for source in report.stopped), default=0)
    for source in report.stopped:
        message = " ".join(source.message.split())
        out.print(f"\n{source.code:{width}}  {source.phase}: {source.reason}", markup=False, soft_wrap=True, end="")
        # On its own line, to be folded by the terminal and not into a column.
        out.print(f"\n  {message}" if message else "", style="dim", markup=False, soft_wrap=True, end="")
    if report.stopped:
        out.print()


def _print_source(report: SourceReport) -> None:
    now = report.present
    if now is None:
        out.print(f"{report.code} is off the list.", markup=False)
    else:
        rows = {
            "title": now.title,
            "address": now.address,
            "language": now.language,
            "found under": now.parent,
            "phase": f"{now.phase}: {now.status} {now.reason}".strip(),
            "": now.message,
            "licence": f"{now.light} {now.licence}".strip(),
            "quality": _quality(now.quality),
            "relation": _relation(report.code, now.relation),
            "file": now.file,
        }
        left_out = (("left out", sentence) for sentence in now.left_out)
        print_table((), (*(row for row in rows.items() if row[1]), *left_out))
        for field in now.values:
            print_line(f"{field.field}: {field.value}")
            sentence = f"“{field.sentence}”" if field.sentence else ""
            print_line(f"{field.source} {field.confidence:.2f} {sentence}", "dim", indent="  ")
    out.print("\nHistory", style="bold")
    print_table((), ((e.when, e.event, e.status, e.reason, e.author, e.message) for e in report.history))


def _quality(parts: dict[str, float] | None) -> str:
    if parts is None:
        return ""
    named = ", ".join(f"{name} {parts[name]:g}" for name in ("length", "chunks", "sections", "cleaning"))
    return f"{parts['score']:g} of 100 ({named})"


def _relation(code: str, relation: Relation | None) -> str:
    if relation is None:
        return ""
    facts = {
        "version": relation.version,
        "superseded": relation.superseded,
        "translation of": relation.translation_of,
        "duplicate of": relation.duplicate_of,
        "same work as": "" if relation.work == code else relation.work,
    }
    return ", ".join(f"{name} {value}" for name, value in facts.items() if value)


def _print_listed(report: SourceListReport, verb: str, as_json: bool) -> None:
    end_as_json(as_json, asdict(report))
    listed = {verb: report.new, "corrected": report.corrected}.items()
    print_table(
        (), ((what, source.code, source.title, source.url or source.path) for what, found in listed for source in found)
    )
    for row in report.refused:
        err.print(f"{row.place}: {row.reason}", style="yellow", markup=False)
    corrected = f", {len(report.corrected)} addresses corrected" if report.corrected else ""
    known = f"{report.known} known already, {len(report.refused)} rows not usable"
    out.print(f"{len(report.new)} {verb}{corrected}, {known}.")
    if report.unused:
        say(f"Columns not taken: {', '.join(report.unused)}.", console=err)
    warn(report.warnings)
