"""Normalised scores mixed, and reciprocal ranks: nDCG@10 of the default and of `rrf`.

    python -m benchmarks.retrieval.fusion [--sets SET ...] [--shared DIR]

On the development half of every public set and pair of languages. Keywords rank the passages in the question's language
alone in both.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.report import machine, write_table
from benchmarks.retrieval.measure_sets import SETS, measure_sets
from rag_engine.backends.encoder.load import load_encoder
from rag_engine.config import read_config
from rag_engine.evaluation.configurations import Configuration

ROOT = Path(__file__).resolve().parents[2]
WAYS = (
    Configuration("mix", "normalised scores"),
    Configuration("rrf", "reciprocal ranks", {"profile": "rrf"}),
    Configuration("mix, unread", "normalised scores", {"rerank": False}),
    Configuration("rrf, unread", "reciprocal ranks", {"profile": "rrf", "rerank": False}),
)
# Within this of the mix, ranks are as good.
NEAR = 0.003


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shared", type=Path, default=Path(os.environ.get("SEXTANT_SHARED", ROOT.parent / "shared")))
    parser.add_argument("--sets", nargs="+", choices=[one.name for one in SETS], help="these alone")
    arguments = parser.parse_args()
    sets = [one for one in SETS if arguments.sets is None or one.name in arguments.sets]
    rows = []
    with TemporaryDirectory(prefix="sextant-fusion-") as away:
        results = measure_sets(
            sets,
            WAYS,
            read_config(kept=False),
            load_encoder("multilingual-e5-small"),
            benchmarks=arguments.shared / "data" / "benchmarks",
            split="dev",
            away=Path(away),
            times=False,
        )
        for result in results:
            values = [
                result.measured[way.name].metrics["ndcg@10"].mean() for way in WAYS if way.name in result.measured
            ]
            if values:
                rows.append([result.set.name, *(f"{value:.3f}" for value in values), f"{values[1] - values[0]:+.3f}"])
    worse = sum(float(row[-1]) < -NEAR for row in rows)
    write_table(
        "fusion",
        "Scores mixed, and ranks",
        ["set", *(way.name for way in WAYS), "rrf against mix, read"],
        rows,
        [
            "`python -m benchmarks.retrieval.fusion`: nDCG@10 on development halves; read: the reader's score counts.",
            f"On {worse} of {len(rows)} sets ranks lose more than {NEAR:g}.",
            machine(),
        ],
    )


if __name__ == "__main__":
    main()
