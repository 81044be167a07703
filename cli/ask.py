"""The verbs that ask the collection: search and ask."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from cli.terminal import AsJson, Filters, Workspace, engine_of, out, print_json, print_line, warn

if TYPE_CHECKING:
    from rag_engine.config import RetrievalConfig
    from rag_engine.engine import Engine

app = typer.Typer()
TopK = Annotated[
    int | None, typer.Option("--top-k", "-k", min=1, max=100, help="How many passages; 10, or as the recipe says.")
]
Recipe = Annotated[
    str, typer.Option("--profile", help="Recipe for finding: default, rrf, or paper and statutes as published.")
]
Mmr = Annotated[
    float | None,
    typer.Option("--mmr", min=0, max=1, help="Maximal marginal relevance: 1 for relevance alone, less for variety."),
]


@app.command()
def search(
    question: str,
    filters: Filters = None,
    top_k: TopK = None,
    profile: Recipe = "",
    mmr: Mmr = None,
    workspace: Workspace = None,
    as_json: AsJson = False,
) -> None:
    """Show the passages that bear on a question, with every score."""
    from rag_engine.answering.json_contract import search_json
    from rag_engine.filters import parse_filters
    from rag_engine.prompts import absent_sections

    with engine_of(workspace, as_json, profile=profile, mmr=mmr) as engine:
        evidence = engine.search(question, parse_filters(filters or []), _retrieval(engine, top_k))
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
    question: str,
    filters: Filters = None,
    top_k: TopK = None,
    profile: Recipe = "",
    mmr: Mmr = None,
    workspace: Workspace = None,
    as_json: AsJson = False,
) -> None:
    """Answer a question from the documents, with a page for every claim."""
    from rag_engine.answering.json_contract import answer_json, error_json
    from rag_engine.answering.reference_list import references_of
    from rag_engine.answering.support import support_summary, unsupported_sentences
    from rag_engine.filters import parse_filters
    from rag_engine.types import Answer

    with engine_of(workspace, as_json, error_json, profile=profile, mmr=mmr) as engine:
        answer = None
        for part in engine.ask(question, parse_filters(filters or []), _retrieval(engine, top_k)):
            if isinstance(part, str) and not as_json:
                out.print(part, end="", markup=False, soft_wrap=True)
            elif isinstance(part, Answer):
                answer = part
    assert answer is not None, "an answer always ends with itself"
    if as_json:
        print_json(answer_json(answer))
    else:
        out.print("\n")
        for reference in references_of(answer.citations):
            out.print(f"{reference.marks} {reference.text} ({reference.file})", style="dim", markup=False)
        if summary := support_summary(answer.support):
            print_line(summary, style="dim")
        warn(tuple(unsupported_sentences(answer.text, answer.support)))
        if answer.withheld:
            # The words are on the terminal already, as they came.
            warn((answer.text,))
        warn(tuple(dict.fromkeys((*answer.evidence.warnings, *answer.warnings))))
    raise typer.Exit(1 if answer.status == "error" else 0)


def _retrieval(engine: Engine, top_k: int | None) -> RetrievalConfig:
    return engine.retrieval() if top_k is None else engine.retrieval(top_k=top_k)
