"""Quotations without a language model: how often they hold the sentence that answers, by the choice.

    python -m benchmarks.answers.quotations [--workspace DIR] [--shared DIR] [--fresh]

The questions are those of data/eval/passages.jsonl, each with the sentences that answer it. A passage or a quotation
answers if it holds half of the runs of four words of such a sentence, or the sentence holds half of its runs. One
table compares the rerankers of the passages, the other the choice of quotations from the passages as they are found.

With --fresh only the 40 plain questions of data/eval/gold/fresh.jsonl are asked, as quotations are chosen today. They
show the effect of a change, and nothing is chosen by them.
"""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import log2
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory

from benchmarks.report import machine, write_table
from ingestion.add_files import add_paths
from rag_engine.answering.chances import judge
from rag_engine.answering.quotations.extractive import ExtractiveAnswerer, Quoting
from rag_engine.backends.reranker.packaged_minilm import PACKAGED_LANGUAGE
from rag_engine.config import DATA, read_config
from rag_engine.engine import Engine, open_engine
from rag_engine.evaluation.cached_reranker import cached_loader
from rag_engine.evaluation.gold import GoldQuestion, read_gold
from rag_engine.evaluation.vector_cache import CachedEmbedder, vectors_folder
from rag_engine.protocols import Embedder, PassageReader, Reranker
from rag_engine.retrieval.retrieve import retrieve
from rag_engine.retrieval.tuning import RERANK_DEPTH as RERANKED
from rag_engine.text.folding import fold
from rag_engine.types.evidence import Evidence

