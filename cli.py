"""The verbs of Sextant in a terminal; they read words, call one function and print what comes back."""

from __future__ import annotations

import os
import signal
import threading
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

import cli_chunks
import cli_eval
import cli_index
import cli_sources
from cli_frame import AsJson, Workspace, bar, engine_of, out, print_json, warn
from rag_engine.config import DATA

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Ask questions of your own documents; every claim is tied to a page you can look at.",
)

app.add_typer(cli_index.app)
app.add_typer(cli_chunks.app)
app.add_typer(cli_sources.app)
app.add_typer(cli_sources.seeds, name="seeds")
app.add_typer(cli_eval.app, name="eval")

Filters = Annotated[list[str] | None, typer.Option("--filter", "-f", help="KEY=VALUE, for example hazard=Flood.")]
TopK = Annotated[int, typer.Option("--top-k", "-k", min=1, max=100, help="How many passages.")]


@app.command()
def add(paths: list[Path], workspace: Workspace = None, as_json: AsJson = False) -> None:
    """Put files and folders into the collection; what has not changed is skipped."""
    from ingestion.adding import add_paths

    with engine_of(workspace, as_json) as engine, bar("Adding") as advance:
        added = add_paths(paths, engine, progress=lambda now: advance(now.done_bytes, now.total_bytes, now.current))
    if as_json:
        print_json({"documents": [asdict(one) for one in added]})
    else:
        for one in added:
            figures = f"{one.pages} pages, {one.children} passages" if one.children else ""
            out.print(f"{one.status:10} {Path(one.path).name}  {figures}  {one.reason}".rstrip(), markup=False)
    raise typer.Exit(1 if any(one.status == "failed" for one in added) else 0)


@app.command()
def search(
    question: str, filters: Filters = None, top_k: TopK = 10, workspace: Workspace = None, as_json: AsJson = False
) -> None:
    """Show the passages that bear on a question, with every score."""
    from rag_engine.contract import search_json
    from rag_engine.filters import parse_filters

    with engine_of(workspace, as_json) as engine:
        evidence = engine.search(question, parse_filters(filters or []), engine.retrieval(top_k=top_k))
    if as_json:
        print_json(search_json(evidence))
        return
    for rank, hit in enumerate(evidence.hits, start=1):
        out.print(f"\n{rank}. {hit.document.metadata.title}, page {hit.page}", style="bold", markup=False)
        out.print(f"   {hit.document.file}  similarity {hit.similarity:.2f} ({hit.tier})", style="dim", markup=False)
        out.print(f"   {' '.join(hit.text.split())[:400]}", markup=False)
    warn(evidence.warnings)


@app.command()
def ask(
    question: str, filters: Filters = None, top_k: TopK = 10, workspace: Workspace = None, as_json: AsJson = False
) -> None:
    """Answer a question from the documents, with a page for every claim."""
    from rag_engine.contract import answer_json, error_json
    from rag_engine.filters import parse_filters
    from rag_engine.types import Answer

    with engine_of(workspace, as_json, error_json) as engine:
        answer = None
        for part in engine.ask(question, parse_filters(filters or []), engine.retrieval(top_k=top_k)):
            if isinstance(part, str) and not as_json:
                out.print(part, end="", markup=False, soft_wrap=True)
            elif isinstance(part, Answer):
                answer = part
    assert answer is not None, "an answer always ends with itself"
    if as_json:
        print_json(answer_json(answer))
    else:
        out.print("\n")
        for citation in answer.citations:
            place = f"[Source {citation.n}] {citation.title}, page {citation.page} ({citation.file})"
            out.print(place, style="dim", markup=False)
        warn(tuple(dict.fromkeys((*answer.evidence.warnings, *answer.warnings))))
    raise typer.Exit(1 if answer.status == "error" else 0)


@app.command("list")
def list_documents(filters: Filters = None, workspace: Workspace = None, as_json: AsJson = False) -> None:
    """List the documents of the collection."""
    from rag_engine.contract import document_json
    from rag_engine.filters import parse_filters

    with engine_of(workspace, as_json) as engine:
        records = engine.documents(parse_filters(filters or []))
    if as_json:
        print_json({"documents": [document_json(record) for record in records]})
        return
    table = Table("id", "title", "file", "language", "pages", "passages", box=None)
    for record in records:
        m = record.metadata
        table.add_row(
            record.document_id, m.title[:60], record.file, m.language, str(record.pages), str(record.children)
        )
    out.print(table, markup=False)


