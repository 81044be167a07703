"""One data set, several ways of searching, side by side."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from rag_engine.config import Config
from rag_engine.evaluation.cached_reader import cached
from rag_engine.evaluation.configurations import Configuration, by_chunking
from rag_engine.evaluation.datasets import Dataset
from rag_engine.evaluation.metric import METRICS, Measured, RankDocuments, measure
from rag_engine.evaluation.rankers import ranker, whole_documents
from rag_engine.evaluation.temporary_collection import MeasuringProgress, as_document, indexed
from rag_engine.evaluation.trec_runs import writing_run
from rag_engine.evaluation.vector_cache import CachedEmbedder
from rag_engine.messages import Message
from rag_engine.protocols import Embedder

# Number of questions by which the time to encode one is measured.
_ENCODED_QUESTIONS = 30


@dataclass(frozen=True, slots=True)
class RetrievalReport:
    """Results of all configurations on a data set; the others are compared with the first.

    `query_encode_ms` is the median time to encode a question, which the configurations' milliseconds leave out.
    `index_seconds` and `encode_seconds` sum over the collections that the configurations needed (one for each way of
    chunking).
    """

    dataset: Dataset
    measured: tuple[Measured, ...]
    index_seconds: float
    encode_seconds: float
    query_encode_ms: float

    def to_dict(self) -> dict[str, Any]:
        """Return the report as `sextant eval retrieval --json` prints it."""
        dataset = self.dataset
        return {
            "dataset": dataset.name,
            "split": dataset.split,
            "documents": len(dataset.documents),
            "queries": len(dataset.queries),
            "language": dataset.language,
            "index_seconds": round(self.index_seconds, 2),
            "encode_seconds": round(self.encode_seconds, 2),
            "query_encode_ms": round(self.query_encode_ms, 2),
            "configs": [_figures(one, self.measured[0]) for one in self.measured],
            "warnings": list(dataset.warnings),
        }


def run_retrieval(
    datasets: Sequence[Dataset],
    configurations: Sequence[Configuration],
    config: Config,
    embedder: Embedder,
    *,
    cache: Path,
    progress: MeasuringProgress = lambda *_: None,
    runs: Path | None = None,
    times: bool = True,
) -> tuple[RetrievalReport, ...]:
    """Return a report for each of the data sets, which ask their questions of the same documents.

    The documents are indexed into a temporary workspace, once for each way of chunking; vectors are kept in `cache`.
    `runs` is a folder for run files. Without `times` the reranker reads no passage twice for a question, and only the
    milliseconds of the first configuration mean anything. ValueError for data sets with other documents than the first.
    """
    corpus = datasets[0].documents
    if any(dataset.documents != corpus for dataset in datasets):
        raise ValueError(f"{', '.join(one.name for one in datasets)} have not the same documents.")
    encoder = CachedEmbedder(embedder, cache)
    documents = [(document.id, as_document(document)) for document in corpus if document.whole]
    measured: list[dict[str, Measured]] = [{} for _ in datasets]
    messages: list[list[str]] = [[] for _ in datasets]
    index_seconds = encode_seconds = 0.0

    def ask(configuration: Configuration, rank: RankDocuments, warned: Counter[str]) -> None:
        for place, dataset in enumerate(datasets):
            file = runs and runs / f"{dataset.name}.{configuration.name}.run"
            with writing_run(file, configuration.name) if file else nullcontext() as writer:
                measured[place][configuration.name] = measure(
                    configuration.name, dataset, rank, progress=progress, run=writer
                )
            messages[place] += [
                f"{configuration.name}: {warning} ({count} searches)" for warning, count in warned.items()
            ]
            warned.clear()

    for configuration in configurations:
        if configuration.whole_documents:
            ask(configuration, whole_documents(corpus, configuration), Counter())
    asked = [configuration for configuration in configurations if not configuration.whole_documents]
    for chunking, together in by_chunking(asked, config).items():
        with indexed(documents, replace(config, chunking=chunking), encoder, progress) as collection:
            index_seconds += collection.index_seconds
            encode_seconds += collection.encode_seconds
            retrievers = None if times else cached(collection.engine.retrievers())
            for configuration in together:
                warned: Counter[str] = Counter()
                ask(configuration, ranker(collection, configuration, warned, retrievers=retrievers), warned)
    return tuple(
        RetrievalReport(
            replace(dataset, warnings=(*dataset.warnings, *map(Message, messages[place]))),
            tuple(measured[place][configuration.name] for configuration in configurations),
            index_seconds,
            encode_seconds,
            _query_encode_ms(dataset, embedder),
        )
        for place, dataset in enumerate(datasets)
    )


def _query_encode_ms(dataset: Dataset, embedder: Embedder) -> float:
    spent = []
    for query in dataset.queries[:_ENCODED_QUESTIONS]:
        started = time.perf_counter()
        embedder.encode_queries([query.text])
        spent.append(1000.0 * (time.perf_counter() - started))
    return float(np.median(spent))


def _figures(one: Measured, baseline: Measured) -> dict[str, Any]:
    figures: dict[str, Any] = {"name": one.name}
    versus: dict[str, Any] = {"name": baseline.name}
    for metric in METRICS:
        interval = one.interval(metric)
        figures[metric] = round(interval.value, 4)
        figures[f"{metric}_interval"] = [round(interval.low, 4), round(interval.high, 4)]
        found = one.versus(baseline, metric)
        between = [round(found.low, 4), round(found.high, 4)]
        versus[metric] = {"difference": round(found.value, 4), "interval": between, "p": round(found.p, 4)}
    for percentile in (50, 95):
        figures[f"ms_p{percentile}"] = round(float(np.percentile(one.milliseconds, percentile)), 2)
    if one is not baseline:
        figures["versus"] = versus
    return figures
