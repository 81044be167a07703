"""Questions on real documents, each asked in its document's language and in three others.

    python -m benchmarks.answers.cross_language [--half dev|heldout] [--workspace DIR] [--shared DIR]

data/eval/cross_language has them with the passage that answers each. It is counted how often the first quotation is
of that passage, how often any is, whether the passage is among those that were found, and how often the question is
refused; by the document's language, and by the question's where it is another. Nothing is fitted on the heldout half.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks.answers.quotations import across_languages, answers
from benchmarks.corpus import add_corpus_options, corpus_engine
from benchmarks.report import machine, write_table
from rag_engine.engine import Engine
from rag_engine.evaluation.gold import GoldQuestion
from rag_engine.evaluation.significance import share_interval
from rag_engine.types.answer import Answer


@dataclass(frozen=True, slots=True)
class Asked:
    """A question in one language on a document `of` one, and the end of it."""

    of: str
    language: str
    found: bool
    first: bool
    quoted: bool
    refused: bool


def ask(engine: Engine, of: str, question: GoldQuestion) -> Asked:
    """Ask a question without a language model."""
    *_, answer = engine.ask(question.question)
    assert isinstance(answer, Answer)
    quoted = [answers(citation.quote, question) for citation in answer.citations]
    found = any(answers(source.text, question) for source in answer.evidence.sources)
    refused = answer.status == "insufficient_evidence"
    return Asked(of, question.language, found, quoted[:1] == [True], any(quoted), refused)


def row(name: str, asked: Sequence[Asked]) -> list[str]:
    """Return how many of the questions found, first quoted, quoted and refused."""
    first = sum(one.first for one in asked)
    share = share_interval(first, len(asked))
    counts = (sum(one.found for one in asked), sum(one.quoted for one in asked), sum(one.refused for one in asked))
    found, quoted, refused = (f"{count / len(asked):.0%}" for count in counts)
    return [name, str(len(asked)), found, f"{share.value:.0%} ({share.low:.0%} to {share.high:.0%})", quoted, refused]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--half", choices=("dev", "heldout"), default="dev")
    add_corpus_options(parser)
    arguments = parser.parse_args()
    with corpus_engine(arguments) as engine:
        asked = [ask(engine, of, question) for of, question in across_languages(arguments.half)]
    same, other = ([one for one in asked if (one.of == one.language) == alike] for alike in (True, False))
    rows = [row("the document's language", same), row("another language", other)]
    rows += [row(f"of {of}, in {of}", [one for one in same if one.of == of]) for of in sorted({one.of for one in same})]
    rows += [
        row(f"of {of}, in others", [one for one in other if one.of == of]) for of in sorted({one.of for one in other})
    ]
    rows += [
        row(f"in {language}, of others", [one for one in other if one.language == language])
        for language in sorted({one.language for one in other})
    ]
    write_table(
        f"cross_language_{arguments.half}",
        "Questions in the document's language and in others",
        ["questions", "asked", "passage found", "first quotation right (95 %)", "any quotation right", "refused"],
        rows,
        [machine(), f"`python -m benchmarks.answers.cross_language --half {arguments.half}`, no language model."],
    )


if __name__ == "__main__":
    main()
