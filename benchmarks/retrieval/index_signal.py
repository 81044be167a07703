"""Gain by a book's own index: the same questions with the signal of the index and without.

    python -m benchmarks.retrieval.index_signal [--shared DIR]

Each book is added to a workspace of its own. Some entries of its index are asked for, once while they stand in the
index and once after they were taken out of it, and data/eval/index_questions.jsonl asks in words of its own.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from benchmarks.report import machine, write_table
from ingestion.add_files import add_paths
from rag_engine.config import DATA, read_config
from rag_engine.engine import Engine, open_engine
from rag_engine.evaluation.datasets import read_objects
from rag_engine.evaluation.metric import ranking_metrics
from rag_engine.evaluation.significance import Values, paired_difference
from rag_engine.retrieval.book_index_boost import match_index
from rag_engine.retrieval.ranking import rank
from rag_engine.storage.index_entries import OWN_INDEX, OWN_SOURCES, IndexedEntry, replace_index, stored_entries
from rag_engine.text.analyzer import surface
from rag_engine.types.document import DocumentRecord

ROOT = Path(__file__).resolve().parents[2]
BOOKS = {"es_lshort_latex_a4.pdf": "es", "it_lshort_latex.pdf": "it"}
QUESTIONS = DATA / "eval" / "index_questions.jsonl"
TEMPLATES = {"es": "¿Dónde se explica {}?", "it": "Dove si spiega {}?"}
ENTRIES = 150
TOP = 5


@dataclass(frozen=True, slots=True)
class Asked:
    """A question and the pages of the book that answer it."""

    text: str
    pages: frozenset[int]


@dataclass(frozen=True, slots=True)
class Scores:
    """nDCG@10 of the passages, and the share of the pages that the first five show, for each question."""

    ndcg: Values
    pages: Values


def chosen_entries(listed: Sequence[IndexedEntry]) -> dict[tuple[str, str], frozenset[int]]:
    """Return about ENTRIES entries of an index, at even distances, with their pages.

    An entry has several words, or is a command's name.
    """
    pages: dict[tuple[str, str], set[int]] = {}
    for one in listed:
        words = f"{one.term} {one.subterm}".split()
        # A command without a letter in it is nothing that can be asked for.
        if one.page and any(len(surface(word)) for word in words) and (len(words) > 1 or one.term.startswith("\\")):
            pages.setdefault((one.term, one.subterm), set()).add(one.page)
    every = max(1, len(pages) // ENTRIES)
    return {entry: frozenset(pages[entry]) for entry in list(pages)[::every][:ENTRIES]}


def own_questions(document: str) -> list[Asked]:
    """Return the questions in own words on a book."""
    return [
        Asked(values["question"], frozenset(values["pages"]))
        for values in (line.values for line in read_objects(QUESTIONS))
        if values["document"] == document
    ]


def scores(engine: Engine, record: DocumentRecord, questions: Sequence[Asked], weight: float) -> Scores:
    """How the book's passages are ranked for the questions with this weight of the index."""
    children = {child.key: child for child in engine.catalog.document_children(record.key)}
    spans = {key: frozenset(range(one.page, one.last_page + 1)) for key, one in children.items()}
    config, view = engine.retrieval(index_weight=weight), engine.collection.view()
    gains: list[float] = []
    shown: list[float] = []
    for one in questions:
        ranked = rank(engine.plan(one.text), None, view, engine.retrievers(), config).keys.tolist()
        judged = {str(key): 1 for key, pages in spans.items() if pages & one.pages}
        gains.append(ranking_metrics([str(key) for key in ranked[:100]], judged)["ndcg@10"])
        seen = frozenset[int]().union(*(spans[key] for key in ranked[:TOP]))
        shown.append(len(one.pages & seen) / len(one.pages))
    return Scores(np.array(gains), np.array(shown))


def named_share(engine: Engine, questions: Sequence[Asked], language: str) -> float:
    """Return the share of the questions that name any entry of the index as it stands."""
    index = engine.collection.view().index
    return sum(bool(match_index(index, one.text, language).passages) for one in questions) / len(questions)


