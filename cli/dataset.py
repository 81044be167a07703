"""Commands of the dataset: export it, import what was corrected in it."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import typer

from cli.options import AsJson, By, Workspace
from cli.terminal import author_of, context_of, end_as_json, err, out, print_table, spinner, warn

app = typer.Typer()


@app.command("export")
def export_dataset(path: Path, workspace: Workspace = None, as_json: AsJson = False) -> None:
    """Write the dataset: .xlsx (for editing and import), .csv, .jsonl, .bib or .ris."""
    from ingestion.acts import dataset

    with context_of(workspace, as_json) as context, spinner(f"Writing {path.name} …"):
        written = dataset.export_dataset(context, path)
    end_as_json(as_json, asdict(written) | {"path": str(path)})
    out.print(f"Wrote {path}: {written.documents} documents, {written.others} others.", markup=False)
    warn(written.warnings)


@app.command("import")
def import_dataset(path: Path, by: By = "", workspace: Workspace = None, as_json: AsJson = False) -> None:
    """Apply the corrections and licence decisions made in an exported workbook; they win over extractors."""
    from ingestion.acts.corrections import import_corrections
    from ingestion.status.views import pluralised

    with context_of(workspace, as_json) as context, spinner(f"Reading {path.name} …"):
        report = import_corrections(context, path, author_of(by))
    end_as_json(as_json, asdict(report))
    corrected = [
        (correction.code, f"{correction.field}: {'; '.join(correction.values) or '(emptied)'}")
        for correction in report.corrections
    ]
    decided = [(decision.code, f"licence: {decision.choice} ({decision.note})") for decision in report.decisions]
    print_table((), corrected + decided)
    for row in report.refused:
        err.print(f"{row.place}: {row.reason}", style="yellow", markup=False)
    warn(report.warnings)
    if report.decisions:
        out.print(f"{len(report.decisions)} licences decided; run `sextant run` to take them up.", markup=False)
    out.print(f"{pluralised(len(report.corrections), 'correction')}.")
