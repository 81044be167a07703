"""Questions to real documents, judged by the page: which rule for how many passages a document may bring.

    python benchmarks/page_questions.py [--workspace DIR] [--shared DIR]

data/eval/page_questions.tsv has questions with the pages that answer, some of which need several documents; the
development half of data/eval/passages.jsonl is judged by the pages of its quotes. Every rule orders the same ranking.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from report import machine, write_table

from ingestion.add_files import add_paths
from rag_engine.config import DATA, RetrievalConfig, changed, read_config
from rag_engine.engine import Engine, open_engine
from rag_engine.evaluation.gold import read_gold
from rag_engine.types import Source

ROOT = Path(__file__).resolve().parents[1]
QUESTIONS = DATA / "eval" / "page_questions.tsv"
GOLD = DATA / "eval" / "passages.jsonl"
FIRST, TOP = 5, 10
SHARES = (1.0, 0.95, 0.9, 0.85, 0.8, 0.7)

# Pages of a document.
Pages = Mapping[str, frozenset[int]]


@dataclass(frozen=True, slots=True)
class PageQuestion:
    """A question and what answers it: for each thing needed the documents that give it, with their pages."""

    text: str
    needed: tuple[Pages, ...]


def own_questions() -> list[PageQuestion]:
    """Return the questions of the committed table; " + " joins what is needed together, " | " what is as good."""
    rows = [line.split("\t") for line in QUESTIONS.read_text(encoding="utf-8").splitlines()[1:]]
    return [PageQuestion(text, tuple(pages_of(part) for part in places.split(" + "))) for _, text, places in rows]


def pages_of(alternatives: str) -> Pages:
    """Return the pages of "a.pdf 1,2 | b.pdf 3"."""
    pairs = [one.rsplit(" ", 1) for one in alternatives.split(" | ")]
    return {file: frozenset(map(int, pages.split(","))) for file, pages in pairs}


def gold_questions() -> list[PageQuestion]:
    """Return the questions with known passages; any of their documents answers."""
    found = []
    for one in read_gold(GOLD, "dev"):
        files = dict.fromkeys(quote.document for quote in one.quotes)
        pages = {file: frozenset(q.page for q in one.quotes if q.document == file) for file in files}
        found.append(PageQuestion(one.question, (pages,)))
    return found


def answers(sources: Sequence[Source], pages: Pages, first: int) -> bool:
    """Return whether one of the first sources was found on one of the pages."""
    hits = [hit for source in sources[:first] for hit in source.hits]
    return any(
        not pages.get(hit.document.file, frozenset()).isdisjoint(range(hit.page, hit.last_page + 1)) for hit in hits
    )


def row(engine: Engine, name: str, settings: RetrievalConfig, groups: Sequence[Sequence[PageQuestion]]) -> list[str]:
    """Return what a rule reaches on the questions to one document, the gold and those to several documents."""
    cells, found = [name], []
    for questions in groups:
        found = [(engine.search(one.text, retrieval=settings).sources, one.needed) for one in questions]
        needed = sum(len(parts) for _, parts in found)
        for first in (1, FIRST, TOP):
            met = sum(answers(sources, part, first) for sources, parts in found for part in parts)
            cells.append(f"{met} of {needed}")
    whole = sum(all(answers(sources, part, TOP) for part in parts) for sources, parts in found)
    return [*cells, f"{whole} of {len(found)}"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workspace", type=Path, help="one that holds the documents already")
    parser.add_argument("--shared", type=Path, default=Path(os.environ.get("SEXTANT_SHARED", ROOT.parent / "shared")))
    arguments = parser.parse_args()
    own = own_questions()
    groups = [
        [one for one in own if len(one.needed) == 1],
        gold_questions(),
        [one for one in own if len(one.needed) > 1],
    ]
    with TemporaryDirectory(prefix="sextant-measure-") as folder:
        engine = open_engine(read_config(arguments.workspace or Path(folder)))
        if not arguments.workspace:
            add_paths([arguments.shared / "data" / "corpus"], engine)
        default = engine.config.retrieval
        rows = []
        for share in SHARES:
            name = f"each leaves {share:g} to the others" if share < 1 else "no limit"
            name += " (default)" if share == default.weights.repeat_share else ""
            rows.append(row(engine, name, changed(default, repeat_share=share), groups))
        engine.close()
    columns = [
        f"{name}, {depth}"
        for name in ("one document", "passages", "several documents")
        for depth in ("first", f"first {FIRST}", f"first {TOP}")
    ]
    write_table(
        "page_questions",
        "Pages that answer, by how many passages a document may bring",
        ["rule", *columns, "all of them"],
        rows,
        [
            machine(),
            "`python benchmarks/page_questions.py`; a page counts where a passage found on it is among the first.",
            f"{len(groups[0])} questions to one document and {len(groups[2])} that need several "
            f"(data/eval/page_questions.tsv), {len(groups[1])} with known passages (data/eval/passages.jsonl, dev).",
        ],
    )  # fmt: skip


if __name__ == "__main__":
    main()
