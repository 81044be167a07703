"""Models that read beside the encoder, in a table: likeness alone, packaged cross-encoder, reader.

    python -m benchmarks.answers.readers [--questions 60] [--shared DIR]

The development halves are measured as `training.evaluate` does it, with the given number of questions a set: the first
quotation over five passages, and nDCG@10 of the 20 nearest. The cross-encoder counts if question and passages are in
its language; otherwise likeness takes its place. The figures of the 126 questions over real documents are those that
`benchmarks.answers.quotations` has written.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from statistics import fmean

from benchmarks.report import RESULTS, machine, write_table
from rag_engine.answering.quotations.extractive import Quoting
from rag_engine.backends.encoder.load import load_encoder
from rag_engine.backends.reader.load import ADAPTER, load_adapter
from rag_engine.backends.reranker.load import load_reranker
from rag_engine.backends.reranker.packaged_minilm import PACKAGED, PACKAGED_LANGUAGE
from rag_engine.config import RankingWeights
from rag_engine.evaluation.vector_cache import CachedEmbedder, vectors_folder
from training.evaluate import SETS, Crossing, Figures, auc, measure

ROOT = Path(__file__).resolve().parents[2]
_WITHIN, _ACROSS = "within a language", "across languages"
# What reads, and the rows of it in the tables of the real documents: quotations.md and rerankers.md.
_ROWS = {
    "likeness alone": ("likeness alone", "nothing"),
    "the packaged cross-encoder, English alone": (
        "likeness and the cross-encoder",
        "the English cross-encoder alone",
    ),
    "the reader": ("likeness and the reader", "the reader alone"),
}
_Chosen = Callable[[Figures], list[float]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--questions", type=int, default=60, help="of each set")
    parser.add_argument("--shared", type=Path, default=Path(os.environ.get("SEXTANT_SHARED", ROOT.parent / "shared")))
    arguments = parser.parse_args()
    weights, folder = RankingWeights(), arguments.shared / "data" / "benchmarks"
    reader = load_adapter(ADAPTER)
    embedder = CachedEmbedder(load_encoder("multilingual-e5-small"), vectors_folder())
    crossing = Crossing(load_reranker(PACKAGED), weights.rerank_weight)
    found: dict[str, list[Figures]] = {_WITHIN: [], _ACROSS: []}
    for asked_by, of in SETS:
        own = crossing if asked_by == of and of.endswith(f"/{PACKAGED_LANGUAGE}") else None
        figures = measure(reader, embedder, folder, asked_by, of, arguments.questions, own)
        found[_WITHIN if asked_by == of else _ACROSS].append(figures)
        print(f"{asked_by} on {of}: {len(figures.first[0.0])} questions", flush=True)
    write_table(
        "readers",
        "What reads beside the encoder",
        [
            "reads",
            f"halves, {_WITHIN}: first quotation, nDCG@10",
            f"halves, {_ACROSS}: first quotation, nDCG@10",
            "real documents: the first quotation answers (dev, held out)",
            "real documents: nDCG@10 (English, other languages, across)",
        ],
        rows_of(found, quoted_by=Quoting().reader, ranked_by=weights.reader_rerank_weight),
        [
            *_apart(found),
            f"`python -m benchmarks.answers.readers --questions {arguments.questions}`: so many questions of each "
            "development half (XQuAD, SQuAD-it, FaQuAD), means over the sets. The real documents are those of the 126 "
            "questions of [quotations](quotations.md) and [rerankers](rerankers.md), which have more ways and their "
            "dates.",
            machine(),
        ],
    )


def rows_of(found: Mapping[str, list[Figures]], *, quoted_by: float, ranked_by: float) -> list[list[str]]:
    """Return a row for each way of reading.

    `quoted_by` and `ranked_by` are the reader's shares of the two scores.
    """
    ways: tuple[tuple[_Chosen, _Chosen], ...] = (
        (lambda one: one.first[0.0], lambda one: one.ndcg[0.0]),
        (lambda one: one.crossed["first"] or one.first[0.0], lambda one: one.crossed["ndcg"] or one.ndcg[0.0]),
        (lambda one: one.first[quoted_by], lambda one: one.ndcg[ranked_by]),
    )
    rows = []
    for (name, (quoted, reranked)), (first, ndcg) in zip(_ROWS.items(), ways, strict=True):
        halves = [f"{_mean(found[part], first):.2f}, {_mean(found[part], ndcg):.3f}" for part in (_WITHIN, _ACROSS)]
        dev, _, heldout, *_ = _cells("quotations", quoted)
        english, _, others, _, across, _ = _cells("rerankers", reranked)
        rows.append([name, *halves, f"{dev}, {heldout}", f"{english}, {others}, {across}"])
    return rows


def _mean(sets: Iterable[Figures], chosen: _Chosen) -> float:
    return fmean(fmean(chosen(one)) for one in sets)


def _apart(found: Mapping[str, list[Figures]]) -> list[str]:
    """Return how well near misses are told from answers, within a language and across."""
    lines = []
    for part, sets in found.items():
        likeness = fmean(auc(*one.likeness) for one in sets)
        reading = fmean(auc(*one.reading) for one in sets)
        told = f"AUC {likeness:.2f} by likeness, {reading:.2f} by the reader"
        lines.append(f"Near misses told from answers {part}: {told}.")
    return lines


def _cells(table: str, row: str) -> list[str]:
    """Return the cells of a row of a written table, without its name."""
    lines = (RESULTS / f"{table}.md").read_text(encoding="utf-8").splitlines()
    [line] = [line for line in lines if line.startswith(f"| {row} |")]
    return [cell.strip() for cell in line.strip("| ").split("|")][1:]


if __name__ == "__main__":
    main()
