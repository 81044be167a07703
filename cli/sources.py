"""The verbs of the list of sources: what is on it, how far it has come, and what else might be."""

from __future__ import annotations

import getpass
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table

from cli.runs import carry_out
from cli.terminal import AsJson, Workspace, engine_of, err, out, print_json, print_line, print_table, spinner, warn

if TYPE_CHECKING:
    from ingestion.records.source_store import SourceStore
    from ingestion.seeds.read import SeedReport

app = typer.Typer()
seeds = typer.Typer(no_args_is_help=True, help="The list of sources: see it, add rows, discover new ones, remove some.")


@seeds.command("add")
def add_seeds(path: Path, workspace: Workspace = None, as_json: AsJson = False) -> None:
    """Put the rows of a workbook, CSV, sitemap, feed or list, or the files of a folder, on the list of sources."""
    from ingestion.operations import add_sources
    from ingestion.records.source_store import SourceStore
    from ingestion.seeds.read import read_seeds

    with engine_of(workspace, as_json) as engine, spinner(f"Reading {path.name} …"):
        store = SourceStore(engine.catalog)
        report = read_seeds(path, store.sources())
        add_sources(store, report.new)
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
    from ingestion.config import read_ingestion_config
    from ingestion.operations import add_sources
    from ingestion.records.source_store import SourceStore
    from ingestion.seeds.discover import discover
    from ingestion.web.http import HttpWeb

    with engine_of(workspace, as_json) as engine, HttpWeb(read_ingestion_config().web) as web, spinner("Looking …"):
        store = SourceStore(engine.catalog)
        report = discover(url, web, store.sources(), contains=tuple(contains or ()))
        _refuse_itself(url, report, store)
        if accept:
            add_sources(store, report.new)
    _tell_seeds(report, "added" if accept else "proposed", as_json)


