"""Command of the audit log: who changed what in the collection, and when."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer
from rich.table import Table

from cli.terminal import AsJson, Workspace, closed_desk, errors_end, print_json, print_table

app = typer.Typer()


@app.command()
def audit(
    person: Annotated[str, typer.Option("--person", help="Only this name or address, or a part of it.")] = "",
    since: Annotated[str, typer.Option("--since", help="Only from this day or time on, as 2026-11-25.")] = "",
    act: Annotated[str, typer.Option("--act", help="Only this act, for example erase.")] = "",
    workspace: Workspace = None,
    as_json: AsJson = False,
) -> None:
    """List what changed the collection, newest first: when, who, which act, on what, the note, and the outcome."""
    from ingestion.operations.people import audit_entries

    with errors_end(as_json):
        found = audit_entries(closed_desk(workspace), person=person, since=since, of=act)
    if as_json:
        print_json({"entries": [asdict(one) for one in found]})
        return
    table = Table(box=None)
    for name in ("when", "who", "act", "on", "note", "outcome"):
        table.add_column(name)
    for one in found:
        table.add_row(one.when, one.by, one.act, one.on, one.note, one.outcome)
    print_table(table)
