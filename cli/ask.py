"""The verbs that ask the collection: search and ask."""

from __future__ import annotations

from typing import Annotated

import typer

from cli.terminal import AsJson, Filters, Workspace, engine_of, out, print_json, warn

app = typer.Typer()
TopK = Annotated[int, typer.Option("--top-k", "-k", min=1, max=100, help="How many passages.")]


@app.command()
def search(
    question: str, filters: Filters = None, top_k: TopK = 10, workspace: Workspace = None, as_json: AsJson = False
) -> None:
    """Show the passages that bear on a question, with every score."""
    from rag_engine.answering.json_contract import search_json
    from rag_engine.filters import parse_filters
    from rag_engine.prompts import absent_sections

    with engine_of(workspace, as_json) as engine:
        evidence = engine.search(question, parse_filters(filters or []), engine.retrieval(top_k=top_k))
    if as_json:
        print_json(search_json(evidence))
        return
    for rank, hit in enumerate(evidence.hits, start=1):
        out.print(f"\n{rank}. {hit.document.metadata.title}, page {hit.page}", style="bold", markup=False)
        out.print(f"   {hit.document.file}  similarity {hit.similarity:.2f} ({hit.tier})", style="dim", markup=False)
        out.print(f"   {' '.join(hit.text.split())[:400]}", markup=False)
    warn((*filter(None, [absent_sections(evidence.absent, evidence.plan.language)]), *evidence.warnings))


@app.command()
def ask(
    question: str, filters: Filters = None, top_k: TopK = 10, workspace: Workspace = None, as_json: AsJson = False
) -> None:
    """Answer a question from the documents, with a page for every claim."""
    from rag_engine.answering.json_contract import answer_json, error_json
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
        places = (f"[Source {one.n}] {one.title}, page {one.page} ({one.file})" for one in answer.citations)
        for place in dict.fromkeys(places):
            out.print(place, style="dim", markup=False)
        warn(tuple(dict.fromkeys((*answer.evidence.warnings, *answer.warnings))))
    raise typer.Exit(1 if answer.status == "error" else 0)
