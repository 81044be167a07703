"""Questions that the collection cannot answer: how many are refused, beside those that it answers.

    python -m benchmarks.answers.refusals [--workspace DIR] [--shared DIR]

The questions without an answer are those of data/eval/unanswerable.tsv; the answerable ones are those of
data/eval/passages.jsonl and page_questions.tsv. Each half by itself (benchmarks/answers/fit_chances.py fitted on dev);
below what happens today is what the best chance of a passage alone would refuse at other bounds. What happens on the
held-out half is written into data/chances.toml, and stated wherever an answer is refused.
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from benchmarks.answers.fit_chances import half_of
from benchmarks.answers.shown_shares import write_shown_shares
from benchmarks.corpus import add_corpus_options, corpus_engine
from benchmarks.report import machine, write_table
from benchmarks.retrieval.page_questions import own_questions
from rag_engine.config import DATA
from rag_engine.engine import Engine
from rag_engine.evaluation.gold import read_gold
from rag_engine.types.answer import Answer

WITHOUT_ANSWER = DATA / "eval" / "unanswerable.tsv"
ANSWERABLE = "answerable"
KINDS = (
    ANSWERABLE,
    "off-topic",
    "not in the collection",
    "wrong country",
    "wrong state",
    "wrong year",
    "wrong act",
    "absent section",
    "missing attribute",
)
CHANCES = (0.03, 0.05, 0.08, 0.12, 0.16, 0.2, 0.25, 0.3, 0.4)


@dataclass(frozen=True, slots=True)
class Asked:
    """A question that was asked: whether it was refused, and the best chance of a passage to answer it."""

    kind: str
    half: str
    refused: bool
    chance: float


def ask(engine: Engine, question: str, kind: str, half: str) -> Asked:
    """Ask a question without a language model."""
    *_, answer = engine.ask(question)
    assert isinstance(answer, Answer)
    chances = [1.0 if hit.named else hit.chance or 0.0 for hit in answer.evidence.hits]
    return Asked(kind, half, answer.status == "insufficient_evidence", max(chances, default=0.0))


def row(name: str, asked: Sequence[Asked], refused: Callable[[Asked], bool]) -> list[str]:
    """Return how many questions of each kind are refused, and the share of all that have no answer."""
    shown = []
    for kind in KINDS:
        of = [refused(one) for one in asked if one.kind == kind]
        shown.append(f"{sum(of)} of {len(of)}")
    without = [refused(one) for one in asked if one.kind != ANSWERABLE]
    return [name, *shown, f"{sum(without) / len(without):.0%}"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_corpus_options(parser)
    arguments = parser.parse_args()
    questions = [(one.question, ANSWERABLE, one.split) for one in read_gold(DATA / "eval" / "passages.jsonl", "all")]
    questions += [(one.text, ANSWERABLE, half_of(one.text)) for one in own_questions()]
    with WITHOUT_ANSWER.open(encoding="utf-8", newline="") as file:
        rows = [(one["question"], one["kind"]) for one in csv.DictReader(file, delimiter="\t")]
    questions += [(text, kind, half_of(text)) for text, kind in rows]
    with corpus_engine(arguments) as engine:
        asked = [ask(engine, *one) for one in questions]
    table = []
    for half in ("dev", "heldout"):
        of = [one for one in asked if one.half == half]
        table.append(row(f"today, {half}", of, lambda one: one.refused))
        table += [
            row(f"best chance below {least:.2f}, {half}", of, lambda one, least=least: one.chance < least)
            for least in CHANCES
        ]
    write_table(
        "refusals",
        "Questions refused because the documents do not answer them",
        ["rule", *KINDS, "of all without an answer"],
        table,
        [machine(), "`python -m benchmarks.answers.refusals`, no language model; fitted on dev."],
    )
    write_shown_shares()


if __name__ == "__main__":
    main()
