"""The verbs that ask the collection: ask, and replay for an answer that was kept."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table

from cli.terminal import (
    AsJson,
    Filters,
    Workspace,
    emphasised,
    engine_of,
    err,
    errors_end,
    out,
    print_end,
    print_json,
    print_table,
    spinner,
    warn,
    watched,
)

if TYPE_CHECKING:
    from rag_engine.answering.bundle import AskedQuestion
    from rag_engine.answering.structured.answer_schema import AnswerSchema
    from rag_engine.config import RetrievalConfig
    from rag_engine.engine import Engine
    from rag_engine.types import Answer, AttributeContent, Prompt, StructuredAnswer

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
        Path | None, typer.Option("--schema", help="Answer as this JSON schema says (data/schemas/ has two).")
    ] = None,
    each_document: Annotated[
        Path | None,
        typer.Option("--each-document", help="Ask each document by itself, as a run of the worker, into this .xlsx."),
    ] = None,
    bundle: Bundle = None,
    workspace: Workspace = None,
    as_json: AsJson = False,
) -> None:
    """Answer a question from the documents, with a page for every claim."""
    from rag_engine.errors import InputError

    if schema is not None or each_document is not None:
        with errors_end(as_json):
            if bundle is not None:
                raise InputError(
                    "--bundle keeps an answer in words, and --schema or --each-document fills in a form.",
                    help="Leave one of them out; --json prints a form with its citations, --each-document keeps it.",
                )
            form = _FormQuestion(question, _form(schema), tuple(filters or ()), top_k)
            if each_document is not None:
                from ingestion.dataset.answer_sheets import require_workbook_path

                require_workbook_path(each_document)
        with engine_of(workspace, as_json, profile=profile, mmr=mmr) as engine:
            if each_document is None:
                _ask_structured(engine, form, as_json=as_json)
            else:
                _ask_each_document(engine, form, each_document, as_json=as_json)
        return
    from rag_engine.answering.bundle import asked_question
    from rag_engine.answering.json_contract import answer_json, error_json
    from rag_engine.conversations.reply import reply_of
    from rag_engine.filters import parse_filters

    with engine_of(workspace, as_json, error_json, profile=profile, mmr=mmr) as engine:
        asked = asked_question(question, parse_filters(filters or []), top_k=top_k, profile=profile, mmr=mmr)
        answer, prompts = _answer(engine, asked, print_words=not as_json)
        if bundle:
            _keep(bundle, engine, asked, answer, prompts)
    if as_json:
        print_json(answer_json(answer))
    else:
        print_end(reply_of(answer))
    raise typer.Exit(1 if answer.status == "error" else 0)


@dataclass(frozen=True, slots=True)
class _FormQuestion:
    """A question whose answer fills in a form."""

    question: str
    schema: AnswerSchema
    filters: tuple[str, ...]
    top_k: int | None


def _form(file: Path | None) -> AnswerSchema:
    from rag_engine.answering.structured.answer_schema import read_schema
    from rag_engine.errors import InputError

    if file is None:
        raise InputError("--each-document fills in a form.", help="Give its schema with --schema FILE.json.")
    return read_schema(file)


def _ask_structured(engine: Engine, asked: _FormQuestion, *, as_json: bool) -> None:
    from rag_engine.answering.json_contract import structured_json
    from rag_engine.filters import parse_filters

    with spinner("Filling in the form …"):
        answer = engine.ask_structured(
            asked.question, asked.schema, parse_filters(asked.filters), retrieval_of(engine, asked.top_k)
        )
    if as_json:
        print_json(structured_json(answer))
    else:
        _print_structured(answer)


def _ask_each_document(engine: Engine, asked: _FormQuestion, workbook: Path, *, as_json: bool) -> None:
    """Have the worker fill in the form from each document, and write the workbook of what it has so far."""
    from cli.runs import watch
    from ingestion.dataset.document_answers import DocumentsRequest
    from ingestion.operations.answers import ask_documents, export_answers
    from ingestion.operations.desk import local_person, open_desk
    from rag_engine.errors import BackendError
    from rag_engine.filters import parse_filters

    desk = open_desk(engine, local_person())
    request = DocumentsRequest(
        asked.question, asked.schema, parse_filters(asked.filters), retrieval_of(engine, asked.top_k)
    )
    ended = watch(desk, ask_documents(desk, request))
    documents = export_answers(desk, request, workbook)
    if ended.status == "failed":
        kept = f"{workbook} holds the {documents} documents asked so far; the same command continues."
        raise BackendError(ended.message, help=kept, retryable=True)
    counts: Mapping[str, Any] = ended.results[0] if ended.results else {"asked": 0, "failed": [], "warnings": []}
    if as_json:
        print_json({"path": str(workbook), **counts, "documents": documents})
    else:
        out.print(f"Wrote {workbook}: {documents} documents, {counts['asked']} asked now.", markup=False)
        warn(
            (
                *(f"{file} could not be asked; the same command asks again." for file in counts["failed"]),
                *counts["warnings"],
            )
        )
        if ended.status != "done":
            err.print(f"Run {ended.id} is {ended.status}; the same command continues it.", markup=False)
    raise typer.Exit(130 if ended.status != "done" else 1 if counts["failed"] else 0)


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
    from rag_engine.controller.describe import describe_step
    from rag_engine.types import Answer, ControllerStep

    answer: Answer | None = None
    prompts: list[Prompt] = []
    retrieval = retrieval_of(engine, asked.top_k)
    engine.begin_loading_models(asked.question)
    for part in watched(engine.ask(asked.question, asked.filters, retrieval, prompted=prompts.append)):
        if isinstance(part, str) and print_words:
            out.print(emphasised(part), end="", soft_wrap=True)
        elif isinstance(part, ControllerStep) and print_words:
            err.print(describe_step(part), style="dim", markup=False, soft_wrap=True)
        elif isinstance(part, Answer):
            answer = part
    assert answer is not None, "an answer always ends with itself"
    return answer, prompts


def _keep(path: Path, engine: Engine, asked: AskedQuestion, answer: Answer, prompts: list[Prompt]) -> None:
    from rag_engine.answering.bundle import bundle_of, write_bundle

    write_bundle(path, bundle_of(asked, answer, next(iter(prompts), None), engine.circumstances(), engine.config))


def retrieval_of(engine: Engine, top_k: int | None) -> RetrievalConfig:
    """Return the configured retrieval, with another number of passages where one is given."""
    return engine.retrieval() if top_k is None else engine.retrieval(top_k=top_k)
