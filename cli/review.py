"""The verbs for a person's word on the sources: licences and rejections."""

from __future__ import annotations

import getpass
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cli.runs import carry_out
from cli.terminal import AsJson, Workspace, engine_of, err, out, print_json

if TYPE_CHECKING:
    from rag_engine.engine import Engine

app = typer.Typer()


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
    from ingestion.operations import review_json
    from ingestion.records.source_store import SourceStore

    with engine_of(workspace, as_json) as engine:
        if code:
            _decide(engine, code, choice, by or getpass.getuser(), note.strip(), as_json)
            return
        told = review_json(SourceStore(engine.catalog))
    if as_json:
        print_json(told)
    else:
        _tell_review(told)


def _decide(engine: Engine, code: str, choice: str, author: str, note: str, as_json: bool) -> None:
    """Nothing; takes a person's word and, where a document must leave the index, sees to that at once."""
    from ingestion.operations import decide, index_request
    from ingestion.records.source_store import SourceStore
    from rag_engine.errors import InputError

    if choice.strip().lower() in ("green", "red", "restore") and not note:
        raise InputError(f"{choice} on {code} needs a reason.", help='Give it with --note "WHY"; it is kept.')
    store = SourceStore(engine.catalog)
    leaves = decide(store, code, choice, author, note)
    ended = carry_out(engine, index_request(code)) if leaves else None
    if as_json:
        print_json({"code": code, "choice": choice, "author": author, "run": asdict(ended) if ended else None})
    elif ended is None:
        out.print(f"{code}: {choice} by {author}; run `sextant run` to go on.", markup=False)
    elif ended.status == "done":
        out.print(f"{code}: {choice} by {author}; it was taken out of the index.", markup=False)
    else:
        said = f"{code}: {choice} by {author}, but the index was not changed: {ended.status} {ended.message}".strip()
        err.print(f"{said} Run `sextant run indexing`.", style="red", markup=False)
    raise typer.Exit(1 if ended is not None and ended.status != "done" else 0)


def _tell_review(told: dict[str, Any]) -> None:
    for waiting in told["waiting"]:
        out.print(f"{waiting['code']}  {waiting['title'] or waiting['url']}", style="bold", markup=False)
        out.print(f"  {waiting['light']} {waiting['reason']}: {waiting['message']}", markup=False)
        for mark in waiting["marks"]:
            out.print(f"  {mark['light']:6} {mark['place']}: {mark['quote'][:160]}", style="dim", markup=False)
    out.print(f"{len(told['waiting'])} wait. Decide with `sextant review CODE GREEN|RED --note WHY`.")
    if told["at_hand"]:
        out.print(f"\n{len(told['at_hand'])} at hand: files of yours, which go on whatever their licence.")
    for one in told["at_hand"]:
        out.print(f"{one['code']}  {one['light']} {one['reason']}  {one['title']}", markup=False, soft_wrap=True)
