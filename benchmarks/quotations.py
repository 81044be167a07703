"""Quotations where no language model answers: how often they hold the sentence that answers, by how they are chosen.

    python benchmarks/quotations.py [--workspace DIR] [--shared DIR]

The questions are those of data/eval/passages.jsonl, each with the sentences that answer it. A quotation answers where
half of the runs of four words of such a sentence are in it, or half of its own are in the sentence. Each question is
searched once; every row chooses from the same sources.
"""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory

from report import machine, write_table

from ingestion.add_files import add_paths
from rag_engine.answering.quotations.extractive import ExtractiveAnswerer, Quoting
from rag_engine.config import DATA, read_config
from rag_engine.engine import open_engine
from rag_engine.evaluation.gold import GoldQuestion, read_gold
from rag_engine.evaluation.vector_cache import CachedEmbedder, vectors_folder
from rag_engine.protocols import Embedder, PassageReader
from rag_engine.text.folding import fold
from rag_engine.types import Source

ROOT = Path(__file__).resolve().parents[1]
RUN = 4
# Whether the reader is asked, and how quotations are chosen.
WAYS = {
    "as it is": (True, Quoting()),
    "by likeness, without a reader": (False, Quoting()),
    "the reader counts .5": (True, Quoting(reader=0.5)),
    "the reader counts .7": (True, Quoting(reader=0.7)),
    "the reader alone": (True, Quoting(reader=1.0)),
    "what is asked for does not count": (True, Quoting(asked=0.0)),
    "what is asked for counts .2": (True, Quoting(asked=0.2)),
    "the source's rank does not count": (True, Quoting(rank=0.0)),
    "the source's rank counts .3": (True, Quoting(rank=0.3)),
    "shared words do not count": (True, Quoting(keywords=0.0)),
    "at most 4": (True, Quoting(most=4)),
    "margin .15": (True, Quoting(margin=0.15)),
    "margin .35": (True, Quoting(margin=0.35)),
    "of one source at most 2": (True, Quoting(of_one=2)),
}


@dataclass(frozen=True, slots=True)
class Found:
    """A question with the sources that a search finds."""

    question: GoldQuestion
    sources: tuple[Source, ...]


def answers(quotation: str, question: GoldQuestion) -> bool:
    """Return whether a quotation holds a sentence that answers, or is a good part of one."""
    mine = runs(quotation)
    theirs = [runs(quote.quote) for quote in question.quotes]
    return any(2 * len(mine & one) >= min(len(one), max(len(mine), RUN)) for one in theirs)


def runs(text: str) -> set[tuple[str, ...]]:
    """Return every run of four words of a text; of a shorter one its words together."""
    words = re.findall(r"\w+", fold(text))
    return {tuple(words[at : at + RUN]) for at in range(max(len(words) - RUN + 1, 1))}


def row(
    embedder: Embedder, reader: PassageReader | None, name: str, quoting: Quoting, found: Sequence[Found]
) -> list[str]:
    """Return how many of the questions of each half the first quotation answers, and any of them."""
    answerer = ExtractiveAnswerer(embedder, reader, quoting)
    cells, counts = [name], []
    for half in ("dev", "heldout"):
        judged = []
        for one in (one for one in found if one.question.split == half):
            chosen = answerer.choose(one.question.question, one.sources, one.question.language)
            counts.append(len(chosen))
            judged.append([answers(quotation.text, one.question) for quotation in chosen] or [False])
        first, any_of = sum(one[0] for one in judged), sum(map(any, judged))
        cells += [f"{first} of {len(judged)}", f"{any_of} of {len(judged)}"]
    return [*cells, f"{fmean(counts):.1f}"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workspace", type=Path, help="one that holds the documents already")
    parser.add_argument("--shared", type=Path, default=Path(os.environ.get("SEXTANT_SHARED", ROOT.parent / "shared")))
    arguments = parser.parse_args()
    questions = read_gold(DATA / "eval" / "passages.jsonl", "all")
    with TemporaryDirectory(prefix="sextant-measure-") as folder:
        engine = open_engine(read_config(arguments.workspace or Path(folder)))
        if not arguments.workspace:
            add_paths([arguments.shared / "data" / "corpus"], engine)
        found = [Found(one, engine.search(one.question).sources) for one in questions]
        reader = engine.reader()
        # The same sentences are read for every row.
        embedder = CachedEmbedder(engine.embedder(), vectors_folder())
        rows = [
            row(embedder, reader if asked else None, name, quoting, found) for name, (asked, quoting) in WAYS.items()
        ]
        engine.close()
    columns = [f"{half}: {which}" for half in ("dev", "heldout") for which in ("the first answers", "any answers")]
    write_table(
        "quotations",
        "Quotations that answer, by how they are chosen",
        ["way", *columns, "quotations a question"],
        rows,
        [
            machine(),
            f"`python benchmarks/quotations.py`; {len(questions)} questions in seven languages over real documents "
            "(data/eval/passages.jsonl); one change a row, chosen on dev.",
        ],
    )


if __name__ == "__main__":
    main()
