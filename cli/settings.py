"""Commands of the settings: list them, keep a value with the workspace, reset one."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from rich.table import Column

from cli.options import AsJson, By, Workspace
from cli.terminal import author_of, closed_context, context_of, end_as_json, err, errors_end, out, print_table, say
from rag_engine.settings import SettingState, allowed_value, find_setting

app = typer.Typer(help="What can be set: the value that holds, where it comes from, and when a change takes effect.")
_TAKES_EFFECT = {
    "question": "next question",
    "run": "next run",
    "index": "new index",
    "restart": "restart of the server",
}


@app.callback(invoke_without_command=True)
def settings(context: typer.Context, workspace: Workspace = None, as_json: AsJson = False) -> None:
    """List every setting with its value, where that comes from, and when a change takes effect.

    `settings set NAME VALUE` keeps a value with the workspace, `settings unset NAME` resets it. A variable of the
    environment, SEXTANT_ and the name in capitals, comes first.
    """
    if context.invoked_subcommand:
        return
    from ingestion.acts.settings import list_settings

    with errors_end(as_json):
        states = list_settings(closed_context(workspace))
    end_as_json(as_json, {"settings": [_row(state) for state in states]})
    names = Column("setting", no_wrap=True), "value", Column("from", no_wrap=True), Column("takes effect", no_wrap=True)
    print_table(names, ((row["name"], row["value"], row["origin"], row["effect"]) for row in map(_row, states)))


# A value may begin with a hyphen, as -3 does.
@app.command("set", context_settings={"ignore_unknown_options": True})
def set_setting(
    name: str,
    value: str,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask about a change of the index.")] = False,
    by: By = "",
    workspace: Workspace = None,
    as_json: AsJson = False,
) -> None:
    """Keep a value with the workspace; what a change of the index means is said, and asked about, before."""
    from ingestion.acts.settings import change_setting, describe_effect

    with errors_end(as_json):
        setting = find_setting(name)
        allowed_value(setting, value)
    asks, effect = setting.effect == "index", describe_effect(setting)
    if asks:
        # Only this needs the collection: a setting can be changed while its model or server is unavailable.
        with context_of(workspace, as_json) as context:
            effect = describe_effect(setting, context)
        end_as_json(as_json and not yes, {"saved": False, "message": effect})
        if not as_json:
            say(effect, console=err)
        if not yes and not typer.confirm("Save it?", default=False):
            raise typer.Exit(1)
    with errors_end(as_json):
        state = change_setting(closed_context(workspace, by), name, value, author_of(by))
    end_as_json(as_json, _row(state) | {"saved": True, "message": effect})
    say(f"{setting.name} = {setting.text(state.value)}")
    if not asks:
        say(effect)


@app.command("unset")
def unset_setting(name: str, by: By = "", workspace: Workspace = None, as_json: AsJson = False) -> None:
    """Remove a value from the workspace, so that the default holds; damaged and unknown entries too."""
    from ingestion.acts.settings import reset_setting

    with errors_end(as_json):
        reset_setting(closed_context(workspace, by), name, author_of(by))
    end_as_json(as_json, {"unset": name})
    out.print(f"{name} is no longer kept with the workspace.", markup=False)


def _row(state: SettingState) -> dict[str, Any]:
    setting, origin = state.setting, state.origin
    places = {
        "environment": setting.variable,
        "workspace": f"workspace: {state.changed}" if state.changed else "workspace",
        "default": "default",
    }
    return {
        "name": setting.name,
        "value": setting.text(state.value),
        "origin": places[origin],
        "effect": _TAKES_EFFECT[setting.effect],
        "explanation": setting.explanation,
    }
