"""The verbs of the dataset: export it, import what was corrected in it."""

from __future__ import annotations

import getpass
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from cli.terminal import AsJson, Workspace, engine_of, err, out, print_json, spinner, warn

app = typer.Typer()


@app.command("export")
def export_dataset(path: Path, workspace: Workspace = None, as_json: AsJson = False) -> None:
    """Write the dataset: .xlsx (for editing and import), .csv, .jsonl, .bib or .ris."""
    from ingestion.dataset.export import export
    from ingestion.records.source_store import SourceStore

    with engine_of(workspace, as_json) as engine, spinner(f"Writing {path.name} …"):
        source_records = list(SourceStore(engine.catalog).records().values())
        written = export(path, source_records, workspace=engine.config.workspace)
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
    from ingestion.operations import take_corrections
    from ingestion.records.source_store import SourceStore

    with engine_of(workspace, as_json) as engine, spinner(f"Reading {path.name} …"):
        report = take_corrections(path, SourceStore(engine.catalog), by or getpass.getuser())
    if as_json:
        print_json(asdict(report))
        return
    for one in report.corrections:
        out.print(f"{one.code}  {one.field}: {'; '.join(one.values) or '(emptied)'}", markup=False)
    for row in report.unusable:
        err.print(f"{row.place}: {row.reason}", style="yellow", markup=False)
    warn(report.warnings)
    cure = "; run `sextant run indexing` to bring them into the index" if report.corrections else ""
    out.print(f"{len(report.corrections)} corrections{cure}.")
