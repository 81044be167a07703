"""Figures of rankings: five metrics with intervals, and the time a question takes."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from rag_engine.evaluation.datasets import Dataset
from rag_engine.evaluation.significance import Difference, Interval, Values, mean_interval, paired_difference
from rag_engine.evaluation.trec_runs import RunWriter

# The names of ir_measures, and ours.
_MEASURES = {"nDCG@10": "ndcg@10", "R@10": "recall@10", "R@100": "recall@100", "RR@10": "mrr@10", "AP": "map"}
METRICS = tuple(_MEASURES.values())
DEPTH = 100


def ranking_metrics(ranking: Sequence[str], judged: Mapping[str, int]) -> dict[str, float]:
    """Return the five metrics of the ranking of one question, 0 of an empty one.

    nDCG takes the grade as the gain (Järvelin and Kekäläinen 2002, as trec_eval). Recall counts grades of 1 and more.
    MAP is over the whole ranking.

    >>> metrics = ranking_metrics(["heat-plan", "flood-act"], {"flood-act": 1})
    >>> round(metrics["ndcg@10"], 2), metrics["mrr@10"]
    (0.63, 0.5)
    """
    import ir_measures

    # Scores by rank: trec_eval would order equal scores by document id.
    run = {id: -float(rank) for rank, id in enumerate(ranking)}
    measures = list(map(ir_measures.parse_measure, _MEASURES))
    found = ir_measures.calc_aggregate(measures, {"": dict(judged)}, {"": run})
    return {_MEASURES[str(measure)]: value for measure, value in found.items()}


# A question to documents with their scores, best first, each document once.
RankDocuments = Callable[[str], Sequence[tuple[str, float]]]


@dataclass(frozen=True, slots=True)
class Measured:
    """Results of a configuration: for each metric a value for each question, in order.

    The order is that of the data set's questions. `milliseconds` exclude the encoding of the question, whose vector may
    be kept from before.
    """

    name: str
    metrics: Mapping[str, Values]
    milliseconds: Values

    def interval(self, metric: str) -> Interval:
        """Return the mean of a metric with its 95% interval."""
        return mean_interval(self.metrics[metric])

    def versus(self, baseline: Measured, metric: str) -> Difference:
        """Return how much better this is than the baseline on the same questions."""
        return paired_difference(self.metrics[metric], baseline.metrics[metric])


def measure(
    name: str,
    dataset: Dataset,
    rank: RankDocuments,
    *,
    progress: Callable[[int, int, str], None] = lambda *_: None,
    run: RunWriter | None = None,
) -> Measured:
    """Return the configuration's figures over every question; its rankings go to `run` as they come.

    A question for which nothing is found counts 0.
    """
    queries = dataset.queries
    scores: list[dict[str, float]] = []
    milliseconds: list[float] = []
    # Opening an index is paid once, not by a question.
    rank(queries[0].text)
    for place, query in enumerate(queries):
        progress(place, len(queries), name)
        started = time.perf_counter()
        ranking = rank(query.text)[:DEPTH]
        milliseconds.append(1000.0 * (time.perf_counter() - started))
        scores.append(ranking_metrics([id for id, _ in ranking], dataset.qrels[query.id]))
        if run is not None:
            run(query.id, ranking)
    progress(len(queries), len(queries), name)
    metrics = {metric: np.array([score[metric] for score in scores]) for metric in METRICS}
    return Measured(name, metrics, np.array(milliseconds))


def best_of_documents(children: Sequence[tuple[str, float]]) -> list[tuple[str, float]]:
    """Return documents in the order of their best child.

    Children come best first, named by their document.

    >>> best_of_documents([("a", 0.9), ("b", 0.7), ("a", 0.4)])
    [('a', 0.9), ('b', 0.7)]
    """
    best: dict[str, float] = {}
    for document, score in children:
        best.setdefault(document, score)
    return list(best.items())
