"""Table of the reader beside likeness.

    python -m benchmarks.answers.readers [--questions 60] [--shared DIR]

The development halves are measured as `training.evaluate` does it, with the given number of questions a set: the first
quotation over five passages, nDCG@10 of the 20 nearest, and how well near misses are told from answers. The figures
over real documents are in the tables of `benchmarks.answers.quotations`.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean

from benchmarks.report import machine, write_table
from rag_engine.backends.encoder.load import load_encoder
from rag_engine.backends.reader.load import ADAPTER, load_adapter
from rag_engine.evaluation.vector_cache import CachedEmbedder, vectors_folder
from training.evaluate import SETS, WEIGHTS, Figures, auc, measure

ROOT = Path(__file__).resolve().parents[2]
# The reader's weights that the table shows, of those that are measured.
_SHOWN = tuple(weight for weight in WEIGHTS if weight in (0.0, 0.3, 0.5, 0.8))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--questions", type=int, default=60, help="of each set")
    parser.add_argument("--shared", type=Path, default=Path(os.environ.get("SEXTANT_SHARED", ROOT.parent / "shared")))
    arguments = parser.parse_args()
    folder = arguments.shared / "data" / "benchmarks"
    reader, embedder = load_adapter(ADAPTER), CachedEmbedder(load_encoder("multilingual-e5-small"), vectors_folder())
    rows, within, across = [], list[Figures](), list[Figures]()
    for asked_by, of in SETS:
        figures = measure(reader, embedder, folder, asked_by, of, arguments.questions)
        (within if asked_by == of else across).append(figures)
        rows.append(row_of(of if asked_by == of else f"{asked_by} on {of}", [figures]))
        print(rows[-1], flush=True)
    rows += [row_of("**mean within a language**", within), row_of("**mean across languages**", across)]
    write_table(
        "readers",
        "The reader beside likeness",
        [
            "set",
            *(f"first quotation at {weight:g}" for weight in _SHOWN),
            *(f"nDCG@10 at {weight:g}" for weight in _SHOWN),
            "AUC by likeness",
            "AUC by the reader",
        ],
        rows,
        [
            f"`python -m benchmarks.answers.readers --questions {arguments.questions}`: so many questions of each "
            "development half (XQuAD, SQuAD-it, FaQuAD), by the weight of the reader; 0 is likeness alone. AUC: the "
            "chance that the best of five passages with the answer scores above the best of five without.",
            machine(),
        ],
    )


def row_of(name: str, sets: Sequence[Figures]) -> list[str]:
    """Return a row of means over sets."""
    first = [f"{fmean(fmean(one.first[weight]) for one in sets):.3f}" for weight in _SHOWN]
    ndcg = [f"{fmean(fmean(one.ndcg[weight]) for one in sets):.3f}" for weight in _SHOWN]
    told = [fmean(auc(*getattr(one, by)) for one in sets) for by in ("likeness", "reading")]
    return [name, *first, *ndcg, *(f"{one:.2f}" for one in told)]


if __name__ == "__main__":
    main()
