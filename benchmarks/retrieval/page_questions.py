"""Questions to real documents, judged by the page: rules for the passages a document may bring.

    python -m benchmarks.retrieval.page_questions [--workspace DIR] [--shared DIR]

data/eval/page_questions.tsv has questions with the pages that answer, some of which need several documents; the
development half of data/eval/passages.jsonl is judged by the pages of its quotes. Every rule orders the same ranking.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks.corpus import add_corpus_options, corpus_engine
from benchmarks.report import machine, write_table
from rag_engine.answering_documents import answering_documents
from rag_engine.config import DATA
from rag_engine.engine import Engine
from rag_engine.evaluation.gold import read_gold
from rag_engine.retrieval.diversity import Candidate, admit
from rag_engine.retrieval.ranking import rank

QUESTIONS = DATA / "eval" / "page_questions.tsv"
GOLD = DATA / "eval" / "passages.jsonl"
DEPTHS = (1, 5, 10)
# Children of a ranking that are looked at.
DEPTH = 300
CAPS = (2, 3, 4)
SHARES = (1.0, 0.95, 0.9, 0.85, 0.8, 0.7)

# Pages of a document.
Pages = Mapping[str, frozenset[int]]


@dataclass(frozen=True, slots=True)
class PageQuestion:
    """A question and what answers it: for each thing needed the documents that give it, with their pages."""

    text: str
    needed: tuple[Pages, ...]


def own_questions() -> list[PageQuestion]:
    """Return the questions of the committed table.

    In it " + " joins places that are needed together, " | " places that are equally good.
    """
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


@dataclass(frozen=True, slots=True)
class RankedPages:
    """The ranking of a question, and the document and pages of each of its children."""

    needed: tuple[Pages, ...]
    candidates: tuple[Candidate, ...]
    pages: Mapping[int, tuple[str, range]]


def ranked(engine: Engine, question: PageQuestion) -> RankedPages:
    """Return the ranking of a question in the whole collection, without a floor."""
    view, plan = engine.collection.view(), engine.plan(question.text)
    documents = view.snapshot.documents
    allowed = answering_documents({}, view.snapshot.facets, documents)
    found = rank(plan, allowed, view, engine.retrievers(), engine.config.retrieval)
    found = found.taken(np.arange(min(DEPTH, len(found.keys))))
    records = view.catalog.children(found.keys.tolist())
    rows = zip(found.keys.tolist(), found.owners.tolist(), found.scores.tolist(), strict=True)
    candidates = [Candidate(key, owner, records[key].parent.key, 1.0, True, score) for key, owner, score in rows]
    pages = {
        key: (documents[one.document_key].file, range(one.page, one.last_page + 1)) for key, one in records.items()
    }
    return RankedPages(question.needed, tuple(candidates), pages)


def row(name: str, groups: Sequence[Sequence[RankedPages]], share: float, cap: int) -> list[str]:
    """Return a rule's figures on questions to one document, the gold ones and those to several documents."""
    cells, whole = [name], 0
    for questions in groups:
        needed = sum(len(one.needed) for one in questions)
        met = dict.fromkeys(DEPTHS, 0)
        whole = 0
        for one in questions:
            found = admit(one.candidates, top_k=DEPTHS[-1], floor=0, keyword_floor=0, share=share, cap=cap)
            sources = [[one.pages[child.key] for child in family] for family in found.values()]
            ranks = [rank_of(sources, part) for part in one.needed]
            met = {first: count + sum(rank < first for rank in ranks) for first, count in met.items()}
            whole += all(rank < DEPTHS[-1] for rank in ranks)
        cells += [f"{count} of {needed}" for count in met.values()]
    return [*cells, f"{whole} of {len(groups[-1])}"]


def rank_of(sources: Sequence[Sequence[tuple[str, range]]], pages: Pages) -> int:
    """Return the place, from 0, of the first source with a passage on one of the pages.

    Without one it is past the end.
    """
    hits = [
        place
        for place, source in enumerate(sources)
        if any(not pages.get(file, frozenset()).isdisjoint(on) for file, on in source)
    ]
    return hits[0] if hits else len(sources) + DEPTHS[-1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_corpus_options(parser)
    arguments = parser.parse_args()
    own = own_questions()
    groups = [
        [one for one in own if len(one.needed) == 1],
        gold_questions(),
        [one for one in own if len(one.needed) > 1],
    ]
    with corpus_engine(arguments) as engine:
        chosen = engine.config.retrieval.weights.repeat_share
        rankings = [[ranked(engine, one) for one in questions] for questions in groups]
    rows = [row(f"at most {cap}", rankings, 1.0, cap) for cap in CAPS]
    for share in SHARES:
        name = "no limit" if share == 1 else f"each leaves {share:g}" + (" (default)" if share == chosen else "")
        rows.append(row(name, rankings, share, 0))
    columns = [
        f"{name}, first {depth}" for name in ("one document", "passages", "several documents") for depth in DEPTHS
    ]
    write_table(
        "page_questions",
        "Pages that answer, by how many passages a document may bring",
        ["rule", *columns, "all of them"],
        rows,
        [
            machine(),
            "`python -m benchmarks.retrieval.page_questions`; a page counts where a passage on it is among the first; "
            "no floor.",
            f"{len(groups[0])} questions to one document and {len(groups[2])} that need several "
            f"(data/eval/page_questions.tsv), {len(groups[1])} with known passages (data/eval/passages.jsonl, dev).",
        ],
    )


if __name__ == "__main__":
    main()
