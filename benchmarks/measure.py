"""Every table from one command: `make measure`, or parts of it.

    python -m benchmarks.measure [--only PART ...] [--skip PART ...] [--sets SET ...] [--split dev] [--shared DIR]

The tables are printed and written to benchmarks/results/ with date, machine and versions. Vectors are kept in the
cache from run to run. A part, or a set within a part, that breaks off is said in its place, the rest goes on, and the
command ends with 1. Parts: retrieval (what the default reaches on public sets, against the paper's recipe), steps
(every configuration on them), statutes (citations), published (BM25 as others published it), chunking and ablation
(passages of real documents), sections, tables, named_sections, page_questions, quotations, refusals, index_tables,
translations, choices (single ones of the search), copies, recipes (those of two papers), model_variants (from the kept
queries of a model), chroma_candidates; and beyond retrieval licences, metadata, topics, extraction, pipeline_model (the
pipeline's questions to a small language model), and answering_speed (how long answers take).
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import get_args

import numpy as np

from benchmarks.report import RESULTS, machine, write_csv, write_table
from benchmarks.retrieval.measure_sets import SETS, STATUTES, MeasuredSet, measure_sets
from benchmarks.retrieval.measure_tables import (
    DEFAULT,
    NDCG,
    PAPER,
    Table,
    bars_table,
    figures_table,
    statutes_table,
    steps_table,
    warnings_of,
)
from rag_engine.backends.encoder.load import load_encoder
from rag_engine.backends.identify_language import identify_language
from rag_engine.config import read_config
from rag_engine.evaluation.configurations import CONFIGURATIONS, chosen_of
from rag_engine.evaluation.datasets import Split, read_dataset
from rag_engine.evaluation.metric import measure
from rag_engine.evaluation.published_bm25 import published_bm25

ROOT = Path(__file__).resolve().parents[1]
# nDCG@10 of Anserini's "flat" run over all 300 test questions of scifact.
PUBLISHED_NDCG = {"scifact": 0.679}
# Tables of the same searches: the sets are indexed once for all that are asked for.
SEARCHED = ("retrieval", "steps", "statutes")
# The parts with a command of their own, and the module that it runs; "" for one of `sextant eval`.
COMMANDS = {
    "chunking": "",
    "ablation": "",
    "sections": "benchmarks.pipeline.sections",
    "tables": "benchmarks.pipeline.tables",
    "named_sections": "benchmarks.retrieval.named_sections",
    "page_questions": "benchmarks.retrieval.page_questions",
    "quotations": "benchmarks.answers.quotations",
    "refusals": "benchmarks.answers.refusals",
    "index_tables": "benchmarks.pipeline.index_tables",
    "translations": "benchmarks.pipeline.translations",
    "choices": "benchmarks.retrieval.choices",
    "copies": "benchmarks.pipeline.copies",
    "recipes": "benchmarks.retrieval.recipes",
    "model_variants": "benchmarks.retrieval.model_variants",
    "chroma_candidates": "benchmarks.retrieval.chroma_candidates",
    "licences": "benchmarks.pipeline.licences",
    "metadata": "benchmarks.pipeline.metadata",
    "topics": "benchmarks.pipeline.topics",
    "extraction": "benchmarks.pipeline.extraction",
    "pipeline_model": "benchmarks.models.pipeline_model",
    "answering_speed": "benchmarks.answers.answering_speed",
}
# Commands that find the documents by SEXTANT_SHARED, or need none.
WITHOUT_SHARED = ("licences", "metadata", "topics", "answering_speed")
PARTS = (*SEARCHED, "published", *COMMANDS)
TITLES = {
    "retrieval": "Retrieval on public sets",
    "steps": "What every step is worth on public sets: nDCG@10, differences from the default",
    "statutes": "Citing the right sections",
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=PARTS, default=PARTS, metavar="PART")
    parser.add_argument("--skip", nargs="+", choices=PARTS, default=(), metavar="PART")
    parser.add_argument("--sets", nargs="+", choices=[one.name for one in SETS], metavar="SET")
    parser.add_argument("--split", choices=get_args(Split), default="dev")
    parser.add_argument("--shared", type=Path, default=Path(os.environ.get("SEXTANT_SHARED", ROOT.parent / "shared")))
    arguments = parser.parse_args()
    parts = [part for part in PARTS if part in arguments.only and part not in arguments.skip]
    sets = [one for one in SETS if not arguments.sets or one.name in arguments.sets]
    # A request to end is an exception, so that the temporary collections are removed.
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    sys.exit(1 if run_parts(parts, sets, arguments.split, arguments.shared.resolve()) else 0)


def run_parts(parts: Sequence[str], sets: Sequence[MeasuredSet], split: Split, shared: Path) -> list[str]:
    """Return what broke off: names of parts and of sets, with why."""
    broken: list[str] = []
    searched = [part for part in SEARCHED if part in parts]
    if searched:
        broken += _attempt("+".join(searched), lambda: write_searched(searched, sets, split, shared))
    if "published" in parts:
        broken += _attempt("published", lambda: write_published(split, shared))
    for part in COMMANDS:
        if part in parts:
            print(f"{part} ...", file=sys.stderr, flush=True)
            command = command_of(part, split, shared)
            environment = os.environ | {"SEXTANT_SHARED": str(shared)}
            code = subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode
            broken += [f"{part}: `{' '.join(command)}` ended with {code}"] if code else []
    for one in broken:
        print(f"BROKE OFF: {one}", file=sys.stderr)
    return broken


def write_searched(parts: Sequence[str], sets: Sequence[MeasuredSet], split: Split, shared: Path) -> list[str]:
    """Return the sets that broke off; writes the tables of the parts."""
    ranked = [one for one in sets if parts != ["statutes"] or one.corpora[0] in STATUTES]
    names = [one.name for one in CONFIGURATIONS] if "steps" in parts else [DEFAULT, PAPER]
    config = read_config()
    embedder = load_encoder(config.encoder, config.execution)
    with tempfile.TemporaryDirectory(prefix="sextant-measure-") as away:
        results = list(
            measure_sets(
                ranked,
                chosen_of(CONFIGURATIONS, names),
                config,
                embedder,
                benchmarks=shared / "data" / "benchmarks",
                split=split,
                away=Path(away),
                # The times that are shown are the default's, which comes first.
                times="steps" not in parts,
            )
        )
    tables: dict[str, Table] = {
        "retrieval": bars_table(results),
        "steps": steps_table(results),
        "statutes": statutes_table(results),
    }
    for part in parts:
        columns, rows = tables[part]
        notes = [*notes_of(part, split, embedder.name), *warnings_of(results)]
        if len(sets) < len(SETS):
            notes.insert(0, "Only some of the sets, as asked; a run without --sets measures all.")
        write_table(part, TITLES[part], columns, rows, notes)
    if "retrieval" in parts:
        write_csv("retrieval", *figures_table(results))
    return [f"{one.set.name}: {one.said[0]}" for one in results if not one.measured]


def notes_of(part: str, split: str, encoder: str) -> list[str]:
    """How the table was made, and how it is to be read."""
    said = [
        machine(),
        f"`python -m benchmarks.measure --only {part} --split {split}`; encoder {encoder}; one default for all sets.",
    ]
    if part == "retrieval":
        said += [
            "In brackets 95% bootstrap intervals; the difference is paired, question by question, and p is that of the "
            "randomisation test. Milliseconds leave out the encoding of the question, which is beside them; seconds "
            "of indexing are small where the vectors were kept from before, and those of both configurations' index.",
        ]
    if part == "steps":
        said.append("Bold where 0 lies outside the 95% interval of the paired differences.")
        said += [f"{one.name}: {one.says}." for one in CONFIGURATIONS]
    if part == "statutes":
        said.append(
            "In brackets 95% Wilson intervals. The first citation is right when the first section found answers; the "
            "set when the first n sections are exactly the n that answer."
        )
    return said


def write_published(split: Split, shared: Path) -> list[str]:
    """Write how far our BM25 of the published kind is from the published figure; return what broke off."""
    rows: list[list[str]] = []
    notes: list[str] = []
    for name, published in PUBLISHED_NDCG.items():
        dataset = read_dataset(shared / "data" / "benchmarks" / name, split, identify=identify_language)
        found = measure("bm25-lucene", dataset, published_bm25(dataset.documents))
        ndcg = found.interval(NDCG)
        says = "yes" if ndcg.low <= published <= ndcg.high else "no"
        rows.append(
            [
                name,
                f"{len(dataset.queries)}",
                f"{ndcg.value:.3f} [{ndcg.low:.3f}, {ndcg.high:.3f}]",
                f"{published:.3f}",
                f"{ndcg.value - published:+.3f}",
                says,
                f"{np.percentile(found.milliseconds, 50):.1f}",
            ]
        )
        notes += dataset.warnings
    write_table(
        "published",
        "BM25 as published",
        ["set", "questions", "nDCG@10", "published", "difference", "published within the interval", "ms p50"],
        rows,
        [
            machine("PyStemmer"),
            f"`python -m benchmarks.measure --only published --split {split}`; k1 = 0.9, b = 0.4, title and text.",
            "The published figure is that of all 300 test questions; on a part of them only the interval can be "
            "judged. With both halves in the folder `--split all` is the whole check, to within .01.",
            *notes,
        ],
    )
    return []


def command_of(part: str, split: str, shared: Path) -> list[str]:
    """Return the command that writes the table of a part."""
    if not COMMANDS[part]:
        return [sys.executable, "-m", "cli", "eval", part, "--split", split, "--results", str(RESULTS)]
    given = [] if part in WITHOUT_SHARED else ["--shared", str(shared)]
    return [sys.executable, "-m", COMMANDS[part], *given]


def _attempt(part: str, write: Callable[[], list[str]]) -> list[str]:
    """Return what broke off in the part, the part itself included."""
    try:
        return write()
    except Exception as error:  # what breaks off is said, and the other parts go on
        traceback.print_exception(error, file=sys.stderr)
        return [f"{part}: {error or type(error).__name__}"]


if __name__ == "__main__":
    main()
