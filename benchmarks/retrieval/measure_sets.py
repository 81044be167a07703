"""The public sets that retrieval is measured on, with what is to be reached on each."""

from __future__ import annotations

import sys
import time
import traceback
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path

import numpy as np

from benchmarks.retrieval.run_files import read_run
from benchmarks.retrieval.statutes import Run, assemble_statutes
from rag_engine.backends.identify_language import identify_language
from rag_engine.config import DATA, Config
from rag_engine.evaluation.configurations import Configuration
from rag_engine.evaluation.datasets import Dataset, Qrels, Split, pool_datasets, read_dataset
from rag_engine.evaluation.metric import Measured
from rag_engine.evaluation.run_retrieval import RetrievalReport, run_retrieval
from rag_engine.evaluation.vector_cache import vectors_folder
from rag_engine.protocols import Embedder

XQUAD = ("xquad/en", "xquad/es", "xquad/de", "xquad/tr")
STATUTES_IN = "statutes_in"


@dataclass(frozen=True, slots=True)
class MeasuredSet:
    """A row of the tables: the questions, the corpora asked, and the nDCG@10 to reach, 0 without a goal.

    Several corpora are one index, asked by the questions of the first; a document of any of them answers. `kinds` are
    the
    beginnings of the ids of the questions that count; without one all do.
    """

    name: str
    corpora: tuple[str, ...]
    reach: float = 0.0
    stretch: float = 0.0
    asked_by: str = ""
    kinds: tuple[str, ...] = ()


# Those that share a corpus stand together, so that it is indexed once.
SETS = (
    MeasuredSet("scifact", ("scifact",), 0.75, 0.77),
    MeasuredSet("aila_statutes", ("aila_statutes",), 0.13, 0.16),
    MeasuredSet("legalquad_de", ("legalquad_de",), 0.82, 0.85),
    MeasuredSet("squad_it", ("squad_it",), 0.87, 0.89),
    MeasuredSet("faquad_pt", ("faquad_pt",), 0.93, 0.945),
    MeasuredSet("xquad/en", ("xquad/en",), 0.98, 0.99),
    MeasuredSet("xquad/en asked in es", ("xquad/en",), 0.94, 0.96, asked_by="xquad/es"),
    MeasuredSet("xquad/en asked in de", ("xquad/en",), 0.93, 0.95, asked_by="xquad/de"),
    MeasuredSet("xquad/en asked in tr", ("xquad/en",), 0.88, 0.91, asked_by="xquad/tr"),
    MeasuredSet("xquad/es", ("xquad/es",), 0.975, 0.985),
    MeasuredSet("xquad/de", ("xquad/de",), 0.97, 0.98),
    MeasuredSet("xquad/tr", ("xquad/tr",), 0.96, 0.975),
    MeasuredSet("xquad, four languages in one index, asked in en", XQUAD, 0.82, 0.85),
    MeasuredSet("statutes_in, numbers and paraphrases", (STATUTES_IN,), 0.93, 0.96, kinds=("section-", "paraphrase-")),
    MeasuredSet("statutes_in, by number", (STATUTES_IN,), kinds=("section-",)),
    MeasuredSet("statutes_in, paraphrased", (STATUTES_IN,), kinds=("paraphrase-",)),
    MeasuredSet("statutes_in, in words of policy papers", (STATUTES_IN,), kinds=("policy-",)),
    MeasuredSet("tr_kmk_statute", ("tr_kmk_statute",)),
)  # fmt: skip
# Whose documents are sections that a lawyer would cite.
STATUTES = ("aila_statutes", STATUTES_IN, "tr_kmk_statute")


@dataclass(frozen=True, slots=True)
class SetResult:
    """Results of the configurations on a set, by name; `said` is why there is nothing, or a remark."""

    set: MeasuredSet
    documents: int
    questions: int
    language: str
    measured: dict[str, Measured]
    runs: dict[str, Run]
    qrels: Qrels
    index_seconds: float
    encode_seconds: float
    query_encode_ms: float
    said: tuple[str, ...]