def measured(engine: Engine, book: str, language: str) -> Iterator[list[str]]:
    """Yield the rows of a book: each condition with and without the index."""
    [record] = engine.collection.documents()
    listed = [one for one in stored_entries(engine.catalog, record.key) if one.source in OWN_SOURCES]
    entries = chosen_entries(listed)
    plain = [Asked(f"{term} {sub}".strip(), pages) for (term, sub), pages in entries.items()]
    asked = [Asked(TEMPLATES[language].format(one.text), one.pages) for one in plain]
    forms = {"the entry itself": plain, "a question with it": asked, "in own words": own_questions(book)}
    weight = engine.config.retrieval.weights.index_weight
    without = {form: scores(engine, record, questions, 0.0) for form, questions in forms.items()}

    def row(condition: str, form: str) -> list[str]:
        questions, base = forms[form], without[form]
        found = scores(engine, record, questions, weight)
        told = [book.partition(".")[0], condition, form, str(len(questions))]
        told.append(f"{named_share(engine, questions, language):.0%}")
        for with_index, plainly in ((found.ndcg, base.ndcg), (found.pages, base.pages)):
            gained = paired_difference(with_index, plainly)
            told += [f"{plainly.mean():.3f}", f"{with_index.mean():.3f}"]
            told.append(f"{gained.value:+.3f} ({gained.low:+.3f} to {gained.high:+.3f}; p {gained.p:.3f})")
        return told

    yield row("whole index", "the entry itself")
    yield row("whole index", "a question with it")
    yield row("whole index", "in own words")
    replace_index(engine.catalog, OWN_INDEX, {record.key: [x for x in listed if (x.term, x.subterm) not in entries]})
    yield row("asked entries left out", "the entry itself")
    yield row("asked entries left out", "a question with it")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shared", type=Path, default=ROOT.parent / "shared")
    folder = parser.parse_args().shared / "data" / "indexbook"
    rows: list[list[str]] = []
    for book, language in BOOKS.items():
        with TemporaryDirectory() as workspace:
            engine = open_engine(read_config(Path(workspace)))
            weight = engine.config.retrieval.weights.index_weight
            [added] = add_paths([folder / book], engine)
            if added.status != "indexed":
                raise SystemExit(f"{book}: {added.reason}")
            rows += measured(engine, book, language)
            engine.close()
    write_table(
        "index_signal",
        "The index of a book as a signal",
        [
            "book", "index", "questions", "number", "name an entry", "nDCG@10 without", "with", "difference",
            f"pages in the first {TOP} without", "with", "difference",
        ],
        rows,
        [
            f"`python -m benchmarks.retrieval.index_signal`; index_weight {weight:g} against 0; relevant is every "
            "passage on a "
            "page that answers. Differences are paired, with 95% intervals of the bootstrap and the p value of a "
            "randomisation test.",
            "**Whole index, entries: circular by construction.** The entry is the question, and it is the key under "
            "which the index keeps the pages that count as right. The figures say that the signal arrives, not that "
            "it helps anyone.",
            f"**Asked entries left out:** all {ENTRIES} asked entries of a book are taken out of its index at once, so "
            "the signal can only come from other entries. That is still half a circle: these books list most things "
            "twice, as in “comillas” and “signo, comillas”, so that of the asked entries of the Spanish one 129 leave "
            "an entry behind that shares a word and a page with them. It shows that related entries lead to the right "
            "pages too and that those which merely share a word do no harm on the whole, no more.",
            "**In own words** is the honest condition: 20 questions a book, written by reading the pages "
            "(data/eval/index_questions.jsonl), before any ranking of them was seen. They are few: only large "
            "differences show.",
            "The pages of the index are part of the books and are searched like all others; none of them counts as "
            "right.",
            machine(),
        ],
    )  # fmt: skip


if __name__ == "__main__":
    main()
