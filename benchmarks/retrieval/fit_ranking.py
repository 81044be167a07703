"""Fits the weights of the ranking on the development halves and writes data/ranking.toml.

    python -m benchmarks.retrieval.fit_ranking [--sets NAME ...] [--questions 150] [--write]

One set of weights for all: of the grid below the one with the largest mean nDCG@10 over the sets, each set counting
once. What every weight alone is worth, with the others as they were found, is printed beside it. The reranker's
weight is fitted last, with the others as found. Weights that no public set can tell
about (provenance, index, siblings) are left as they stand in the file; `sextant eval ablation` measures them.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path

import numpy as np

from benchmarks.report import machine, write_table
from benchmarks.retrieval.measure_sets import STATUTES_IN, XQUAD
from benchmarks.retrieval.statutes import assemble_statutes
from rag_engine.backends.encoder.load import load_encoder
from rag_engine.backends.identify_language import identify_language
from rag_engine.config import DATA, RankingWeights, changed, read_config
from rag_engine.evaluation.cached_reader import cached
from rag_engine.evaluation.configurations import Configuration
from rag_engine.evaluation.datasets import Dataset, pool_datasets, read_dataset
from rag_engine.evaluation.metric import measure
from rag_engine.evaluation.rankers import planner, ranker
from rag_engine.evaluation.temporary_collection import IndexedCorpus, as_document, indexed
from rag_engine.evaluation.vector_cache import CachedEmbedder, vectors_folder
from rag_engine.retrieval.scores import Signals, mix, pool_of, read_signals
from rag_engine.retrieval.search import search

SHARED = Path(os.environ.get("SEXTANT_SHARED", "../shared")) / "data" / "benchmarks"
SETS = ("scifact", "aila_statutes", "legalquad_de", "squad_it", "faquad_pt", STATUTES_IN, *XQUAD)
# Sets whose passages are long, of which a window is read, and sets in other languages.
RERANKED = ("scifact", "aila_statutes", "legalquad_de", "squad_it", "faquad_pt", STATUTES_IN, "xquad/en", "xquad/tr")
# Differences of means below this are no reason.
_NOISE = 0.005
RERANK_WEIGHTS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1.0)
GRID: dict[str, tuple[float, ...]] = {
    "dense_weight": (0.4, 0.5, 0.55, 0.6, 0.65, 0.7, 0.8),
    "sentence_share": (0.0, 0.3, 0.5, 0.6, 0.7, 0.8),
    "cross_language_sparse": (0.0, 0.1, 0.2, 0.4, 0.6),
    "variant_weight": (0.0, 0.1, 0.3),
}


@dataclass(frozen=True, slots=True)
class Question:
    """Candidates of a question: a document and signals a child; `gains` are the documents' grades."""

    documents: np.ndarray
    signals: Signals
    gains: dict[str, int]


def ndcg(question: Question, weights: RankingWeights) -> float:
    """nDCG@10 of the documents by their best child."""
    seen: list[str] = []
    for place in np.argsort(-mix(question.signals, weights), kind="stable"):
        if question.documents[place] not in seen:
            seen.append(question.documents[place])
            if len(seen) == 10:
                break
    discount = 1 / np.log2(np.arange(2, 12))
    ideal = sorted(question.gains.values(), reverse=True)[:10]
    got = sum(question.gains.get(one, 0) * discount[rank] for rank, one in enumerate(seen))
    return float(got / sum(grade * discount[rank] for rank, grade in enumerate(ideal)))


def planned_signals(corpus: IndexedCorpus, configuration: Configuration) -> Callable[[str], tuple[np.ndarray, Signals]]:
    """Return the function that gives the documents and signals of the children found for a question."""
    engine, planned = corpus.engine, planner(corpus, configuration)
    view = engine.collection.view()
    # Everything is read, so that any weights can be tried on it.
    everything = {"rule_variants": True, "variant_weight": 1.0, "sentence_share": 0.5}
    config = changed(configuration.applied(engine.config).retrieval, **everything)
    names = corpus.names

    def read(question: str) -> tuple[np.ndarray, Signals]:
        plan = planned(question)
        pool = pool_of(search(plan, None, view, engine.retrievers(), config), (), view)
        documents = np.array([names[owner] for owner in pool.owners.tolist()])
        return documents, read_signals(plan, pool, view, config.weights)

    return read


def reranked(dataset: Dataset, count: int, encoder: CachedEmbedder, chosen: Mapping[str, float]) -> dict[float, float]:
    """nDCG@10 of the data set's first questions at each weight of the reranker."""
    documents = [(document.id, as_document(document)) for document in dataset.documents if document.whole]
    few = replace(dataset, queries=dataset.queries[:count])
    found = {}
    with indexed(documents, read_config(), encoder, lambda *_: None) as corpus:
        retrievers = cached(corpus.engine.retrievers())
        for weight in RERANK_WEIGHTS:
            changes = {**chosen, "rerank": weight > 0, "rerank_weight": weight}
            rank = ranker(corpus, Configuration("fitted", "", changes), Counter(), retrievers=retrievers)
            found[weight] = measure("fitted", few, rank).interval("ndcg@10").value
    return found


def questions_of(datasets: list[Dataset], count: int, encoder: CachedEmbedder) -> list[list[Question]]:
    """For each of the data sets, which share their corpus, its first questions."""
    documents = [(document.id, as_document(document)) for document in datasets[0].documents if document.whole]
    found = []
    with indexed(documents, read_config(), encoder, lambda *_: None) as corpus:
        read = planned_signals(corpus, Configuration("default", "what a question is answered with"))
        for dataset in datasets:
            judged = [query for query in dataset.queries if any(dataset.qrels.get(query.id, {}).values())]
            found.append([Question(*read(query.text), dict(dataset.qrels[query.id])) for query in judged[:count]])
    return found


