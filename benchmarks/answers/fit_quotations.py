"""Fits the chance that a quotation answers, and its fits; writes data/quotation_chances.toml.

    python -m benchmarks.answers.fit_quotations [--workspace DIR] [--shared DIR] [--write]

A quotation answers if it holds half of the runs of four words of a sentence that answers. Questions with an answer are
those of data/eval/passages.jsonl and the development half of cross_language, those without one of unanswerable.tsv.
Only their development halves are fitted. The halves that were kept back, and gold/fresh.jsonl, say what share of the
first quotations of each fit answers.
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from unittest.mock import patch

import numpy as np

from benchmarks.answers.fit_chances import half_of, logistic_weights
from benchmarks.answers.quotations import across_languages, answers
from benchmarks.corpus import add_corpus_options, corpus_engine
from benchmarks.report import machine, write_table
from rag_engine.answering.quotations import extractive
from rag_engine.answering.quotations.extractive import Quoting, choose
from rag_engine.answering.quotations.quotation_chance import QuotationSignals
from rag_engine.config import DATA
from rag_engine.engine import Engine
from rag_engine.evaluation.gold import GoldQuestion, read_gold

TABLE = DATA / "quotation_chances.toml"
_RIDGE = 1e-2
# The chances from which a quotation is said to answer, and to be related.
ANSWERS, RELATED = 0.45, 0.15
NAMES = tuple(QuotationSignals(None, 0.5, None, 0.0).values())
FITS = ("answers", "related", "weak")


@dataclass(frozen=True, slots=True)
class Asked:
    """A question with the signals of each quotation, and which of them answer."""

    half: str
    answerable: bool
    signals: tuple[QuotationSignals, ...]
    right: tuple[bool, ...]


def questions() -> Iterator[tuple[str, str, GoldQuestion | None]]:
    """Yield each question with its half, and its answers if it has any."""
    for gold in read_gold(DATA / "eval" / "passages.jsonl", "all"):
        yield gold.question, gold.split, gold
    for gold in read_gold(DATA / "eval" / "gold" / "fresh.jsonl", "all"):
        yield gold.question, "heldout", gold
    for _, gold in across_languages("dev"):
        yield gold.question, "dev", gold
    with (DATA / "eval" / "unanswerable.tsv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file, delimiter="\t"):
            # Of a section that does not exist it is said before anything is quoted.
            if row["kind"] != "absent section":
                yield row["question"], half_of(row["question"]), None


def ask(engine: Engine, question: str, half: str, gold: GoldQuestion | None) -> Asked:
    """Return what may be quoted for a question, and the signals of each quotation."""
    evidence = engine.search(question)
    signals: list[QuotationSignals] = []

    def number(given: QuotationSignals) -> float:
        signals.append(given)
        return 1 / len(signals)

    with patch.object(extractive, "quotation_chance", number):
        every = replace(Quoting(), most=sum(Quoting().read))
        found = choose(question, evidence.plan.language, evidence.sources, every, reader=engine.models.reader())
    read = [one for one in found if one.chance]
    right = tuple(gold is not None and answers(one.text, gold) for one in read)
    return Asked(half, gold is not None, tuple(signals[round(1 / (one.chance or 1)) - 1] for one in read), right)


def fit(asked: Sequence[Asked]) -> dict[str, float]:
    """Return the weights of the signals."""
    signals = [one.values() for question in asked for one in question.signals]
    return logistic_weights(signals, [one for question in asked for one in question.right], NAMES, _RIDGE)


def firsts(asked: Sequence[Asked], weights: dict[str, float]) -> list[tuple[str, bool, bool]]:
    """Return for each question the fit of the first quotation, whether it answers, and whether any could."""
    found = []
    for one in asked:
        logits = [sum(weights[name] * value for name, value in unit.values().items()) for unit in one.signals]
        if logits:
            best = int(np.argmax(logits))
            chance = 1 / (1 + np.exp(-logits[best]))
            fit = "answers" if chance >= ANSWERS else "related" if chance >= RELATED else "weak"
            found.append((fit, one.right[best], one.answerable))
    return found


def rows_of(asked: Sequence[Asked], weights: dict[str, float]) -> tuple[list[list[str]], dict[str, float]]:
    """Return the table by half and fit, and the share of each fit that answers on the half kept back."""
    rows, shares = [], {}
    for half in ("dev", "heldout"):
        found = firsts([one for one in asked if one.half == half], weights)
        right = sum(ok for _, ok, _ in found)
        for fit in FITS:
            mine = [ok for of, ok, _ in found if of == fit]
            without = sum(not answerable for of, _, answerable in found if of == fit)
            rows.append([half, fit, f"{sum(mine)} of {len(mine)}", f"{sum(mine) / max(right, 1):.2f}", str(without)])
            if half == "heldout" and mine:
                shares[fit] = round(sum(mine) / len(mine), 2)
    return rows, shares


def write_weights(weights: dict[str, float], shares: dict[str, float]) -> None:
    """Write the weights, the bounds and the measured shares."""
    lines = ["# The chance that a quotation answers (rag_engine/answering/quotations/quotation_chance.py)."]
    lines += ['command = "python -m benchmarks.answers.fit_quotations --write"', f"date = {date.today().isoformat()}"]
    lines += [f"answers = {ANSWERS}", f"related = {RELATED}", "", "[weights]"]
    lines += [f"{name} = {weight}" for name, weight in weights.items()]
    lines += ["", "[measured]", *(f"{fit} = {share}" for fit, share in shares.items()), ""]
    TABLE.write_text("\n".join(lines), encoding="utf-8")


def main() -> None:
    """Ask every question, fit, and print the shares of each fit."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_corpus_options(parser)
    parser.add_argument("--write", action="store_true", help="Write data/quotation_chances.toml.")
    options = parser.parse_args()
    with corpus_engine(options) as engine:
        asked = [ask(engine, *one) for one in questions()]
    weights = fit([one for one in asked if one.half == "dev"])
    rows, shares = rows_of(asked, weights)
    write_table(
        "quotation_chances",
        "First quotations by how well they are said to answer",
        ["half", "badge", "answer", "share of all that answer", "questions without an answer"],
        rows,
        [
            machine(),
            f"`python -m benchmarks.answers.fit_quotations`; fitted on dev, “answers” from a chance of {ANSWERS}, "
            f"“related” from {RELATED}. A quotation counts if it holds the very sentence that was written down.",
        ],
    )
    if options.write:
        write_weights(weights, shares)


if __name__ == "__main__":
    main()
