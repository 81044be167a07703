"""Command of the audit log: who changed what in the collection, and when."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

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
    """List what changed the collection, newest first: when, who, act, on what, note, outcome."""
    from ingestion.operations.people import audit_entries

    with errors_end(as_json):
        found = audit_entries(closed_desk(workspace), person=person, since=since, of=act)
    if as_json:
        print_json({"entries": [asdict(one) for one in found]})
        return
    table = ("when", "who", "act", "on", "note", "outcome")
    print_table(table, ((one.when, one.by, one.act, one.on, one.note, one.outcome) for one in found))
