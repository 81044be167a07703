"""Quotations without a language model: how often they hold the sentence that answers, by the choice.

    python -m benchmarks.answers.quotations [--workspace DIR] [--shared DIR] [--fresh]

The questions are those of data/eval/passages.jsonl, each with the sentences that answer it, and the development half of
data/eval/cross_language. A passage or a quotation answers if it holds half of the runs of four words of such a
sentence, or the sentence holds half of its runs. One table compares what the reader does to the order of the passages,
the other the choice of quotations from the passages as they are found.

With --fresh only the 40 plain questions of data/eval/gold/fresh.jsonl are asked, as quotations are chosen today. They
show the effect of a change, and nothing is chosen by them.
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import log2
from statistics import fmean

from benchmarks.corpus import add_corpus_options, corpus_engine
from benchmarks.report import machine, write_table
from rag_engine.answering.chances import judge
from rag_engine.answering.quotations.extractive import Quoting, choose
from rag_engine.config import DATA
from rag_engine.engine import Engine
from rag_engine.evaluation.cached_reader import cached
from rag_engine.evaluation.gold import GoldQuestion, Quote, read_gold
from rag_engine.protocols import PassageReader
from rag_engine.retrieval.retrieve import retrieve
from rag_engine.retrieval.search import Retrievers
from rag_engine.text.folding import fold
from rag_engine.types.evidence import Evidence

CROSS_LANGUAGE = DATA / "eval" / "cross_language"
RUN = 4
DEPTH = 10
REWORDED = "reworded"
GROUPS = (
    "plain, one language",
    "plain, across languages",
    "reworded, one language",
    "reworded, across languages",
)
# What changes of the ranking.
RANKINGS: dict[str, dict[str, float]] = {
    "as it is": {},
    "nothing": {"rerank_weight": 0.0},
    "the reader counts .2": {"rerank_weight": 0.2},
    "the reader counts .6": {"rerank_weight": 0.6},
    "the reader alone": {"rerank_weight": 1.0},
}
_NOW = Quoting()
# How quotations are chosen.
WAYS = {
    "as it is": _NOW,
    "no unit is read alone": replace(_NOW, read=(0, 0)),
    "four and two are read": replace(_NOW, read=(4, 2)),
    "twelve and four are read": replace(_NOW, read=(12, 4)),
    "none of those that say most": replace(_NOW, read=(9, 0)),
    "one quotation": replace(_NOW, most=1),
    "three": replace(_NOW, most=3),
    "six": replace(_NOW, most=6),
}


@dataclass(frozen=True, slots=True)
class Found:
    """A question with what a search finds."""

    question: GoldQuestion
    evidence: Evidence


def answers(quotation: str, question: GoldQuestion) -> bool:
    """Return whether a quotation holds a sentence that answers, or is a good part of one."""
    mine = runs(quotation)
    theirs = [runs(quote.quote) for quote in question.quotes]
    return any(2 * len(mine & one) >= min(len(one), max(len(mine), RUN)) for one in theirs)


def runs(text: str) -> set[tuple[str, ...]]:
    """Return every run of four words of a text; of a shorter one its words together."""
    words = re.findall(r"\w+", fold(text))
    return {tuple(words[at : at + RUN]) for at in range(max(len(words) - RUN + 1, 1))}


def is_across(question: GoldQuestion) -> bool:
    """Return whether a question is in another language than the document that answers it."""
    return "-x-" in question.id


def across_languages(half: str) -> Iterator[tuple[str, GoldQuestion]]:
    """Yield the questions of a half across languages, each with its document's language."""
    for line in (CROSS_LANGUAGE / f"{half}.jsonl").read_text(encoding="utf-8").splitlines():
        held = json.loads(line)
        places = (held, *held.get("also", ()))
        quotes = tuple(Quote(place["document"], place["page"], place["quote"]) for place in places)
        for language, text in held["questions"].items():
            across = language != held["language"]
            yield held["language"], GoldQuestion(held["id"], text, language, quotes, across, held["kind"], half)


def search(
    engine: Engine, retrievers: Retrievers, questions: Sequence[GoldQuestion], changes: Mapping[str, float]
) -> list[Found]:
    """Return what is found with changed weights of the ranking."""
    settings, view = engine.retrieval(**changes), engine.collection.view()
    return [
        Found(one, judge(retrieve(engine.plan(one.question), None, view, retrievers, settings))) for one in questions
    ]


def retrievers_of(engine: Engine) -> Retrievers:
    """Return retrievers that read no passage twice for a question."""
    return cached(engine.retrievers())


