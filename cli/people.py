"""Commands of the people: who has which role, and who changed what in the collection."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from cli.options import AsJson, By, Workspace
from cli.terminal import closed_context, end_as_json, errors_end, out, print_table

app = typer.Typer(help="Who has which role: reader, curator or admin.")
audits = typer.Typer()


@app.callback(invoke_without_command=True)
def people(context: typer.Context, workspace: Workspace = None, as_json: AsJson = False) -> None:
    """List the people who have logged in or were given a role. New people are readers."""
    if context.invoked_subcommand:
        return
    from ingestion.acts.people import list_people

    with errors_end(as_json):
        found = list_people(closed_context(workspace))
    end_as_json(as_json, {"people": [asdict(person) for person in found]})
    print_table(("address", "role", "name"), ((person.key, person.role, person.name) for person in found))


@app.command("set")
def set_person(
    address: str,
    role: Annotated[str, typer.Option("--role", help="reader, curator or admin.")],
    by: By = "",
    workspace: Workspace = None,
    as_json: AsJson = False,
) -> None:
    """Give a person a role, also before the first login. The last admin stays one."""
    from ingestion.acts.people import set_role

    with errors_end(as_json):
        person = set_role(closed_context(workspace, by), address, role)
    end_as_json(as_json, asdict(person))
    out.print(f"{person.name} is {person.role}.", markup=False)


@audits.command()
def audit(
    person: Annotated[str, typer.Option("--person", help="Only this name or address, or a part of it.")] = "",
    since: Annotated[str, typer.Option("--since", help="Only from this day or time on, as 2026-11-25.")] = "",
    act: Annotated[str, typer.Option("--act", help="Only this act, for example erase.")] = "",
    workspace: Workspace = None,
    as_json: AsJson = False,
) -> None:
    """List what changed the collection, newest first: when, who, act, on what, note, outcome."""
    from ingestion.acts.people import audit_entries

    with errors_end(as_json):
        found = audit_entries(closed_context(workspace), person=person, since=since, of=act)
    end_as_json(as_json, {"entries": [asdict(entry) for entry in found]})
    table = ("when", "who", "act", "on", "note", "outcome")
    print_table(table, ((entry.when, entry.by, entry.act, entry.on, entry.note, entry.outcome) for entry in found))
