"""Page questions: first right, quoted, refused, by kind of question and by pair of languages.

    python -m benchmarks.answers.page_answers [--set page_answers|two_sided] [--half dev|heldout] [--workspace DIR]

The questions are those of data/eval/page_answers.jsonl, or of two_sided.jsonl to two documents each. A quotation is
right if it is of a document that answers and holds every quote of it. A question to two documents is quoted if each
of them has a right quotation. No language model is asked. Nothing is fitted on the heldout half; what fails is listed
for the dev half alone.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import cast

from benchmarks.corpus import add_corpus_options, corpus_engine
from benchmarks.report import machine, write_table
from rag_engine.config import DATA
from rag_engine.engine import Engine
from rag_engine.evaluation.datasets import Split
from rag_engine.evaluation.gold import NOT_THERE, GoldQuestion, holds, read_gold
from rag_engine.planning.follow_up import Exchange
from rag_engine.types.answer import Answer

QUESTIONS, TWO_SIDED = (DATA / "eval" / f"{name}.jsonl" for name in ("page_answers", "two_sided"))
TITLES = {QUESTIONS: "Page questions", TWO_SIDED: "Questions to two documents"}
TWO_DOCUMENTS = "two documents"
COLUMNS = ("questions", "asked", "found among the passages", "first quotation right", "quoted", "refused")


@dataclass(frozen=True, slots=True)
class Asked:
    """A question and what became of it: right words found, quoted first, quoted, or the question refused."""

    question: GoldQuestion
    found: bool
    first: bool
    quoted: bool
    refused: bool


def ask(engine: Engine, question: GoldQuestion) -> Asked:
    """Ask a question without a language model, after the one before it if it is a follow-up."""
    *_, answer = engine.ask_next(question.question, [Exchange(question.before)] if question.before else [])
    assert isinstance(answer, Answer)
    quotations = [(citation.file, citation.quote) for citation in answer.citations]
    passages = [(source.document.file, source.text) for source in answer.evidence.sources]
    first = bool(documents_of(question, quotations[:1]))
    refused = answer.status == "insufficient_evidence"
    return Asked(question, is_answered(question, passages), first, is_answered(question, quotations), refused)


def documents_of(question: GoldQuestion, texts: Iterable[tuple[str, str]]) -> set[str]:
    """Return the documents of which one of the texts, each with its file, holds every quote."""
    quotes = {file: [quote for quote in question.quotes if quote.document == file] for file in documents(question)}
    return {file for file, text in texts if file in quotes and holds(text, quotes[file])}


def is_answered(question: GoldQuestion, texts: Iterable[tuple[str, str]]) -> bool:
    """Return whether the texts answer: for one document, or for each of two that are asked about."""
    right = documents_of(question, texts)
    return right == documents(question) if question.kind == TWO_DOCUMENTS else bool(right)


def documents(question: GoldQuestion) -> set[str]:
    """Return the files that a question has quotes of."""
    return {quote.document for quote in question.quotes}


def language_pair(question: GoldQuestion) -> str:
    """Return the language of a question and that of the documents, by which their file names begin."""
    of = {file.partition("_")[0] for file in documents(question)}
    if question.kind != TWO_DOCUMENTS and question.language in of:
        of = {question.language}
    return f"{question.language} on {' and '.join(sorted(of))}"


def row(name: str, asked: Sequence[Asked]) -> list[str]:
    """Return how many of the questions are found, first quoted, quoted and refused."""
    counts = (
        sum(one.found for one in asked),
        sum(one.first for one in asked),
        sum(one.quoted for one in asked),
        sum(one.refused for one in asked),
    )
    return [name, str(len(asked)), *map(str, counts)]


def table(asked: Sequence[Asked]) -> list[list[str]]:
    """Return the rows: in all, by kind, by pair of languages."""
    there = [one for one in asked if one.question.kind != NOT_THERE]
    shares = [sum(flags) / len(there) for flags in zip(*((one.first, one.quoted) for one in there), strict=True)]
    kinds = dict.fromkeys(one.question.kind for one in asked)
    pairs = sorted({language_pair(one.question) for one in there})
    return [
        row(f"with an answer (first right {shares[0]:.0%}, quoted {shares[1]:.0%})", there),
        *(row(kind, [one for one in asked if one.question.kind == kind]) for kind in kinds),
        *(row(pair, [one for one in there if language_pair(one.question) == pair]) for pair in pairs),
    ]


def failures(asked: Sequence[Asked]) -> list[str]:
    """Return a line for each question not answered first, and each answered from nothing."""
    lines = []
    for one in asked:
        if one.question.kind == NOT_THERE:
            wrong = "" if one.refused else "answered"
        else:
            found = "found" if one.found else "not found"
            wrong = "" if one.first else f"{found}, {'quoted' if one.quoted else 'not quoted'}"
            wrong += ", refused" if one.refused else ""
        if wrong:
            lines.append(f"{one.question.id} ({one.question.kind}): {wrong.removeprefix(', ')}")
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--set", choices=(QUESTIONS.stem, TWO_SIDED.stem), default=QUESTIONS.stem)
    parser.add_argument("--half", choices=("dev", "heldout"), default="dev")
    add_corpus_options(parser)
    arguments = parser.parse_args()
    file = TWO_SIDED if arguments.set == TWO_SIDED.stem else QUESTIONS
    command = f"python -m benchmarks.answers.page_answers --set {file.stem} --half {arguments.half}"
    with corpus_engine(arguments) as engine:
        asked = [ask(engine, question) for question in read_gold(file, cast("Split", arguments.half))]
    write_table(
        f"{file.stem}_{arguments.half}",
        f"{TITLES[file]}, {'worked on' if arguments.half == 'dev' else 'not worked on'}",
        COLUMNS,
        table(asked),
        [machine(), f"`{command}`, no language model."],
    )
    if arguments.half == "dev":
        print("\n".join(failures(asked)))


if __name__ == "__main__":
    main()