ROOT = Path(__file__).resolve().parents[2]
RUN = 4
DEPTH = 10
BOTH = ("reader", "cross-encoder")
HALVES = ("dev", "heldout")
FRESH = "fresh"
# What reranks, and the settings that change with it.
RERANKERS: dict[str, tuple[str, dict[str, float]]] = {
    "as it is": ("", {}),
    "nothing": ("none", {}),
    "the English cross-encoder alone": ("cross-encoder", {}),
    "the cross-encoder counts .6": ("cross-encoder", {"rerank_weight": 0.6}),
    "the reader alone": ("reader", {}),
    "the reader counts .1": ("reader", {"reader_rerank_weight": 0.1}),
    "the reader counts .4": ("reader", {"reader_rerank_weight": 0.4}),
}
# What reads besides the encoder, and how quotations are chosen.
WAYS = {
    "as it is": (BOTH, Quoting()),
    "likeness alone": ((), Quoting()),
    "likeness and the reader": (("reader",), Quoting()),
    "likeness and the cross-encoder": (("cross-encoder",), Quoting()),
    "the cross-encoder counts .2": (BOTH, Quoting(reranker=0.2)),
    "the cross-encoder counts .5": (BOTH, Quoting(reranker=0.5)),
    "the reader counts .2": (BOTH, Quoting(reader=0.2)),
    "the reader counts .5": (BOTH, Quoting(reader=0.5)),
    "the reader alone": (("reader",), Quoting(reader=1.0)),
    "what is asked for does not count": (BOTH, Quoting(asked=0.0)),
    "what is asked for counts .2": (BOTH, Quoting(asked=0.2)),
    "the source's rank does not count": (BOTH, Quoting(rank=0.0)),
    "the source's rank counts .3": (BOTH, Quoting(rank=0.3)),
    "shared words do not count": (BOTH, Quoting(keywords=0.0)),
    "128 units compared": (BOTH, Quoting(compared=128)),
    "24 units compared": (BOTH, Quoting(compared=24)),
    "at most 4": (BOTH, Quoting(most=4)),
    "margin .15": (BOTH, Quoting(margin=0.15)),
    "margin .35": (BOTH, Quoting(margin=0.35)),
    "of one source at most 2": (BOTH, Quoting(of_one=2)),
    "weak passages fill up": (BOTH, Quoting(weak=True)),
    "the question's language does not come first": (BOTH, Quoting(own_language=0.0)),
    "the question's language comes first within .1": (BOTH, Quoting(own_language=0.1)),
    "the question's language comes first within .2": (BOTH, Quoting(own_language=0.2)),
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


@dataclass(frozen=True, slots=True)
class MeasuredModels:
    """The models that are measured; no passage is read twice for a question."""

    embedder: Embedder
    cross_encoder: Reranker
    reader: PassageReader

    def reranker(self, which: str, language: str) -> Reranker:
        """Return a reranker by its name, "" the usual one of a language."""
        usual = "cross-encoder" if language == PACKAGED_LANGUAGE else "reader"
        return self.cross_encoder if (which or usual) == "cross-encoder" else self.reader


def models_of(engine: Engine) -> MeasuredModels:
    """Return the models to measure, of an engine without SEXTANT_READER and SEXTANT_RERANKER."""
    load = cached_loader(engine.retrievers().reranker)
    reader = load("")
    assert isinstance(reader, PassageReader), "SEXTANT_READER or SEXTANT_RERANKER is set"
    return MeasuredModels(CachedEmbedder(engine.embedder(), vectors_folder()), load(PACKAGED_LANGUAGE), reader)


def search(
    engine: Engine, models: MeasuredModels, questions: Sequence[GoldQuestion], which: str, changes: Mapping[str, float]
) -> list[Found]:
    """Return what is found where a reranker ("" the usual one, "none" none) orders the passages."""
    settings = engine.retrieval(rerank=which != "none", **changes)
    view = engine.collection.view()
    # As deep as anywhere, or the machine would change figures.
    retrievers = replace(
        engine.retrievers(), reranker=lambda language: models.reranker(which, language), rerank_depth=lambda _: RERANKED
    )
    found = [retrieve(engine.plan(one.question), None, view, retrievers, settings) for one in questions]
    return [Found(one, judge(evidence, models.reader)) for one, evidence in zip(questions, found, strict=True)]


def ndcg(right: Sequence[bool]) -> float:
    """Return nDCG of a ranking of passages, against their best order; 0 where none is right."""
    gains = [value / log2(place + 2) for place, value in enumerate(right)]
    best = [value / log2(place + 2) for place, value in enumerate(sorted(right, reverse=True))]
    return sum(gains) / sum(best) if any(right) else 0.0


def passages_row(name: str, found: Sequence[Found]) -> list[str]:
    """Return nDCG@10 and how often the first and one of five passages answers.

    The figures are for questions in English, in others, and across languages.
    """
    cells = [name]
    groups = (
        lambda one: one.language == PACKAGED_LANGUAGE and not is_across(one),
        lambda one: one.language != PACKAGED_LANGUAGE and not is_across(one),
        is_across,
    )
    for group in groups:
        rights = [
            [answers(hit.text, one.question) for hit in one.evidence.hits[:DEPTH]]
            for one in found
            if group(one.question)
        ]
        first, five = sum(any(one[:1]) for one in rights), sum(any(one[:5]) for one in rights)
        cells += [f"{fmean(map(ndcg, rights)):.3f}", f"{first}, {five} of {len(rights)}"]
    return cells


def quotations_row(
    models: MeasuredModels,
    name: str,
    reads: Sequence[str],
    quoting: Quoting,
    found: Sequence[Found],
    halves: Sequence[str] = HALVES,
) -> list[str]:
    """Return how many of the questions of each half the first quotation answers, and any of them."""
    reader = models.reader if "reader" in reads else None
    reranker = models.cross_encoder if "cross-encoder" in reads else None
    answerer = ExtractiveAnswerer(models.embedder, reader, reranker, quoting)
    cells, counts = [name], []
    for half in halves:
        judged = []
        for one in (one for one in found if one.question.split == half):
            chosen = answerer.choose(one.question.question, one.evidence.sources, one.question.language).quotations
            counts.append(len(chosen))
            judged.append([answers(quotation.text, one.question) for quotation in chosen] or [False])
        first, any_of = sum(one[0] for one in judged), sum(map(any, judged))
        cells += [f"{first} of {len(judged)}", f"{any_of} of {len(judged)}"]
    return [*cells, f"{fmean(counts):.1f}"]


def columns_of(halves: Sequence[str]) -> list[str]:
    """Return the headings of the cells of `quotations_row`."""
    return [f"{half}: {which}" for half in halves for which in ("the first answers", "any answers")]


def measure_fresh(engine: Engine) -> None:
    """Write how many fresh questions are answered, and for how many the passages hold the answer."""
    questions = [replace(one, split=FRESH) for one in read_gold(DATA / "eval" / "gold" / "fresh.jsonl", "all")]
    models = models_of(engine)
    found = search(engine, models, questions, *RERANKERS["as it is"])
    row = quotations_row(models, "as it is", BOTH, Quoting(), found, (FRESH,))
    held = sum(any(answers(hit.text, one.question) for hit in one.evidence.hits) for one in found)
    write_table(
        "fresh_quotations",
        "Plain questions that quotations answer",
        ["way", *columns_of((FRESH,)), "quotations a question", "found among the passages"],
        [[*row, f"{held} of {len(found)}"]],
        [machine(), "`python -m benchmarks.answers.quotations --fresh`; nothing was chosen by these questions."],
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workspace", type=Path, help="one that holds the documents already")
    parser.add_argument("--shared", type=Path, default=Path(os.environ.get("SEXTANT_SHARED", ROOT.parent / "shared")))
    parser.add_argument("--fresh", action="store_true", help="ask the plain questions alone")
    arguments = parser.parse_args()
    questions = read_gold(DATA / "eval" / "passages.jsonl", "all")
    with TemporaryDirectory(prefix="sextant-measure-") as folder:
        engine = open_engine(read_config(arguments.workspace or Path(folder)))
        if not arguments.workspace:
            add_paths([arguments.shared / "data" / "corpus"], engine)
        if arguments.fresh:
            measure_fresh(engine)
            engine.close()
            return
        models = models_of(engine)
        found = {name: search(engine, models, questions, *way) for name, way in RERANKERS.items()}
        passages = [passages_row(name, one) for name, one in found.items()]
        usual = found["as it is"]
        quoted = [quotations_row(models, name, reads, quoting, usual) for name, (reads, quoting) in WAYS.items()]
        engine.close()
    note = (
        f"`python -m benchmarks.answers.quotations`; {len(questions)} questions in seven languages over real documents "
        "(data/eval/passages.jsonl)."
    )
    places = ("English", "other languages", "across languages")
    write_table(
        "rerankers",
        "Passages that answer, by what reranks",
        ["reranks", *(f"{place}: {figure}" for place in places for figure in ("nDCG@10", "first, among five"))],
        passages,
        [
            machine(),
            f"{note} Both halves together. That the cross-encoder reranks "
            "English, and the reader's weight of .2, were chosen with both halves in view.",
        ],
    )
    columns = columns_of(HALVES)
    write_table(
        "quotations",
        "Quotations that answer, by how they are chosen",
        ["way", *columns, "quotations a question"],
        quoted,
        [
            machine(),
            f"{note} One change a row. The cross-encoder's share of .3 was chosen on the English "
            "questions of both halves, what is older on dev; so held-out figures are not clean for it.",
        ],
    )


if __name__ == "__main__":
    main()
