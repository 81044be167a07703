"""Commands of the people: list who has which role, and give one."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from cli.terminal import AsJson, By, Workspace, closed_desk, errors_end, out, print_json, print_table

app = typer.Typer(help="Who has which role: reader, curator or admin.")


@app.callback(invoke_without_command=True)
def people(context: typer.Context, workspace: Workspace = None, as_json: AsJson = False) -> None:
    """List the people who have logged in or were given a role. New people are readers."""
    if context.invoked_subcommand:
        return
    from ingestion.operations.people import list_people

    with errors_end(as_json):
        found = list_people(closed_desk(workspace))
    if as_json:
        print_json({"people": [asdict(one) for one in found]})
        return
    print_table(("address", "role", "name"), ((one.key, one.role, one.name) for one in found))


@app.command("set")
def set_person(
    address: str,
    role: Annotated[str, typer.Option("--role", help="reader, curator or admin.")],
    by: By = "",
    workspace: Workspace = None,
    as_json: AsJson = False,
) -> None:
    """Give a person a role, also before the first login. The last admin stays one."""
    from ingestion.operations.people import set_role

    with errors_end(as_json):
        person = set_role(closed_desk(workspace, by), address, role)
    if as_json:
        print_json(asdict(person))
    else:
        out.print(f"{person.name} is {person.role}.", markup=False)
