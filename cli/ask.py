"""The verbs that ask the collection: search and ask, and replay for an answer that was kept."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cli.terminal import AsJson, Filters, Workspace, engine_of, errors_end, out, print_json, warn

if TYPE_CHECKING:
    from rag_engine.answering.bundle import AskedQuestion
    from rag_engine.config import RetrievalConfig
    from rag_engine.engine import Engine
    from rag_engine.types import Answer, Prompt

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
Bundle = Annotated[
    Path | None,
    typer.Option("--bundle", help="Also keep the answer in this ZIP with all that it was made from, for `replay`."),
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
    bundle: Bundle = None,
    workspace: Workspace = None,
    as_json: AsJson = False,
) -> None:
    """Answer a question from the documents, with a page for every claim."""
    from rag_engine.answering.bundle import asked_question
    from rag_engine.answering.json_contract import answer_json, error_json
    from rag_engine.answering.reference_list import references_of
    from rag_engine.filters import parse_filters

    with engine_of(workspace, as_json, error_json, profile=profile, mmr=mmr) as engine:
        asked = asked_question(question, parse_filters(filters or []), top_k=top_k, profile=profile, mmr=mmr)
        answer, prompts = _answer(engine, asked, print_words=not as_json)
        if bundle:
            _keep(bundle, engine, asked, answer, prompts)
    if as_json:
        print_json(answer_json(answer))
    else:
        out.print("\n")
        for reference in references_of(answer.citations):
            out.print(f"{reference.marks} {reference.text} ({reference.file})", style="dim", markup=False)
        warn(tuple(dict.fromkeys((*answer.evidence.warnings, *answer.warnings))))
    raise typer.Exit(1 if answer.status == "error" else 0)


@app.command()
def replay(
    kept: Annotated[Path, typer.Argument(metavar="BUNDLE", help="A ZIP that `ask --bundle` wrote.")],
    workspace: Workspace = None,
    as_json: AsJson = False,
) -> None:
    """Ask the question of a kept answer again and show what differs; exit code 1 where the answer does."""
    from rag_engine.answering.bundle import bundle_of, read_bundle
    from rag_engine.answering.replay import answer_differs, compare_bundles

    with errors_end(as_json):
        before = read_bundle(kept)
    asked = before.asked
    with engine_of(workspace, as_json, profile=asked.profile, mmr=asked.mmr) as engine:
        answer, prompts = _answer(engine, asked, print_words=False)
        now = bundle_of(asked, answer, next(iter(prompts), None), engine.circumstances(), engine.config)
        hashes: dict[str, set[str]] = {}
        for document in engine.collection.documents():
            hashes.setdefault(document.file, set()).add(document.sha256)
    differences = compare_bundles(before, now, hashes)
    differs = answer_differs(differences)
    if as_json:
        listed = [asdict(difference) for difference in differences]
        print_json({"question": asked.question, "answer_differs": differs, "differences": listed})
    else:
        for difference in differences:
            out.print(f"{difference.part}: {difference.message}", markup=False, soft_wrap=True)
        out.print("The answer differs." if differs else "The answer is the same.", markup=False)
    raise typer.Exit(1 if differs else 0)


def _answer(engine: Engine, asked: AskedQuestion, *, print_words: bool) -> tuple[Answer, list[Prompt]]:
    """Return the answer and what the generator was given, if one was asked; its words are printed as they come."""
    from rag_engine.types import Answer

    answer: Answer | None = None
    prompts: list[Prompt] = []
    retrieval = _retrieval(engine, asked.top_k)
    for part in engine.ask(asked.question, asked.filters, retrieval, prompted=prompts.append):
        if isinstance(part, str) and print_words:
            out.print(part, end="", markup=False, soft_wrap=True)
        elif isinstance(part, Answer):
            answer = part
    assert answer is not None, "an answer always ends with itself"
    return answer, prompts


def _keep(path: Path, engine: Engine, asked: AskedQuestion, answer: Answer, prompts: list[Prompt]) -> None:
    from rag_engine.answering.bundle import bundle_of, write_bundle

    write_bundle(path, bundle_of(asked, answer, next(iter(prompts), None), engine.circumstances(), engine.config))


def _retrieval(engine: Engine, top_k: int | None) -> RetrievalConfig:
    return engine.retrieval() if top_k is None else engine.retrieval(top_k=top_k)
