"""Quotations where no language model answers: how many are on a page that answers, by how they are chosen.

    python benchmarks/quotations.py [--workspace DIR] [--shared DIR]

The questions are those of benchmarks/page_questions.py. Each is searched once; every row chooses from the same sources.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from page_questions import PageQuestion, gold_questions, own_questions
from report import machine, write_table

from ingestion.add_files import add_paths
from rag_engine.answering.extractive import ExtractiveAnswerer, Quotation, Quoting
from rag_engine.config import read_config
from rag_engine.engine import Engine, open_engine
from rag_engine.evaluation.vector_cache import CachedEmbedder, vectors_folder
from rag_engine.protocols import Embedder
from rag_engine.storage.indexer import page_at
from rag_engine.types import Source

ROOT = Path(__file__).resolve().parents[1]
WAYS = {
    "as it is": Quoting(),
    "sentences without their document's header": Quoting(header=False),
    "the source's rank does not count": Quoting(rank=0.0),
    "the source's rank counts .3": Quoting(rank=0.3),
    "shared words do not count": Quoting(keywords=0.0),
    "shared words count .5": Quoting(keywords=0.5),
    "at most 4": Quoting(most=4),
    "at most 8": Quoting(most=8),
    "margin .15": Quoting(margin=0.15),
    "margin .35": Quoting(margin=0.35),
    "no second source brought in": Quoting(second=0.0),
    "of one source at most 2": Quoting(of_one=2),
}


@dataclass(frozen=True, slots=True)
class Found:
    """A question with the sources that a search finds."""

    question: PageQuestion
    sources: tuple[Source, ...]


def row(engine: Engine, embedder: Embedder, name: str, quoting: Quoting, found: Sequence[Found]) -> list[str]:
    """Return how many of what is needed is quoted from a right page, and how many of the quotations are."""
    answerer = ExtractiveAnswerer(embedder, quoting)
    needed = met = quoted = right = 0
    for one in found:
        chosen = answerer.choose(one.question.text, one.sources)
        pages = [(quote.source.document.file, page_of(engine, quote)) for quote in chosen]
        for part in one.question.needed:
            needed += 1
            met += any(page in part.get(file, ()) for file, page in pages)
        quoted += len(pages)
        right += sum(any(page in part.get(file, ()) for part in one.question.needed) for file, page in pages)
    return [name, f"{met} of {needed}", f"{right} of {quoted} ({right / quoted:.0%})", f"{quoted / len(found):.1f}"]


def page_of(engine: Engine, quote: Quotation) -> int:
    """Return the page that a quotation begins on."""
    return page_at(engine.catalog.lines(quote.source.document.key), quote.source.start + quote.start)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workspace", type=Path, help="one that holds the documents already")
    parser.add_argument("--shared", type=Path, default=Path(os.environ.get("SEXTANT_SHARED", ROOT.parent / "shared")))
    arguments = parser.parse_args()
    questions = [*own_questions(), *gold_questions()]
    with TemporaryDirectory(prefix="sextant-measure-") as folder:
        engine = open_engine(read_config(arguments.workspace or Path(folder)))
        if not arguments.workspace:
            add_paths([arguments.shared / "data" / "corpus"], engine)
        found = [Found(one, engine.search(one.text).sources) for one in questions]
        # The same sentences are read for every row.
        embedder = CachedEmbedder(engine.embedder(), vectors_folder())
        rows = [row(engine, embedder, name, quoting, found) for name, quoting in WAYS.items()]
        engine.close()
    write_table(
        "quotations",
        "Quotations from pages that answer, by how they are chosen",
        ["way", "needed pages quoted", "quotations from a right page", "quotations a question"],
        rows,
        [
            machine(),
            f"`python benchmarks/quotations.py`; {len(questions)} questions (data/eval/page_questions.tsv and "
            "data/eval/passages.jsonl, dev); one change a row.",
        ],
    )


if __name__ == "__main__":
    main()
