"""The verbs that ask the collection: search and ask."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from cli.terminal import AsJson, Filters, Workspace, engine_of, out, print_json, print_table, spinner, warn

if TYPE_CHECKING:
    from rag_engine.config import RetrievalConfig
    from rag_engine.engine import Engine
    from rag_engine.types import AttributeContent, StructuredAnswer

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
    schema: Annotated[
        Path | None, typer.Option("--schema", help="Answer as this JSON schema says (data/schemas/ has two).")
    ] = None,
    workspace: Workspace = None,
    as_json: AsJson = False,
) -> None:
    """Answer a question from the documents, with a page for every claim."""
    if schema is not None:
        _ask_structured(question, schema, filters or [], top_k, (profile, mmr), workspace, as_json=as_json)
        return
    from rag_engine.answering.json_contract import answer_json, error_json
    from rag_engine.answering.reference_list import references_of
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
        warn(tuple(dict.fromkeys((*answer.evidence.warnings, *answer.warnings))))
    raise typer.Exit(1 if answer.status == "error" else 0)


def _ask_structured(
    question: str,
    file: Path,
    filters: list[str],
    top_k: int | None,
    recipe: tuple[str, float | None],
    workspace: Path | None,
    *,
    as_json: bool,
) -> None:
    from rag_engine.answering.json_contract import structured_json
    from rag_engine.answering.structured.answer_schema import read_schema
    from rag_engine.filters import parse_filters

    profile, mmr = recipe
    with engine_of(workspace, as_json, profile=profile, mmr=mmr) as engine, spinner("Filling in the form …"):
        schema = read_schema(file)
        answer = engine.ask_structured(question, schema, parse_filters(filters), _retrieval(engine, top_k))
    if as_json:
        print_json(structured_json(answer))
    else:
        _print_structured(answer)


def _print_structured(answer: StructuredAnswer) -> None:
    """Print the records as a table, with the page that states each, below what else the form holds."""
    from rag_engine.answering.reference_list import references_of

    for entity in answer.entities:
        out.print(f"{entity.name}: {_shown(entity.value)}", markup=False)
    if answer.records:
        names = [attribute.name for attribute in answer.records[0].attributes]
        table = Table(*names, "source", "page", box=None)
        for record in answer.records:
            values = [_shown(attribute.value) for attribute in record.attributes]
            table.add_row(*values, f"{record.citation.n}", f"{record.citation.page}")
        print_table(table)
        out.print()
    for reference in references_of(record.citation for record in answer.records):
        out.print(f"{reference.marks} {reference.text} ({reference.file})", style="dim", markup=False)
    warn(answer.warnings)


def _shown(value: AttributeContent) -> str:
    if isinstance(value, tuple):
        return "; ".join(value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "–" if value is None else str(value)


def _retrieval(engine: Engine, top_k: int | None) -> RetrievalConfig:
    return engine.retrieval() if top_k is None else engine.retrieval(top_k=top_k)