def measure_sets(
    sets: Sequence[MeasuredSet],
    configurations: Sequence[Configuration],
    config: Config,
    embedder: Embedder,
    *,
    benchmarks: Path,
    split: Split,
    away: Path,
    times: bool = True,
) -> Iterator[SetResult]:
    """Yield a result for each set in order, or the reason in its place if it cannot be measured.

    `benchmarks` is the folder of the data sets, `away` a folder for temporary files; `times` as of `run_retrieval`.
    """
    for corpora, those in groupby(sets, key=lambda one: one.corpora):
        members, started = list(those), time.perf_counter()
        datasets: dict[str, Dataset] = {}
        broken: dict[str, str] = {}
        for asked_by in dict.fromkeys(one.asked_by for one in members):
            try:
                datasets[asked_by] = _read(corpora, asked_by, benchmarks, split, away)
            except Exception as error:  # what is wrong with one set shall not take the others with it
                broken[asked_by] = _broke_off(error)
        reports: dict[str, RetrievalReport] = {}
        runs = away / "runs" / "+".join(corpora).replace("/", "-")
        if datasets:
            try:
                found = run_retrieval(
                    list(datasets.values()),
                    configurations,
                    config,
                    embedder,
                    cache=vectors_folder(),
                    runs=runs,
                    times=times,
                )
                reports = dict(zip(datasets, found, strict=True))
            except Exception as error:  # what is wrong with one set shall not take the others with it
                broken |= dict.fromkeys(datasets, _broke_off(error))
        for one in members:
            result = _nothing(one, broken[one.asked_by]) if one.asked_by in broken else None
            result = result or _result(one, reports[one.asked_by], runs)
            reached = ", ".join(f"{n} {m.metrics['ndcg@10'].mean():.3f}" for n, m in result.measured.items())
            spent = time.perf_counter() - started
            print(f"{one.name}: {reached or result.said[0]} ({spent:.0f} s)", file=sys.stderr, flush=True)
            yield result


def _read(corpora: Sequence[str], asked_by: str, benchmarks: Path, split: Split, away: Path) -> Dataset:
    folders = [benchmarks / name for name in corpora]
    if list(corpora) == [STATUTES_IN]:
        folders = [assemble_statutes(benchmarks / STATUTES_IN, DATA / "eval" / STATUTES_IN, away / STATUTES_IN)]
    asking = benchmarks / asked_by if asked_by else None
    read = [read_dataset(one, split, identify=identify_language, queries_from=asking) for one in folders]
    return read[0] if len(read) == 1 else pool_datasets(read)


def _result(one: MeasuredSet, report: RetrievalReport, runs: Path) -> SetResult:
    dataset = report.dataset
    asked = [not one.kinds or query.id.startswith(one.kinds) for query in dataset.queries]
    if not any(asked):
        return _nothing(one, f"No question of {dataset.name} begins with {' or '.join(one.kinds)}.")
    chosen = np.array(asked)
    ids = {query.id for query, counts in zip(dataset.queries, asked, strict=True) if counts}
    return SetResult(
        set=one,
        documents=len(dataset.documents),
        questions=len(ids),
        language=dataset.language,
        measured={each.name: _of(each, chosen) for each in report.measured},
        runs={
            each.name: {
                id: [document for document, _ in ranking]
                for id, ranking in read_run(runs / f"{dataset.name}.{each.name}.run").items()
                if id in ids
            }
            for each in report.measured
            if one.corpora[0] in STATUTES
        },
        qrels={id: graded for id, graded in dataset.qrels.items() if id in ids},
        index_seconds=report.index_seconds,
        encode_seconds=report.encode_seconds,
        query_encode_ms=report.query_encode_ms,
        said=dataset.warnings,
    )


def _of(measured: Measured, chosen: np.ndarray) -> Measured:
    """Return the figures of some of the questions."""
    metrics = {metric: values[chosen] for metric, values in measured.metrics.items()}
    return replace(measured, metrics=metrics, milliseconds=measured.milliseconds[chosen])


def _nothing(one: MeasuredSet, said: str) -> SetResult:
    return SetResult(one, 0, 0, "", {}, {}, {}, 0.0, 0.0, 0.0, (said,))


def _broke_off(error: Exception) -> str:
    traceback.print_exception(error, file=sys.stderr)
    return f"BROKE OFF: {error or type(error).__name__}"
