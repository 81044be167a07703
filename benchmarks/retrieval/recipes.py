"""The recipes of two papers, to their letter, beside the default.

    python -m benchmarks.retrieval.recipes [--only sets|pages] [--shared DIR]

On public sets all order the same passages, so that the ranking alone differs; on the real documents each recipe has cut
them as it says, with one encoder for all. A page counts where a passage on it is among the first five.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import get_args

from benchmarks.report import machine, write_table
from benchmarks.retrieval.page_questions import PageQuestion, gold_questions, own_questions, rank_of
from benchmarks.retrieval.statutes import assemble_statutes
from ingestion.add_files import add_paths
from rag_engine.backends.encoder.load import load_encoder
from rag_engine.backends.identify_language import identify_language
from rag_engine.config import DATA, RetrievalProfile, changed, read_config
from rag_engine.engine import Engine, open_engine
from rag_engine.evaluation.configurations import Configuration
from rag_engine.evaluation.datasets import read_dataset
from rag_engine.evaluation.run_retrieval import run_retrieval
from rag_engine.evaluation.vector_cache import vectors_folder

ROOT = Path(__file__).resolve().parents[2]
STATUTES = "statutes_in"
SETS = (STATUTES, "aila_statutes", "legalquad_de")
FIRST = 5
PAGES = ("pages, one document", "pages, several documents")
CONFIGURATIONS = (
    Configuration("default", ""),
    Configuration("default, the rules' variants at .1", "", {"rule_variants": True, "variant_weight": 0.1}),
    Configuration("default, the rules' variants at .3", "", {"rule_variants": True, "variant_weight": 0.3}),
    Configuration("default, MMR at .5", "", {"mmr_lambda": 0.5}),
    Configuration("rrf", "", {"profile": "rrf"}),
    Configuration("paper", "", {"profile": "paper", "top_k": 15}, keywords="spaces"),
    Configuration(
        "paper, the rules' variants", "", {"profile": "paper", "top_k": 15, "rule_variants": True}, keywords="spaces"
    ),
    Configuration("statutes", "", {"profile": "statutes", "top_k": 5}),
)


def on_public_sets(shared: Path) -> dict[str, list[str]]:
    """Return nDCG@10 of every configuration on every set, as cells by the configuration's name."""
    config = read_config()
    embedder = load_encoder(config.encoder, config.execution)
    cells: dict[str, list[str]] = {one.name: [] for one in CONFIGURATIONS}
    benchmarks = shared / "data" / "benchmarks"
    with TemporaryDirectory(prefix="sextant-measure-") as away:
        statutes = assemble_statutes(benchmarks / STATUTES, DATA / "eval" / STATUTES, Path(away) / STATUTES)
        for name in SETS:
            folder = statutes if name == STATUTES else benchmarks / name
            dataset = read_dataset(folder, "dev", identify=identify_language)
            [report] = run_retrieval([dataset], CONFIGURATIONS, config, embedder, cache=vectors_folder(), times=False)
            for one in report.measured:
                cells[one.name].append(f"{one.metrics['ndcg@10'].mean():.3f}")
                print(name, one.name, cells[one.name][-1], flush=True)
    return cells


def on_real_documents(shared: Path) -> dict[str, list[str]]:
    """Return for every recipe, by name, how many pages that answer are among its first passages."""
    single = [one for one in own_questions() if len(one.needed) == 1] + gold_questions()
    several = [one for one in own_questions() if len(one.needed) > 1]
    cells = {}
    for profile in get_args(RetrievalProfile):
        with TemporaryDirectory(prefix="sextant-measure-") as folder:
            # Agreed with to the third digit by every execution, of which torch is the slowest.
            engine = open_engine(replace(read_config(Path(folder), profile), execution="auto"))
            add_paths([shared / "data" / "corpus"], engine)
            cells[profile] = [found(engine, questions) for questions in (single, several)]
            engine.close()
    return cells


def found(engine: Engine, questions: Sequence[PageQuestion]) -> str:
    """Return how many of the pages needed are among the first passages."""
    settings = changed(engine.config.retrieval, similarity_floor=0.0)
    right = needed = 0
    for question in questions:
        sources = [
            [(hit.document.file, range(hit.page, hit.last_page + 1)) for hit in source.hits]
            for source in engine.search(question.text, None, settings).sources[:FIRST]
        ]
        needed += len(question.needed)
        right += sum(rank_of(sources, part) < FIRST for part in question.needed)
    return f"{right} of {needed}"


def write_sets(shared: Path) -> None:
    """Write the table of the public sets."""
    write_table(
        "recipes",
        "The published recipes beside the default",
        ["recipe", *SETS],
        [[name, *cells] for name, cells in on_public_sets(shared).items()],
        [
            machine(),
            "`python -m benchmarks.retrieval.recipes --only sets`; development halves, nDCG@10 (statutes gives five "
            "documents at most).",
        ],
    )


def write_pages(cells: dict[str, list[str]]) -> None:
    """Write the table of the real documents."""
    write_table(
        "recipe_pages",
        "The published recipes over real documents, each cut as it says",
        ["recipe", *PAGES],
        [[name, *found_of] for name, found_of in cells.items()],
        [
            machine(),
            f"`python -m benchmarks.retrieval.recipes --only pages`; pages that answer among the first {FIRST} "
            "passages, with one encoder for all.",
        ],
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shared", type=Path, default=Path(os.environ.get("SEXTANT_SHARED", ROOT.parent / "shared")))
    parser.add_argument("--only", choices=("sets", "pages"), help="one of the two tables alone")
    arguments = parser.parse_args()
    shared = arguments.shared.resolve()
    if arguments.only != "pages":
        write_sets(shared)
    if arguments.only != "sets":
        write_pages(on_real_documents(shared))


if __name__ == "__main__":
    main()
