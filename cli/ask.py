"""The verbs that ask the collection: ask, and replay for an answer that was kept."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from cli.options import AsJson, Filters, Workspace
from cli.terminal import (
    emphasised,
    end_as_json,
    engine_of,
    err,
    errors_end,
    out,
    print_end,
    print_table,
    say,
    spinner,
    warn,
    watched,
)

if TYPE_CHECKING:
    from rag_engine.answering.bundle import AskedQuestion
    from rag_engine.config import RetrievalConfig
    from rag_engine.engine import Engine
    from rag_engine.types.answer import Answer, AttributeContent, StructuredAnswer
    from rag_engine.types.language_model import Prompt

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
    typer.Option(
        "--bundle",
        help="Also keep the answer in this ZIP with all that it was made from, for `replay`; not with --schema.",
    ),
]


@app.command()
def ask(
    question: str,
    filters: Filters = None,
    top_k: TopK = None,
    profile: Recipe = "",
    mmr: Mmr = None,
    schema: Annotated[
        Path | None, typer.Option("--schema", help="Answer as this JSON schema says: a file, policy or statutory.")
    ] = None,
    bundle: Bundle = None,
    workspace: Workspace = None,
    as_json: AsJson = False,
) -> None:
    """Answer a question from the documents, with a page for every claim."""
    from rag_engine.errors import InputError
    from rag_engine.filters import parse_filters

    if schema is not None:
        from rag_engine.answering.json_contract import structured_json
        from rag_engine.answering.structured.answer_schema import read_schema

        with errors_end(as_json):
            if bundle is not None:
                raise InputError(
                    "--bundle keeps an answer in words, and --schema fills in a form.",
                    help="Leave one of them out; --json prints a form with its citations.",
                )
            form = read_schema(schema)
        with engine_of(workspace, as_json, profile=profile, mmr=mmr) as engine, spinner("Filling in the form …"):
            filled = engine.ask_structured(question, form, parse_filters(filters or []), retrieval_of(engine, top_k))
        end_as_json(as_json, structured_json(filled))
        _print_structured(filled)
        return
    from rag_engine.answering.bundle import AskedQuestion, bundle_of, write_bundle
    from rag_engine.answering.json_contract import answer_json, error_json
    from rag_engine.conversations.reply import reply_of

    with engine_of(workspace, as_json, error_json, profile=profile, mmr=mmr) as engine:
        asked = AskedQuestion(question, parse_filters(filters or []), top_k, profile, mmr)
        answer, prompts = _answer(engine, asked, print_words=not as_json)
        if bundle:
            kept = bundle_of(asked, answer, next(iter(prompts), None), engine.circumstances(), engine.config)
            write_bundle(bundle, kept)
    code = int(answer.status == "error")
    end_as_json(as_json, answer_json(answer), code)
    print_end(reply_of(answer))
    raise typer.Exit(code)


def _print_structured(answer: StructuredAnswer) -> None:
    """Print the records as a table, with the page that states each, below what else the form holds."""
    from rag_engine.answering.reference_list import references_of
    from rag_engine.text.file_kinds import page_cell

    for entity in answer.entities:
        out.print(f"{entity.name}: {_shown(entity.value)}", markup=False)
    if answer.records:
        names = [attribute.name for attribute in answer.records[0].attributes]
        table = Table(*names, "source", "page", box=None)
        for record in answer.records:
            values = [_shown(attribute.value) for attribute in record.attributes]
            page = page_cell(record.citation.file, record.citation.page, record.citation.page_label)
            table.add_row(*values, f"{record.citation.n}", f"{page or '–'}")
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


@app.command()
def replay(
    kept: Annotated[Path, typer.Argument(metavar="BUNDLE", help="A ZIP that `ask --bundle` wrote.")],
    workspace: Workspace = None,
    as_json: AsJson = False,
) -> None:
    """Ask the question of a kept answer again and show what differs; exit code 1 where the answer does."""
    from rag_engine.answering.bundle import answer_differs, bundle_of, compare_bundles, read_bundle

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
    differs, listed = answer_differs(differences), [asdict(difference) for difference in differences]
    shown = {"question": asked.question, "answer_differs": differs, "differences": listed}
    end_as_json(as_json, shown, int(differs))
    for difference in differences:
        say(f"{difference.part}: {difference.message}")
    out.print("The answer differs." if differs else "The answer is the same.", markup=False)
    raise typer.Exit(int(differs))


def _answer(engine: Engine, asked: AskedQuestion, *, print_words: bool) -> tuple[Answer, list[Prompt]]:
    """Return the answer and what the generator was given; its words are printed as they come."""
    from rag_engine.controller.describe import describe_step
    from rag_engine.types.answer import Answer
    from rag_engine.types.evidence import ControllerStep

    answer: Answer | None = None
    prompts: list[Prompt] = []
    retrieval = retrieval_of(engine, asked.top_k)
    engine.begin_loading_models()
    for part in watched(engine.ask(asked.question, asked.filters, retrieval, prompted=prompts.append)):
        if isinstance(part, str) and print_words:
            out.print(emphasised(part), end="", soft_wrap=True)
        elif isinstance(part, ControllerStep) and print_words:
            say(describe_step(part), "dim", console=err)
        elif isinstance(part, Answer):
            answer = part
    assert answer is not None, "an answer always ends with itself"
    return answer, prompts


def retrieval_of(engine: Engine, top_k: int | None) -> RetrievalConfig:
    """Return the configured retrieval, with another number of passages where one is given."""
    return engine.retrieval() if top_k is None else engine.retrieval(top_k=top_k)