@seeds.command("list")
def list_seeds(workspace: Workspace = None, as_json: AsJson = False) -> None:
    """List the sources, each with where it stands."""
    from ingestion.operations import list_json
    from ingestion.records.source_store import SourceStore

    with engine_of(workspace, as_json) as engine:
        told = list_json(SourceStore(engine.catalog))
    if as_json:
        print_json(told)
        return
    rows = [
        (
            one["code"],
            "/".join(filter(None, (one["phase"], one["status"], one["reason"]))),
            one["title"],
            one["address"],
        )
        for one in told["sources"]
    ]
    # What a source is called by and where it stands is shown whole; title and address share what is left.
    widths = [max((len(row[place]) for row in rows), default=0) for place in (0, 1)]
    left = max((out.width - sum(widths) - 8) // 2, 8) if out.is_terminal else None
    table = Table(box=None)
    for name, width in (("code", None), ("state", None), ("title", left), ("address", left)):
        table.add_column(name, no_wrap=True, overflow="ellipsis", width=width)
    for row in rows:
        table.add_row(*row)
    print_table(table)


@seeds.command("remove")
def remove_seeds(
    codes: list[str],
    by: Annotated[str, typer.Option(help="Who removes them.")] = "",
    workspace: Workspace = None,
    as_json: AsJson = False,
) -> None:
    """Take sources off the list, and their documents out of the index; what people said of them is kept."""
    from ingestion.operations import check_codes, is_indexed
    from ingestion.records.source_store import SourceStore
    from ingestion.types import RunRequest

    with engine_of(workspace, as_json) as engine:
        store = SourceStore(engine.catalog)
        removed = check_codes(store, codes)
        indexed = any(is_indexed(store, code) for code in removed)
        store.remove(removed, by or getpass.getuser())
        left = [one.code for one in store.sources() if one.parent in removed]
        ended = carry_out(engine, RunRequest(("indexing",), removed)) if indexed else None
    good = ended is None or ended.status == "done"
    if as_json:
        print_json({"removed": list(removed), "left": left, "run": asdict(ended) if ended else None})
    else:
        out.print(f"{len(removed)} removed.")
        if left:
            out.print(f"What was found under them stays: {', '.join(left[:20])}.", markup=False, soft_wrap=True)
    if ended is not None and not good:
        err.print("Their documents still answer; run `sextant run indexing`.", style="red", markup=False)
    raise typer.Exit(0 if good else 1)


@app.command()
def status(
    code: Annotated[str, typer.Argument(help="A source, to see what is known of it and its history.")] = "",
    workspace: Workspace = None,
    as_json: AsJson = False,
) -> None:
    """Show how many sources came how far and why others did not; with a code, what is known of that source."""
    from ingestion.operations import source_json, status_json
    from ingestion.records.source_store import SourceStore

    with engine_of(workspace, as_json) as engine:
        store = SourceStore(engine.catalog)
        told = source_json(store, code) if code else status_json(store)
    if as_json:
        print_json(told)
    elif code:
        _tell_source(told)
    else:
        _tell_status(told)


def _refuse_itself(url: str, report: SeedReport, store: SourceStore) -> None:
    """Nothing; InputError where the lists of its site hold no other address than the page itself."""
    from ingestion.web.urls import normal_url
    from rag_engine.errors import InputError

    here = normal_url(url)
    known = any(normal_url(source.url) == here for source in store.sources())
    found = {normal_url(source.url) for source in report.new}
    if (found or report.known) and found <= {here} and report.known <= known and not report.unusable:
        raise InputError(
            f"{url} leads to no other address: the feeds and sitemaps of its site hold nothing but this address.",
            help="Give the address of a sitemap or feed, or add the page itself as a seed of a portal.",
        )


def _tell_status(told: dict[str, Any]) -> None:
    table = Table("station", box=None)
    table.add_column("reached", justify="right")
    table.add_column("waiting", justify="right")
    table.add_column("stopped on the way")
    for station in told["funnel"]:
        stopped = ", ".join(f"{count} {reason}" for reason, count in station["stopped"].items())
        table.add_row(station["name"], str(station["reached"]), str(station["waiting"] or ""), stopped)
    print_table(table)
    lights = ", ".join(f"{count} {light}" for light, count in sorted(told["lights"].items()))
    if lights:
        out.print(f"\nLicences of the documents: {lights}", markup=False)
    width = max((len(one["code"]) for one in told["stopped"]), default=0)
    for one in told["stopped"]:
        said = " ".join(one["message"].split())
        out.print(f"\n{one['code']:{width}}  {one['phase']}: {one['reason']}", markup=False, soft_wrap=True, end="")
        # On its own line, to be folded by the terminal and not into a column.
        out.print(f"\n  {said}" if said else "", style="dim", markup=False, soft_wrap=True, end="")
    if told["stopped"]:
        out.print()


def _tell_source(told: dict[str, Any]) -> None:
    now = told["present"]
    if now is None:
        out.print(f"{told['code']} is off the list.", markup=False)
    else:
        rows = {
            "title": now["title"],
            "address": now["address"],
            "language": now["language"],
            "found under": now["parent"],
            "phase": f"{now['phase']}: {now['status']} {now['reason']}".strip(),
            "": now["message"],
            "licence": f"{now['light']} {now['licence']}".strip(),
            "quality": _quality(now["quality"]),
            "relation": _relation(told["code"], now["relation"]),
            "file": now["file"],
        }
        for name, value in rows.items():
            if value:
                out.print(f"{name:12} {' '.join(value.split())}", markup=False, soft_wrap=True)
        for value in now["values"]:
            print_line(f"{value['field']}: {value['value']}")
            sentence = f"“{value['sentence']}”" if value["sentence"] else ""
            print_line(f"{value['source']} {value['confidence']:.2f} {sentence}", "dim", indent="  ")
    out.print("\nHistory", style="bold")
    for event in told["history"]:
        said = " ".join(str(event[name]) for name in ("when", "event", "status", "reason", "author", "message"))
        out.print(" ".join(said.split()), markup=False, soft_wrap=True)


def _quality(parts: dict[str, float] | None) -> str:
    if parts is None:
        return ""
    named = ", ".join(f"{name} {parts[name]:g}" for name in ("length", "chunks", "sections", "cleaning"))
    return f"{parts['score']:g} of 100 ({named})"


def _relation(code: str, relation: dict[str, Any] | None) -> str:
    if relation is None:
        return ""
    said = {
        "version": relation["version"],
        "superseded": relation["superseded"],
        "translation of": relation["translation_of"],
        "duplicate of": relation["duplicate_of"],
        "same work as": "" if relation["work"] == code else relation["work"],
    }
    return ", ".join(f"{name} {value}" for name, value in said.items() if value)


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