@app.command()
def show(document: str, workspace: Workspace = None, as_json: AsJson = False) -> None:
    """Show one document: its metadata and its passages. Name it by id or file name."""
    from rag_engine.chunking.indexed_text import child_id
    from rag_engine.contract import document_json

    with engine_of(workspace, as_json) as engine:
        record = engine.catalog.find_document(document)
        children = engine.catalog.document_children(record.key)
    passages = [
        {
            "child_id": child_id(record.sha256, c.parent_index, c.index),
            "page": c.page,
            "act": c.act,
            "section": c.section,
        }
        | {"clause": c.clause, "headings": list(c.headings), "text": c.text}
        for c in children
    ]
    if as_json:
        print_json({"document": document_json(record), "children": passages})
        return
    for name, value in (document_json(record) | document_json(record)["metadata"]).items():
        if name != "metadata" and value not in ("", (), None):
            out.print(f"{name:20} {', '.join(value) if isinstance(value, tuple) else value}", markup=False)
    for passage in passages:
        out.print(f"\n{passage['child_id']}, page {passage['page']}", style="dim", markup=False)
        out.print(passage["text"], markup=False)


@app.command()
def erase(document: str, workspace: Workspace = None, as_json: AsJson = False) -> None:
    """Remove a document everywhere: files, catalog, vectors, both indexes."""
    with engine_of(workspace, as_json) as engine:
        erasure = engine.erase(engine.catalog.find_document(document))
    if as_json:
        print_json(asdict(erasure))
    else:
        left = f"still found: {', '.join(erasure.left_behind)}" if erasure.left_behind else "nothing was left behind"
        out.print(f"Erased {erasure.file}: {erasure.children} passages; looked again, {left}.", markup=False)
    raise typer.Exit(1 if erasure.left_behind else 0)


@app.command()
def rebuild(
    encode: Annotated[bool, typer.Option("--encode", help="Also encode anew, with the configured encoder.")] = False,
    workspace: Workspace = None,
    as_json: AsJson = False,
) -> None:
    """Make both indexes anew from catalog and vectors; the old ones answer until the new are whole."""
    with engine_of(workspace, as_json) as engine, bar("Rebuilding") as advance:
        children = engine.rebuild(encode=encode, progress=advance)
    if as_json:
        print_json({"children": children})
    else:
        out.print(f"Rebuilt both indexes: {children} passages.")


@app.command()
def doctor(workspace: Workspace = None, as_json: AsJson = False) -> None:
    """Check models, servers, OCR, indexes and disk; say what is missing and how to get it."""
    from ingestion.doctor import examine

    with engine_of(workspace, as_json) as engine:
        checks = examine(engine)
    if as_json:
        print_json({"checks": [asdict(check) for check in checks]})
    else:
        for check in checks:
            mark = {"good": "[green]ok[/]", "note": "[yellow]--[/]", "bad": "[red]!![/]"}[check.state]
            out.print(mark, end=" ")
            out.print(f"{check.name}: {check.found}", markup=False)
            if check.cure:
                out.print(f"   {check.cure}", style="dim", markup=False)
    raise typer.Exit(1 if any(check.state == "bad" for check in checks) else 0)


@app.command()
def serve(
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port of the page; 0 takes a free one.")] = 8501,
    sample: Annotated[
        bool, typer.Option("--sample", help="Put the sample collection into an empty workspace.")
    ] = False,
    workspace: Workspace = None,
    as_json: AsJson = False,
) -> None:
    """Open Sextant in the browser, on this machine alone, until Ctrl-C."""
    from ingestion.serving import serving
    from ingestion.worker import ensure_sample

    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    with engine_of(workspace, as_json) as engine, serving(engine, port) as servers:
        filling = sample and ensure_sample(engine, DATA / "sample" / "documents")
        if as_json:
            print_json(asdict(servers.here))
        else:
            if filling:
                out.print("The sample collection is being indexed; the page shows how far it is.")
            out.print(f"Sextant is at {servers.here.address}  (Ctrl-C ends it)", markup=False)
        servers.watch(stop)


def main() -> None:
    """The entry point of `sextant`."""
    os.environ.setdefault("ANONYMIZED_TELEMETRY", "False")
    app()


if __name__ == "__main__":
    main()
