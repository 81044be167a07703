"""The verb that shows what Sextant reads in an index, a table of terms or a glossary."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from cli_frame import AsJson, err, print_json, print_table, warn
from rag_engine.config import read_config
from rag_engine.errors import SextantError

app = typer.Typer()


@app.command("index-table")
def index_table(
    file: Annotated[Path, typer.Argument(help="A book with an index, an index table or a glossary.")],
    as_json: AsJson = False,
) -> None:
    """Read the index of a file: terms, sub-entries, pages of the PDF and as printed, cross references, definitions."""
    from ingestion.backends.sandbox import Sandbox
    from ingestion.index_tables import index_of_file

    try:
        with Sandbox(ocr=read_config(None).ocr) as sandbox:
            table = index_of_file(file, sandbox)
    except SextantError as error:
        if as_json:
            print_json({"error": str(error), "retryable": error.retryable})
        else:
            err.print(str(error), style="red", markup=False)
        raise typer.Exit(2) from None
    warn(table.warnings)
    if as_json:
        sys.stdout.write(json.dumps([asdict(record) for record in table.records], ensure_ascii=False, indent=1) + "\n")
        return
    shown = Table("term", "subterm", "pages", "see", "file or meaning", box=None)
    for record in table.records:
        pages = ", ".join(map(str, record.pages))
        shown.add_row(record.term, record.subterm, pages, "; ".join(record.see), record.file or record.definition[:80])
    print_table(shown)
