"""Commands of the grounded knowledge base, and of the index tables that its entries come from."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from cli.jobs import watch
from cli.options import AsJson, Workspace
from cli.terminal import context_of, end_as_json, errors_end, out, print_table, say, warn
from rag_engine.config import read_config
from rag_engine.errors import InputError

app = typer.Typer(no_args_is_help=True, help="The entries of the indexes with their best passages and a cited text.")
tables = typer.Typer()
Apply = Annotated[bool, typer.Option("--apply", help="Lead questions to what it lists of the collection.")]
Remove = Annotated[bool, typer.Option("--remove", help="Undo --apply; only the file's name is looked at.")]
Named = Annotated[str, typer.Option("--document", help="Whose pages these are, where the table names no files.")]
Cache = Annotated[Path | None, typer.Option("--cache", help="Write the query cache (metadata.json) there.")]


@app.command("build")
def build_knowledge_base(
    again: Annotated[bool, typer.Option("--all", help="Also what is done and unchanged.")] = False,
    workspace: Workspace = None,
    as_json: AsJson = False,
) -> None:
    """Ground each new or changed entry of an index: its best passages and a short text that cites them.

    A language model writes the text where one answers; else it consists of quotations. `sextant pause`, `resume` and
    `cancel` control the job; what is done is kept.
    """
    from ingestion.acts import documents
    from rag_engine.grounding.build import GroundingSummary

    with context_of(workspace, as_json) as context:
        ended = watch(context, documents.ground(context, again=again))
    summary, code = next(iter(ended.results), None), 0 if ended.status == "done" else 1
    end_as_json(as_json, {"status": ended.status, "message": ended.message, "summary": summary}, code)
    for done in ended.results:
        say(GroundingSummary(**done).describe())
    say(f"{ended.status} {ended.message}".strip())
    raise typer.Exit(code)


@app.command("export")
def export_knowledge_base(path: Path, workspace: Workspace = None, as_json: AsJson = False) -> None:
    """Write the grounded entries: .json for programs, .xlsx for people."""
    from ingestion.acts import documents

    with context_of(workspace, as_json) as context:
        entries = documents.export_knowledge_base(context, path)
    end_as_json(as_json, {"path": str(path), "entries": entries})
    out.print(f"Wrote {path}: {entries} entries.", markup=False)


@tables.command("index-table")
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

    With --apply, an index in a separate file leads to passages of the documents that it names.
    """
    if apply and not remove:
        _apply(file, document, cache, workspace, as_json)
    elif remove and not (apply or document or cache):
        from ingestion.acts.documents import remove_index_table

        with context_of(workspace, as_json) as context:
            documents = remove_index_table(context, file.name)
        end_as_json(as_json, {"source": file.name, "documents": documents})
        of = f"{documents} documents" if documents > 1 else "the document"
        say(f"{file.name} lists nothing of {of} any longer.")
    else:
        _show(file, apply or remove or bool(document or cache), as_json)


def _apply(file: Path, document: str, cache: Path | None, workspace: Path | None, as_json: bool) -> None:
    from ingestion.acts.documents import apply_index_table
    from rag_engine.book_index.anchors import to_metadata_json

    with context_of(workspace, as_json) as context:
        applied = apply_index_table(context, file, document)
        if cache is not None:
            try:
                cache.write_text(to_metadata_json(applied.queries), encoding="utf-8")
            except OSError as error:
                message = f"The index is applied, but {cache} cannot be written: {error.strerror}."
                raise InputError(message, help="Name another file with --cache.") from error
    warn(applied.warnings)
    values = asdict(applied)
    del values["queries"]
    end_as_json(as_json, values)
    for one in applied.documents:
        figures = f"{one.entries} terms at {one.places} places, {one.named} of them where the page names the term"
        lost = f"; {one.lost} pages have no text" if one.lost else ""
        say(f"{one.file}: {figures}{lost}")
    warn(tuple(f"No document: {name}" for name in applied.unmatched))


def _show(file: Path, misused: bool, as_json: bool) -> None:
    from ingestion.book_index.index_records import index_of_file
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
    end_as_json(as_json, [asdict(record) for record in table.records])
    rows = (
        (one.term, one.subterm, ", ".join(map(str, one.pages)), "; ".join(one.see), one.file or one.definition)
        for one in table.records
    )
    print_table(("term", "subterm", "pages", "see", "file or meaning"), rows)