def grouped(found: Sequence[Found]) -> Mapping[str, Sequence[Found]]:
    """Return what was found by the kind of question, within a language and across."""
    groups: dict[str, list[Found]] = {name: [] for name in GROUPS}
    for one in found:
        across = one.question.cross_lingual or "-x-" in one.question.id
        reworded = one.question.split == REWORDED
        groups[f"{'reworded' if reworded else 'plain'}, {'across languages' if across else 'one language'}"].append(one)
    return groups


def ndcg(right: Sequence[bool]) -> float:
    """Return nDCG of a ranking of passages, against their best order; 0 where none is right."""
    gains = [value / log2(place + 2) for place, value in enumerate(right)]
    best = [value / log2(place + 2) for place, value in enumerate(sorted(right, reverse=True))]
    return sum(gains) / sum(best) if any(right) else 0.0


def passages_row(name: str, found: Sequence[Found]) -> list[str]:
    """Return nDCG@10 and how often the first and one of five passages answers, by the kind of question."""
    cells = [name]
    for group in grouped(found).values():
        rights = [[answers(hit.text, one.question) for hit in one.evidence.hits[:DEPTH]] for one in group]
        first, five = sum(any(one[:1]) for one in rights), sum(any(one[:5]) for one in rights)
        cells += [f"{fmean(map(ndcg, rights)):.3f}", f"{first}, {five} of {len(rights)}"]
    return cells


def quotations_row(name: str, quoting: Quoting, found: Sequence[Found], reader: PassageReader | None) -> list[str]:
    """Return how often the first quotation answers, and any, and how many there are of a question."""
    reader = reader if any(quoting.read) else None
    chosen = [
        choose(one.question.question, one.question.language, one.evidence.sources, quoting, reader=reader)
        if one.evidence.ground != "none"
        else []
        for one in found
    ]
    judged = [[answers(each.text, one.question) for each in of] for of, one in zip(chosen, found, strict=True)]
    first, any_of = sum(one[:1] == [True] for one in judged), sum(map(any, judged))
    return [name, f"{first} of {len(found)}", f"{any_of} of {len(found)}", f"{fmean(map(len, chosen)):.1f}"]


def by_way(name: str, quoting: Quoting, found: Sequence[Found], reader: PassageReader | None) -> list[str]:
    """Return a row of a way of choosing, by the kind of question."""
    rows = [quotations_row(name, quoting, group, reader) for group in grouped(found).values()]
    return [name, *(f"{first.split()[0]}, {any_of}" for _, first, any_of, _ in rows)]


def measure_fresh(engine: Engine) -> None:
    """Write how many fresh questions are answered, and for how many the passages hold the answer."""
    questions = read_gold(DATA / "eval" / "gold" / "fresh.jsonl", "all")
    retrievers = retrievers_of(engine)
    found = search(engine, retrievers, questions, {})
    row = quotations_row("as it is", _NOW, found, retrievers.reader())
    held = sum(any(answers(hit.text, one.question) for hit in one.evidence.hits) for one in found)
    write_table(
        "fresh_quotations",
        "Plain questions that quotations answer",
        ["way", "the first answers", "any answers", "quotations a question", "found among the passages"],
        [[*row, f"{held} of {len(found)}"]],
        [machine(), "`python -m benchmarks.answers.quotations --fresh`; nothing was chosen by these questions."],
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_corpus_options(parser)
    parser.add_argument("--fresh", action="store_true", help="ask the plain questions alone")
    arguments = parser.parse_args()
    plain = read_gold(DATA / "eval" / "passages.jsonl", "all")
    questions = [*plain, *(replace(one, split=REWORDED) for _, one in across_languages("dev"))]
    with corpus_engine(arguments) as engine:
        if arguments.fresh:
            measure_fresh(engine)
            return
        retrievers = retrievers_of(engine)
        found = {name: search(engine, retrievers, questions, changes) for name, changes in RANKINGS.items()}
        ways = [by_way(name, quoting, found["as it is"], retrievers.reader()) for name, quoting in WAYS.items()]
    note = (
        f"`python -m benchmarks.answers.quotations`; {len(plain)} plain questions in seven languages over real "
        f"documents (data/eval/passages.jsonl, both halves), and {len(questions) - len(plain)} reworded ones of the "
        "development half of data/eval/cross_language. One change a row; chosen by these questions."
    )
    write_table(
        "rerankers",
        "Passages that answer, by what the reader does to their order",
        ["the reader", *(f"{group}: {figure}" for group in GROUPS for figure in ("nDCG@10", "first, among five"))],
        [passages_row(name, one) for name, one in found.items()],
        [machine(), note],
    )
    write_table(
        "quotations",
        "Quotations that answer, by how they are chosen",
        ["way", *(f"{group}: first, any" for group in GROUPS)],
        ways,
        [machine(), note],
    )


if __name__ == "__main__":
    main()