def mean(questions: dict[str, list[Question]], weights: RankingWeights) -> dict[str, float]:
    return {name: float(np.mean([ndcg(one, weights) for one in those])) for name, those in questions.items()}


def _climb(questions: dict[str, list[Question]]) -> RankingWeights:
    best, best_value = RankingWeights(), -1.0
    # By turns, until none of them gains: the weights hardly depend on each other.
    improved = True
    while improved:
        improved = False
        for one, values in GRID.items():
            for value in values:
                tried = replace(best, **{one: value})
                reached = float(np.mean(list(mean(questions, tried).values())))
                if reached > best_value + 1e-6:
                    best, best_value, improved = tried, reached, True
    return best


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--sets", nargs="*", default=list(SETS))
    parser.add_argument("--questions", type=int, default=150)
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    encoder = CachedEmbedder(load_encoder("multilingual-e5-small"), vectors_folder())

    away = tempfile.TemporaryDirectory(prefix="sextant-fit-")
    statutes = assemble_statutes(SHARED / STATUTES_IN, DATA / "eval" / STATUTES_IN, Path(away.name) / STATUTES_IN)

    def read(name: str, queries_from: Path | None = None) -> Dataset:
        folder = statutes if name == STATUTES_IN else SHARED / name
        return read_dataset(folder, "dev", identify=identify_language, queries_from=queries_from)

    questions: dict[str, list[Question]] = {}
    for name in arguments.sets:
        asked = [read(name)]
        names = [name]
        if name == "xquad/en":
            asked += [read(name, SHARED / other) for other in XQUAD[1:]]
            names += [f"{other} on en" for other in XQUAD[1:]]
        questions |= dict(zip(names, questions_of(asked, arguments.questions, encoder), strict=True))
        print(f"{name}: {len(questions[name])} questions", file=sys.stderr, flush=True)
    if "xquad/en" in arguments.sets:
        pool = pool_datasets([read(name) for name in XQUAD])
        questions["xquad pooled"] = questions_of([pool], arguments.questions, encoder)[0]
    best = _climb(questions)
    # Variants by rules tell nothing of those that a language model writes.
    chosen = {one: getattr(best, one) for one in GRID if one != "variant_weight"}
    print(chosen, file=sys.stderr, flush=True)
    by_reranker = {
        name: reranked(read(name), arguments.questions, encoder, chosen) for name in RERANKED if name in questions
    }
    if by_reranker:
        means = {weight: float(np.mean([one[weight] for one in by_reranker.values()])) for weight in RERANK_WEIGHTS}
        # Of weights that differ by noise the smallest: beyond what was measured the reader is the bolder guess.
        chosen["rerank_weight"] = min(weight for weight, mean in means.items() if mean > max(means.values()) - _NOISE)
    show(questions, best, by_reranker)
    print(chosen)
    if arguments.write:
        write(chosen, " ".join(["python", *sys.argv]))


def show(
    questions: dict[str, list[Question]], best: RankingWeights, by_reranker: Mapping[str, Mapping[float, float]]
) -> None:
    """Print what each set reaches with the fitted weights, and with each weight at another value."""
    fitted = mean(questions, best)
    rows = [["as fitted", *(f"{value:.3f}" for value in fitted.values()), f"{np.mean(list(fitted.values())):.4f}"]]
    for name, values in GRID.items():
        for value in values:
            other = mean(questions, replace(best, **{name: value}))
            differences = [other[one] - fitted[one] for one in fitted]
            rows.append([f"{name} {value:g}", *(f"{d:+.3f}" for d in differences), f"{np.mean(differences):+.4f}"])
    for weight in RERANK_WEIGHTS[1:] if by_reranker else ():
        gains = {name: one[weight] - one[0.0] for name, one in by_reranker.items()}
        cells = [f"{gains[name]:+.3f}" if name in gains else "" for name in fitted]
        rows.append([f"rerank_weight {weight:g}", *cells, f"{np.mean(list(gains.values())):+.4f}"])
    weights = ", ".join(f"{name} {getattr(best, name):g}" for name in GRID)
    write_table(
        "fit_ranking",
        "The weights of the ranking",
        ["weight", *fitted, "mean"],
        rows,
        [
            f"`python -m benchmarks.retrieval.fit_ranking`: nDCG@10 with {weights}; what each other value changes.",
            'Development questions, at most 150 a set; "xquad/es on en": Spanish questions on the English corpus; '
            '"xquad pooled": English questions on four languages in one index, every version relevant.',
            "rerank_weight: what the reranker changes of the whole ranking, mean of its sets; of those within .005 of "
            "the best the smallest is taken.",
            "In-sample: differences under .005 are noise.",
            machine(),
        ],
    )


def write(chosen: dict[str, float], command: str) -> None:
    path = DATA / "ranking.toml"
    lines = []
    for line in path.read_text(encoding="utf-8").splitlines():
        name = line.partition(" = ")[0]
        if name in chosen:
            lines.append(f"{name} = {chosen[name]:g}")
        elif name == "date":
            lines.append(f'date = "{date.today().isoformat()}"')
        elif name == "command":
            lines.append(f'command = "{command}"')
        else:
            lines.append(line)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
