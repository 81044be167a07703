"""Commands of the collection: add, list, show, erase, rebuild."""

from __future__ import annotations

import time
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Column

from cli.options import AsJson, By, Filters, Note, Workspace
from cli.terminal import author_of, bar, context_of, end_as_json, engine_of, out, print_table

if TYPE_CHECKING:
    from ingestion.types.run import Progress

app = typer.Typer()


@app.command()
def add(
    paths: list[Path],
    replaces: Annotated[str, typer.Option("--replaces", help="The document that this is a new version of.")] = "",
    again: Annotated[
        bool, typer.Option("--again", help="Also try files that broke their reader before and have not changed.")
    ] = False,
    workspace: Workspace = None,
    as_json: AsJson = False,
) -> None:
    """Put files and folders into the collection; what has not changed is skipped."""
    from ingestion.acts.documents import add_files

    started = time.monotonic()
    with context_of(workspace, as_json) as context, bar("Adding") as advance:
        added = add_files(
            context,
            paths,
            replaces=replaces,
            again=again,
            progress=lambda now: advance(now.done_bytes, now.total_bytes, how_far(now, time.monotonic() - started)),
        )
    code = int(any(outcome.status == "failed" for outcome in added))
    end_as_json(as_json, {"documents": [asdict(outcome) for outcome in added]}, code)
    figures = (f"{outcome.pages} pages, {outcome.children} passages" if outcome.children else "" for outcome in added)
    rows = (
        (outcome.status, Path(outcome.path).name, read, outcome.reason)
        for outcome, read in zip(added, figures, strict=True)
    )
    print_table((), rows)
    raise typer.Exit(code)


def how_far(now: Progress, seconds: float) -> str:
    """Return the text of an addition's progress bar: files done, pages a second, the file at hand.

    >>> from ingestion.types.run import Progress
    >>> how_far(Progress(2, 9, 0, 0, "act.pdf", pages=30), seconds=10)
    '2 of 9 files, 3.0 pages/s  act.pdf'
    """
    pace = f", {now.pages / seconds:.1f} pages/s" if now.pages and seconds > 0 else ""
    return f"{now.done} of {now.total} files{pace}  {now.current}".rstrip()


@app.command("list")
def list_documents(filters: Filters = None, workspace: Workspace = None, as_json: AsJson = False) -> None:
    """List the documents of the collection."""
    from rag_engine.answering.json_contract import document_json
    from rag_engine.filters import parse_filters

    with engine_of(workspace, as_json) as engine:
        records = engine.collection.documents(parse_filters(filters or []))
    end_as_json(as_json, {"documents": [document_json(record) for record in records]})
    rows = (
        (
            document.document_id,
            document.metadata.title,
            document.file,
            document.metadata.language,
            document.pages,
            document.children,
        )
        for document in records
    )
    print_table((Column("id", no_wrap=True), "title", "file", "language", "pages", "passages"), rows)


@app.command()
def show(document: str, workspace: Workspace = None, as_json: AsJson = False) -> None:
    """Show one document: its metadata and its passages. Name it by id or file name."""
    from rag_engine.answering.json_contract import document_json
    from rag_engine.chunking.indexed_text import child_id
    from rag_engine.text.file_kinds import pages_text

    with engine_of(workspace, as_json) as engine:
        record = engine.catalog.find_document(document)
        children = engine.catalog.document_children(record.key)
    passages = [
        {
            "child_id": child_id(record.sha256, c.parent.index, c.index),
            "page": c.page,
            "page_label": record.page_label(c.page),
            "act": c.parent.act,
            "section": c.parent.section,
        }
        | {"clause": c.clause, "headings": list(c.parent.headings), "text": c.text}
        for c in children
    ]
    end_as_json(as_json, {"document": document_json(record), "children": passages})
    known = document_json(record) | {"page_labels": ""}
    values = known | known.pop("metadata")
    shown = ((name, ", ".join(value) if isinstance(value, tuple) else value) for name, value in values.items())
    print_table((), (row for row in shown if row[1] not in ("", None)))
    for child, passage in zip(children, passages, strict=True):
        page = pages_text(record.file, record.named_page(child.page))
        out.print(f"\n{', '.join(filter(None, (str(passage['child_id']), page)))}", style="dim", markup=False)
        out.print(passage["text"], markup=False)


@app.command()
def erase(
    document: str,
    note: Note = "",
    by: By = "",
    redact: Annotated[
        bool,
        typer.Option(
            "--redact", help="Also remove what conversations, notebooks and test questions quote; own words stay."
        ),
    ] = False,
    workspace: Workspace = None,
    as_json: AsJson = False,
) -> None:
    """Remove a document everywhere: files, catalog, vectors, both indexes; one of the list needs a --note.

    Copies of it on the list go with it, and no run fetches them again. Conversations, notebooks, test
    questions and the runs of these keep the sentences that they quote of it, unless --redact is given. Words that
    people wrote themselves are kept in any case: questions, reasons of ratings, saved searches.
    """
    from ingestion.acts import documents

    # The act itself finishes an erasure of this document that was broken off, and says what it did.
    with context_of(workspace, as_json, erases=False) as context:
        begun = documents.unfinished_erasures(context)
        erasure = documents.erase(context, document, author_of(by), note, redact=redact)
        documents.resume_erasures(context)
    code = 1 if erasure.left_behind else 0
    end_as_json(as_json, asdict(erasure), code)
    left = f"still found: {', '.join(erasure.left_behind)}" if erasure.left_behind else "nothing was left behind"
    what = f"{erasure.file}, begun before and finished now" if erasure.file in begun else erasure.file
    out.print(f"Erased {what}: {erasure.children} passages; looked again, {left}.", markup=False)
    if not redact:
        kept = "Conversations, notebooks, test questions and the runs of these keep the sentences they quote of it"
        out.print(f"{kept}; --redact removes them too.", soft_wrap=True)
    raise typer.Exit(code)


@app.command()
def rebuild(
    encode: Annotated[bool, typer.Option("--encode", help="Also encode anew, with the configured encoder.")] = False,
    anyway: Annotated[
        bool, typer.Option("--anyway", help="Do not hold the answers of the new indexes against the accepted run.")
    ] = False,
    accept: Annotated[bool, typer.Option("--accept", help="Put the index in place that was held back.")] = False,
    discard: Annotated[bool, typer.Option("--discard", help="Remove the index that was held back.")] = False,
    workspace: Workspace = None,
    as_json: AsJson = False,
) -> None:
    """Make both indexes again from catalog and vectors; the old ones answer until the new are whole.

    Where a run of answers was accepted (`sextant eval gate --accept`), the new indexes are measured against it first.
    New indexes that are held back wait for --accept or --discard, the next rebuild, or a change to the collection.
    """
    from ingestion.acts.indexes import accept_index, discard_index
    from ingestion.acts.indexes import rebuild as rebuild_indexes
    from rag_engine.errors import InputError

    if accept or discard:
        with context_of(workspace, as_json) as context:
            if accept + discard + encode + anyway > 1:
                raise InputError("--accept and --discard make no new index.", help="Give one of them alone.")
            if discard:
                discard_index(context)
            children = accept_index(context) if accept else len(context.engine.collection.snapshot())
        end_as_json(as_json, {"children": children})
        out.print(f"The index in place holds {children} passages.", markup=False)
        return
    with context_of(workspace, as_json, erases=False) as context, bar("Rebuilding") as advance:
        children = rebuild_indexes(context, encode=encode, anyway=anyway, progress=advance)
    end_as_json(as_json, {"children": children})
    out.print(f"Rebuilt both indexes: {children} passages.")
