"""Command that shows what an index, a table of terms or a glossary says, and applies it."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from cli.terminal import AsJson, Workspace, desk_of, errors_end, out, print_json, print_table, warn, write_json
from rag_engine.config import read_config
from rag_engine.errors import InputError

app = typer.Typer()

Apply = Annotated[bool, typer.Option("--apply", help="Lead questions to what it lists of the collection.")]
Remove = Annotated[bool, typer.Option("--remove", help="Undo --apply; only the file's name is looked at.")]
Named = Annotated[str, typer.Option("--document", help="Whose pages these are, where the table names no files.")]
Cache = Annotated[Path | None, typer.Option("--cache", help="Write the query cache (metadata.json) there.")]


@app.command("index-table")
def index_table(
    file: Annotated[Path, typer.Argument(help="A book with an index, an index table or a glossary.")],
    apply: Apply = False,
    remove: Remove = False,
    document: Named = "",
    cache: Cache = None,
    workspace: Workspace = None,
    as_json: AsJson = False,
) -> None:
    """Read a file's index: terms, sub-entries, pages of the PDF and as printed, references, definitions.

    With --apply, an index that is a file of its own leads to passages of the documents that it names.
    """
    if apply and not remove:
        _apply(file, document, cache, workspace, as_json)
    elif remove and not (apply or document or cache):
        _remove(file, workspace, as_json)
    else:
        _show(file, apply or remove or bool(document or cache), as_json)


def _apply(file: Path, document: str, cache: Path | None, workspace: Path | None, as_json: bool) -> None:
    from ingestion.operations.documents import apply_index_table
    from rag_engine.book_index.anchors import to_metadata_json

    with desk_of(workspace, as_json) as desk:
        applied = apply_index_table(desk, file, document)
        if cache is not None:
            try:
                cache.write_text(to_metadata_json(applied.queries), encoding="utf-8")
            except OSError as error:
                message = f"The index is applied, but {cache} cannot be written: {error.strerror}."
                raise InputError(message, help="Name another file with --cache.") from error
    warn(applied.warnings)
    if as_json:
        values = asdict(applied)
        del values["queries"]
        print_json(values)
        return
    for one in applied.documents:
        figures = f"{one.entries} terms at {one.places} places, {one.named} of them where the page names the term"
        lost = f"; {one.lost} pages have no text" if one.lost else ""
        out.print(f"{one.file}: {figures}{lost}", markup=False, soft_wrap=True)
    warn(tuple(f"No document: {name}" for name in applied.unmatched))


def _remove(file: Path, workspace: Path | None, as_json: bool) -> None:
    from ingestion.operations.documents import remove_index_table

    with desk_of(workspace, as_json) as desk:
        documents = remove_index_table(desk, file.name)
    if as_json:
        print_json({"source": file.name, "documents": documents})
    else:
        of = f"{documents} documents" if documents > 1 else "the document"
        out.print(f"{file.name} lists nothing of {of} any longer.", markup=False, soft_wrap=True)


def _show(file: Path, misused: bool, as_json: bool) -> None:
    from ingestion.book_index.read import index_of_file
    from ingestion.tools import open_reader

    with errors_end(as_json):
        if misused:
            raise InputError(
                "These options do not go together.",
                help="--document and --cache belong to --apply; --remove is used alone.",
            )
        with open_reader(read_config(None).ocr) as reader:
            table = index_of_file(file, reader)
    warn(table.warnings)
    if as_json:
        write_json([asdict(record) for record in table.records])
        return
    rows = (
        (one.term, one.subterm, ", ".join(map(str, one.pages)), "; ".join(one.see), one.file or one.definition)
        for one in table.records
    )
    print_table(("term", "subterm", "pages", "see", "file or meaning"), rows)
