"""The verb that asks documents or countries the same questions, as a job of the worker."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from rich.padding import Padding

from cli.jobs import watch
from cli.options import AsJson, Filters, Workspace
from cli.terminal import context_of, err, errors_end, out, print_json

if TYPE_CHECKING:
    from ingestion.dataset.comparison.comparison import Comparison
    from ingestion.dataset.comparison.decisions import CellDecision

app = typer.Typer()


@app.command()
def compare(
    questions: Annotated[
        list[str] | None, typer.Option("--question", "-q", help="A row of the table; give it once for each.")
    ] = None,
    schema: Annotated[
        Path | None, typer.Option("--schema", help="Ask also for each field of this JSON schema (file or name).")
    ] = None,
    form: Annotated[
        Path | None,
        typer.Option("--form", help="Fill in this JSON schema (file or name) in each cell; needs a model."),
    ] = None,
    by: Annotated[Literal["document", "country"], typer.Option("--by", help="What the columns are.")] = "document",
    filters: Filters = None,
    name: Annotated[
        str, typer.Option("--name", help="Name of the comparison; one that is there is added to and continued.")
    ] = "",
    workbook: Annotated[
        Path | None, typer.Option("--export", help="Write the table and its evidence to this .xlsx.")
    ] = None,
    workspace: Workspace = None,
    as_json: AsJson = False,
) -> None:
    """Compare documents or countries: a row a question, in every cell a short answer with its source.

    The same command continues where it ended: only cells that were not asked yet, or failed, are asked.
    """
    from ingestion.acts.comparisons import (
        ask_comparison,
        continue_comparison,
        export_comparison,
        find_comparison,
    )
    from ingestion.dataset.comparison.comparison import read_questions, schema_questions
    from ingestion.dataset.comparison.sheets import require_workbook_path
    from rag_engine.answering.structured.answer_schema import read_schema
    from rag_engine.errors import BackendError
    from rag_engine.filters import parse_filters

    with errors_end(as_json):
        if workbook is not None:
            require_workbook_path(workbook)
        rows = [*read_questions("\n".join(questions or ())), *(schema_questions(read_schema(schema)) if schema else ())]
        wanted, filled = parse_filters(filters or []), read_schema(form) if form else None
    with context_of(workspace, as_json) as context:
        id = continue_comparison(context, rows, by, wanted, name, filled).id
        job = ask_comparison(context, id)
        ended = watch(context, job) if job else None
        if workbook is not None:
            export_comparison(context, id, workbook)
        if ended is not None and ended.status == "failed":
            kept = "The cells that were asked are kept; the same command continues."
            raise BackendError(ended.message, help=kept, retryable=True)
        comparison = find_comparison(context, id)
    assert comparison is not None, "it was written to the workbook a moment ago"
    if as_json:
        print_json(_json(comparison, workbook))
    else:
        _print(comparison)
        if workbook is not None:
            out.print(f"Wrote {workbook}.", markup=False)
        if ended is not None and ended.status != "done":
            err.print(f"Job {ended.id} is {ended.status}; the same command continues it.", markup=False)
    failed = any(cell.status == "failed" for cell in comparison.cells.values())
    raise typer.Exit(130 if ended is not None and ended.status != "done" else 1 if failed else 0)


def _print(comparison: Comparison) -> None:
    """Print the cells below their questions, each with the page of its quote or how much was searched."""
    from ingestion.dataset.comparison.comparison import cell_text, cells_in_order

    shown = ""
    for question, column, cell in cells_in_order(comparison):
        if question != shown:
            out.print(f"\n{question}", style="bold", markup=False)
            shown = question
        out.print(f"  {column.label}", style="dim", markup=False)
        out.print(Padding(cell_text(cell), (0, 0, 0, 4)), markup=False)
    out.print(f"\n{comparison.describe()}.", markup=False)


def _json(comparison: Comparison, workbook: Path | None) -> dict[str, Any]:
    """Return the comparison in the shape that data/contract.schema.json fixes."""
    from ingestion.dataset.comparison.comparison import NOT_ASKED, cells_in_order
    from rag_engine.answering.json_contract import citation_json

    return {
        "path": str(workbook or ""),
        "name": comparison.name,
        "by": comparison.by,
        "questions": list(comparison.questions),
        "columns": [asdict(column) for column in comparison.columns],
        "cells": [
            {
                "question": question,
                "column": column.key,
                "status": cell.status if cell else NOT_ASKED,
                "short": cell.short if cell else "",
                "text": cell.text if cell else "",
                "citations": [citation_json(citation) for citation in cell.evidence] if cell else [],
                "records": [{attribute.name: attribute.value for attribute in record} for record in cell.records]
                if cell
                else [],
                "decision": _decision(cell.decided) if cell and cell.decided else None,
                "searched": asdict(cell.effort) if cell else None,
                "warnings": list(cell.warnings) if cell else [],
            }
            for question, column, cell in cells_in_order(comparison)
        ],
    }


def _decision(decided: CellDecision) -> dict[str, str]:
    """Return a person's decision, without the moment that ties it to an answer."""
    return {name: value for name, value in asdict(decided).items() if name != "since"}
