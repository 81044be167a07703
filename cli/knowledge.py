"""Commands of the grounded knowledge base: build it, export it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cli.runs import watch
from cli.terminal import AsJson, Workspace, desk_of, out, print_json

app = typer.Typer(no_args_is_help=True, help="The entries of the indexes with their best passages and a cited text.")


@app.command("build")
def build_knowledge_base(
    again: Annotated[bool, typer.Option("--all", help="Also what is done and unchanged.")] = False,
    workspace: Workspace = None,
    as_json: AsJson = False,
) -> None:
    """Ground every entry of an index that is new or changed: its three best passages and a short text that cites them.

    A language model writes the text where one answers; else it consists of quotations. `sextant pause`, `resume` and
    `cancel` control the run; what is done is kept.
    """
    from ingestion.operations import documents
    from rag_engine.grounding.build import GroundingSummary

    with desk_of(workspace, as_json) as desk:
        ended = watch(desk, documents.ground(desk, again=again))
    if as_json:
        print_json({"status": ended.status, "message": ended.message, "summary": next(iter(ended.results), None)})
    else:
        for done in ended.results:
            out.print(GroundingSummary(**done).describe(), markup=False, soft_wrap=True)
        out.print(f"{ended.status} {ended.message}".strip(), markup=False, soft_wrap=True)
    raise typer.Exit(0 if ended.status == "done" else 1)


@app.command("export")
def export_knowledge_base(path: Path, workspace: Workspace = None, as_json: AsJson = False) -> None:
    """Write the grounded entries: .json for programs, .xlsx for people."""
    from ingestion.operations import documents

    with desk_of(workspace, as_json) as desk:
        entries = documents.export_knowledge_base(desk, path)
    if as_json:
        print_json({"path": str(path), "entries": entries})
    else:
        out.print(f"Wrote {path}: {entries} entries.", markup=False)
