"""Fits the chance that a passage answers, the tiers and the least chance; writes data/chances.toml.

    python -m benchmarks.answers.fit_chances [--workspace DIR] [--shared DIR] [--write]

The least chance is the one to answer from. Questions with an answer are those of data/eval/passages.jsonl and
page_questions.tsv and the development half of cross_language, those without one of unanswerable.tsv.

Only the development halves are fitted, both are printed. The half is the parity of the first byte of the SHA-256 of a
question, in passages.jsonl of its id. A passage is right if it holds a sentence that answers, or half of one, or is on
a page that answers.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from itertools import pairwise

import numpy as np
from scipy.optimize import minimize

from benchmarks.answers.quotations import across_languages, answers
from benchmarks.answers.shown_shares import CHANCES, write_shown_shares
from benchmarks.corpus import add_corpus_options, corpus_engine
from benchmarks.report import machine, write_table
from benchmarks.retrieval.page_questions import own_questions
from rag_engine.answering.chances import chance, signals_of
from rag_engine.config import DATA
from rag_engine.engine import Engine
from rag_engine.evaluation.gold import read_gold
from rag_engine.types.passage import Hit

# Weights stay small where the questions say little about a signal.
_RIDGE = 0.5
# The share of questions with an answer that may be refused, on the development half. A larger share refused hardly
# more of the questions without an answer there, a smaller one fewer.
FALSE_REFUSALS = 0.03
# The chance from which a passage is called strong, and moderate; what share is right in each is measured.
STRONG, MODERATE = 0.4, 0.15
READER_SIGNALS = ("answer", "relevance", "answer_foreign", "relevance_foreign")
_CONSTANTS = ("constant", "constant_foreign")
ANSWERABLE, ACROSS = "answerable", "answerable in another language"


@dataclass(frozen=True, slots=True)
class Judged:
    """A passage found: its signals, whether it is right, and whether its language is the question's."""

    signals: Mapping[str, float]
    right: bool
    same_language: bool


@dataclass(frozen=True, slots=True)
class Asked:
    """A question with the passages found.

    `kind` is one of two kinds of answerable questions, or says why there is no answer.
    """

    kind: str
    half: str
    passages: tuple[Judged, ...]


def half_of(text: str) -> str:
    """Return the half of a question by its text."""
    return "heldout" if hashlib.sha256(text.encode()).digest()[0] % 2 else "dev"


def ask(engine: Engine, question: str, kind: str, half: str, right: Callable[[Hit], bool]) -> Asked:
    """Return what is found for a question, judged by `right`."""
    evidence = engine.search(question)
    judged = [
        Judged(signals_of(hit, evidence.plan), right(hit), hit.document.metadata.language == evidence.plan.language)
        for source in evidence.sources
        for hit in source.hits
        if not hit.named
    ]
    return Asked(kind, half, tuple(judged))


def every_question(engine: Engine) -> list[Asked]:
    """Return all questions with what is found for them."""
    asked = [
        ask(engine, gold.question, ANSWERABLE, gold.split, lambda hit, gold=gold: answers(hit.text, gold))
        for gold in read_gold(DATA / "eval" / "passages.jsonl", "all")
    ]
    for _, gold in across_languages("dev"):
        kind = ACROSS if gold.cross_lingual else ANSWERABLE
        asked.append(ask(engine, gold.question, kind, "dev", lambda hit, gold=gold: answers(hit.text, gold)))
    for paged in own_questions():

        def on_page(hit: Hit, needed: Sequence[Mapping[str, frozenset[int]]] = paged.needed) -> bool:
            pages = set(range(hit.page, hit.last_page + 1))
            return any(not pages.isdisjoint(part.get(hit.document.file, ())) for part in needed)

        asked.append(ask(engine, paged.text, ANSWERABLE, half_of(paged.text), on_page))
    with (DATA / "eval" / "unanswerable.tsv").open(encoding="utf-8", newline="") as file:
        without = [(one["question"], one["kind"]) for one in csv.DictReader(file, delimiter="\t")]
    asked += [ask(engine, text, kind, half_of(text), lambda _: False) for text, kind in without]
    return asked


def fit(asked: Sequence[Asked], names: Sequence[str]) -> dict[str, float]:
    """Return the weights of the signals."""
    passages = [one for question in asked for one in question.passages]
    return logistic_weights([one.signals for one in passages], [one.right for one in passages], names, _RIDGE)


def logistic_weights(
    signals: Sequence[Mapping[str, float]], right: Sequence[bool], names: Sequence[str], ridge: float
) -> dict[str, float]:
    """Return the weights of named signals by logistic regression with a ridge, which spares constants."""
    matrix = np.array([[one.get(name, 0.0) for name in names] for one in signals])
    wanted = np.array(right, dtype=np.float64)
    penalised = np.array([name not in _CONSTANTS for name in names], dtype=np.float64)

    def loss(weights: np.ndarray) -> tuple[float, np.ndarray]:
        logits = matrix @ weights
        value = np.logaddexp(0, logits).sum() - (wanted * logits).sum() + ridge * (penalised * weights**2).sum()
        slope = matrix.T @ (1 / (1 + np.exp(-logits)) - wanted) + 2 * ridge * penalised * weights
        return float(value), slope

    found = minimize(loss, np.zeros(len(names)), jac=True, method="L-BFGS-B")
    return {name: round(float(weight), 4) for name, weight in zip(names, found.x, strict=True)}


