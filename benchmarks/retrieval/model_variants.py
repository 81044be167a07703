"""The worth of the second and third query of a language model, by their weight.

    SEXTANT_OLLAMA_URL=http://127.0.0.1:11434 python -m benchmarks.retrieval.model_variants --ask [--shared DIR]
    python -m benchmarks.retrieval.model_variants [--shared DIR]

`--ask` has the model plan the questions and keeps its queries in data/eval/model_variants.jsonl; without it the kept
ones are searched, so that the table can be printed again without a model.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from benchmarks.report import machine, write_table
from benchmarks.retrieval.statutes import assemble_statutes
from rag_engine.backends.encoder.load import load_encoder
from rag_engine.backends.identify_language import identify_language
from rag_engine.config import DATA, read_config
from rag_engine.errors import BackendError
from rag_engine.evaluation.configurations import Configuration
from rag_engine.evaluation.datasets import Dataset, read_dataset
from rag_engine.evaluation.metric import measure
from rag_engine.evaluation.rankers import planner, ranker
from rag_engine.evaluation.temporary_collection import IndexedCorpus, as_document, indexed
from rag_engine.evaluation.vector_cache import CachedEmbedder, vectors_folder
from rag_engine.geography import load_gazetteer
from rag_engine.models import Models
from rag_engine.planning.plan import plan_question
from rag_engine.types.evidence import QueryPlan

ROOT = Path(__file__).resolve().parents[2]
KEPT = DATA / "eval" / "model_variants.jsonl"
STATUTES = "statutes_in"
SETS = (STATUTES, "legalquad_de", "faquad_pt", "xquad/tr on xquad/en")
# Questions of a set: one takes a small model five seconds.
OF_EACH = 20
WEIGHTS = (0.0, 0.05, 0.1, 0.2, 0.3, 1.0)
_UNLIKELY = 120.0


def read_sets(shared: Path) -> Iterator[Dataset]:
    """Yield the sets with as many questions as are asked, spread over the development half."""
    benchmarks = shared / "data" / "benchmarks"
    with TemporaryDirectory(prefix="sextant-measure-") as away:
        for name in SETS:
            asking, _, folder = name.rpartition(" on ")
            if name == STATUTES:
                source = assemble_statutes(benchmarks / name, DATA / "eval" / name, Path(away) / name)
            else:
                source = benchmarks / folder
            asked_by = benchmarks / asking if asking else None
            dataset = read_dataset(source, "dev", identify=identify_language, queries_from=asked_by)
            step = max(1, len(dataset.queries) // OF_EACH)
            yield replace(dataset, name=name, queries=dataset.queries[::step][:OF_EACH])


def ask(shared: Path) -> None:
    """Have the model plan each question and keep its queries, or the rules' if it has none of use."""
    config = read_config()
    config = replace(config, generation=replace(config.generation, planner_seconds=_UNLIKELY))
    generator, warning = Models(config).language_model()
    if generator is None:
        raise SystemExit(f"No language model answers. {warning}")
    with KEPT.open("w", encoding="utf-8") as file:
        for dataset in read_sets(shared):
            for query in dataset.queries:
                started = time.perf_counter()
                plan = plan_question(
                    query.text,
                    identify=identify_language,
                    gazetteer=load_gazetteer(),
                    generator=generator,
                    config=config,
                )
                row = {"set": dataset.name, "id": query.id, "planner": plan.planner, "queries": plan.queries}
                print(json.dumps(row, ensure_ascii=False), file=file, flush=True)
                print(dataset.name, f"{time.perf_counter() - started:.0f} s", plan.queries, plan.warnings, flush=True)


def kept_queries() -> Mapping[str, tuple[str, tuple[str, ...]]]:
    """Return who planned each question, and its queries, by set and id."""
    rows = map(json.loads, KEPT.read_text(encoding="utf-8").splitlines())
    return {f"{row['set']} {row['id']}": (row["planner"], tuple(row["queries"])) for row in rows}


def configurations() -> list[Configuration]:
    """Return the default at each weight of the variants, and the paper's recipe with and without them."""
    by_weight = [Configuration(f"{weight:g}", "", {"variant_weight": weight}) for weight in WEIGHTS]
    paper = {"profile": "paper", "top_k": 15}
    return [
        *by_weight,
        Configuration("paper, rules", "", {**paper, "rule_variants": True}, keywords="spaces"),
        Configuration("paper, model", "", paper, keywords="spaces"),
    ]


def by_model(dataset: Dataset, corpus: IndexedCorpus, one: Configuration) -> Mapping[str, QueryPlan]:
    """Return each question's plan with the queries that the model made of it."""
    rules, kept = planner(corpus, one), kept_queries()
    plans = {}
    for query in dataset.queries:
        who, queries = kept[f"{dataset.name} {query.id}"]
        plans[query.text] = replace(rules(query.text), queries=queries, planner=who)
    return plans


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shared", type=Path, default=Path(os.environ.get("SEXTANT_SHARED", ROOT.parent / "shared")))
    parser.add_argument("--ask", action="store_true", help="have the model plan the questions first")
    arguments = parser.parse_args()
    shared = arguments.shared.resolve()
    if arguments.ask:
        ask(shared)
    if not KEPT.is_file():
        raise BackendError(f"{KEPT} is not there.", help="Run with --ask and a model first.")
    config = read_config()
    embedder = CachedEmbedder(load_encoder(config.encoder, config.execution), vectors_folder())
    scores: dict[str, list[np.ndarray]] = {one.name: [] for one in configurations()}
    told = 0
    for dataset in read_sets(shared):
        documents = [(one.id, as_document(one)) for one in dataset.documents if one.whole]
        with indexed(documents, config, embedder, lambda *_: None) as corpus:
            for one in configurations():
                plans = None if one.name in ("0", "paper, rules") else by_model(dataset, corpus, one)
                if one.name == "1" and plans is not None:
                    told += sum(plan.planner != "rules" for plan in plans.values())
                rank = ranker(corpus, one, Counter(), planned=plans.__getitem__ if plans else None)
                found = measure(one.name, dataset, rank).metrics["ndcg@10"]
                scores[one.name].append(found)
                print(dataset.name, one.name, f"{found.mean():.3f}", flush=True)
    rows = [
        [name, *(f"{of_set.mean():.3f}" for of_set in of_sets), f"{np.concatenate(of_sets).mean():.3f}"]
        for name, of_sets in scores.items()
    ]
    write_table(
        "model_variants",
        "Query variants of a language model, by their weight",
        ["weight", *SETS, "all questions"],
        rows,
        [
            machine(),
            f"`python -m benchmarks.retrieval.model_variants`; nDCG@10 of {OF_EACH} questions a set, development "
            f"halves; the model (qwen2.5-coder 1.5b) planned {told} of them, the rules the others.",
        ],
    )


if __name__ == "__main__":
    main()
