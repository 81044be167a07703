"""Single choices of the search, each beside the search without it.

    python -m benchmarks.retrieval.choices [--shared DIR]

Long questions are read in pieces, a question's language is judged by what the collection holds, and what stands in
quotation marks or in capitals is searched for by itself without weighing anything.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from unittest import mock

from benchmarks.report import machine, write_table
from rag_engine.backends.encoder.load import load_encoder
from rag_engine.backends.identify_language import identify_language
from rag_engine.config import read_config
from rag_engine.evaluation.configurations import Configuration
from rag_engine.evaluation.datasets import Dataset, read_dataset
from rag_engine.evaluation.run_retrieval import run_retrieval
from rag_engine.evaluation.significance import Values, paired_difference
from rag_engine.evaluation.vector_cache import vectors_folder
from rag_engine.retrieval import search

ROOT = Path(__file__).resolve().parents[2]
ASKED = ("faquad_pt", "squad_it", "legalquad_de", "xquad/es", "xquad/tr")
# A question longer than any stays whole.
_WHOLE = 10**9


def ndcg(dataset: Dataset, one: Configuration) -> Values:
    """Return nDCG@10 of each question; the cross-encoder is left out, which all ways share."""
    config = read_config()
    embedder = load_encoder(config.encoder, config.execution)
    plain = replace(one, retrieval={"rerank": False, **one.retrieval})
    [report] = run_retrieval([dataset], [plain], config, embedder, cache=vectors_folder(), times=False)
    return report.measured[0].metrics["ndcg@10"]


def gain(name: str, chosen: Values, without: Values, where: str) -> list[str]:
    """Return a row: means with the choice and without, and their paired difference."""
    found = paired_difference(chosen, without)
    difference = f"{found.value:+.3f} ({found.low:+.3f} to {found.high:+.3f}; p {found.p:.3f})"
    return [name, where, f"nDCG@10 {chosen.mean():.3f}", f"{without.mean():.3f}", difference]


def misjudged(datasets: Mapping[str, Dataset]) -> list[list[str]]:
    """Return a row for each set: questions taken for another language.

    One count knows the collection's languages, the other does not.
    """
    rows = []
    for name, one in datasets.items():
        known = {one.language: 1.0}
        wrong = [
            sum(identify_language(query.text, likely) != one.language for query in one.queries)
            for likely in (known, None)
        ]
        where = f"{name}, {len(one.queries)} questions"
        rows.append(["the collection's languages are known", where, f"{wrong[0]} in another", str(wrong[1]), ""])
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shared", type=Path, default=Path(os.environ.get("SEXTANT_SHARED", ROOT.parent / "shared")))
    folder = parser.parse_args().shared / "data" / "benchmarks"
    sets = {
        name: read_dataset(folder / name, "dev", identify=identify_language)
        for name in ("aila_statutes", "scifact", *ASKED)
    }
    default = Configuration("default", "what a question is answered with")
    rows = []
    pieces = ndcg(sets["aila_statutes"], default)
    with mock.patch.object(search, "LONGEST_PIECE", _WHOLE):
        rows.append(gain("a long question in pieces", pieces, ndcg(sets["aila_statutes"], default), "aila_statutes"))
    rows += misjudged({name: sets[name] for name in ASKED})
    write_table(
        "choices",
        "What single choices of the search are worth",
        ["choice", "set", "with it", "without it", "difference"],
        rows,
        [
            machine(),
            "`python -m benchmarks.retrieval.choices`; development halves, without the cross-encoder. In brackets the "
            "95% bootstrap interval of the paired difference and p of the randomisation test.",
        ],
    )


if __name__ == "__main__":
    main()