def of_read(question: Asked) -> Asked:
    """Return a question with the passages that a reader has read, which alone decide."""
    read = tuple(one for one in question.passages if not one.signals.keys().isdisjoint(READER_SIGNALS))
    return replace(question, passages=read)


def is_found(question: Asked) -> bool:
    """Return whether a passage found is right."""
    return any(passage.right for passage in question.passages)


def best(question: Asked, weights: Mapping[str, float]) -> float:
    """Return the best chance of a question's passages."""
    return max((chance(_of(one, weights), weights) for one in question.passages), default=0.0)


def _of(one: Judged, weights: Mapping[str, float]) -> dict[str, float]:
    return {name: value for name, value in one.signals.items() if name in weights}


def least_chance(asked: Sequence[Asked], weights: Mapping[str, float]) -> float:
    """Return the largest chance below which no more than the allowed share of answerable questions falls.

    Those count whose answer was found: without it a refusal is right.
    """
    chances = sorted(best(one, weights) for one in asked if one.kind == ANSWERABLE and is_found(one))
    return round(chances[int(FALSE_REFUSALS * len(chances))] - 1e-4, 4)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_corpus_options(parser)
    parser.add_argument("--write", action="store_true", help="write data/chances.toml")
    arguments = parser.parse_args()
    with corpus_engine(arguments) as engine:
        asked = every_question(engine)
    passages = [one for question in asked for one in question.passages]
    names = list(dict.fromkeys(name for one in passages for name in one.signals))
    asked_of = {"reader": [of_read(one) for one in asked], "likeness": asked}
    models = {}
    for title, chosen in (("reader", names), ("likeness", [one for one in names if one not in READER_SIGNALS])):
        dev = [one for one in asked_of[title] if one.half == "dev"]
        weights = fit(dev, chosen)
        models[title] = (weights, {"strong": STRONG, "moderate": MODERATE, "least": least_chance(dev, weights)})
    report(asked_of, models)
    if arguments.write:
        CHANCES.write_text(_toml(models), encoding="utf-8")
        write_shown_shares()


Models = Mapping[str, tuple[Mapping[str, float], Mapping[str, float]]]


def by_tier(
    asked: Sequence[Asked], weights: Mapping[str, float], bounds: Mapping[str, float], same: bool
) -> list[list[bool]]:
    """Return for strong, moderate and weak passages, in the same language or another, which are right."""
    passages = [one for question in asked for one in question.passages if one.same_language == same]
    found = [(chance(_of(one, weights), weights), one.right) for one in passages]
    edges = (1.1, bounds["strong"], bounds["moderate"], -1.0)
    return [[right for value, right in found if low <= value < high] for high, low in pairwise(edges)]


def share(right: Sequence[bool]) -> float:
    """Return the share of true ones, 0 of none."""
    return sum(right) / len(right) if right else 0.0


def report(asked_of: Mapping[str, Sequence[Asked]], models: Models) -> None:
    """Print what each model refuses, and the share of right passages in each tier."""
    rows, tiers = [], []
    for title, (weights, bounds) in models.items():
        asked = asked_of[title]
        for half in ("dev", "heldout"):
            of = [one for one in asked if one.half == half]
            refused = [(one.kind, best(one, weights) < bounds["least"]) for one in of]
            kinds = dict.fromkeys(one.kind for one in asked)
            cells = []
            for kind in kinds:
                own = [one for of_kind, one in refused if of_kind == kind]
                cells.append(f"{sum(own)} of {len(own)}" if own else "")
            rows.append([f"{title}, {half}", *cells])
            real = [one for one in of if one.kind != ACROSS]
            for same in (True, False):
                right = by_tier(real, weights, bounds, same)
                cells = [f"{sum(one)} of {len(one)} ({share(one):.0%})" for one in right]
                tiers.append([f"{title}, {half}, {'same language' if same else 'across languages'}", *cells])
    kinds = dict.fromkeys(one.kind for one in asked_of["likeness"])
    note = "`python -m benchmarks.answers.fit_chances`; fitted on dev alone."
    write_table("refusal_chances", "Questions refused by the best chance", ["by", *kinds], rows, [machine(), note])
    write_table("tiers", "Right passages by tier", ["by", "strong", "moderate", "weak"], tiers, [machine(), note])


def _toml(models: Models) -> str:
    """Return the file of chances without what was measured of them."""
    lines = [
        "# The chance that a passage answers the question (rag_engine/answering/chances.py).",
        f'date = "{date.today().isoformat()}"',
        'command = "python -m benchmarks.answers.fit_chances --write"',
    ]
    for title, (weights, bounds) in models.items():
        lines += ["", f"[{title}]", *(f"{name} = {value}" for name, value in bounds.items())]
        lines += ["", f"[{title}.weights]", *(f"{name} = {value}" for name, value in weights.items())]
    return "\n".join([*lines, ""])


if __name__ == "__main__":
    main()
