"""Time and worth of reading more or less of the passages found.

    python -m benchmarks.answers.reading_depth [--workspace DIR] [--shared DIR]

Every third question of benchmarks/answers/quotations.py. The chances are those fitted for what is read today.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from dataclasses import replace
from statistics import fmean
from unittest.mock import patch

from benchmarks.answers.quotations import (
    DEPTH,
    REWORDED,
    Found,
    across_languages,
    answers,
    grouped,
    ndcg,
    quotations_row,
    search,
)
from benchmarks.corpus import add_corpus_options, corpus_engine
from benchmarks.report import machine, write_table
from rag_engine.answering.quotations.extractive import Quoting
from rag_engine.config import DATA
from rag_engine.evaluation.gold import read_gold
from rag_engine.protocols import PassageReader
from rag_engine.retrieval import ranking, rerank_passages
from rag_engine.retrieval.tuning import READ, WINDOW
from rag_engine.types.passage import PassageReading

EVERY = 3
# Passages, and the characters of each; a passage has 1,200 at most.
WAYS = ((READ, WINDOW), (6, 600), (20, 600), (12, 300), (12, 1_200), (20, 1_200))


class TimedReader:
    """A reader that counts its seconds."""

    def __init__(self, reader: PassageReader) -> None:
        self.name, self.execution, self._reader, self.seconds = reader.name, reader.execution, reader, 0.0

    def read(self, question: str, passages: Sequence[str]) -> list[PassageReading]:
        """Return the readings of the reader."""
        started = time.perf_counter()
        found = self._reader.read(question, passages)
        self.seconds += time.perf_counter() - started
        return found


def way_row(passages: int, characters: int, found: Sequence[Found], reader: TimedReader) -> list[str]:
    """Return the time a question, nDCG@10 by kind of question, and how often quotations answer."""
    order = [
        f"{fmean(ndcg([answers(hit.text, one.question) for hit in one.evidence.hits[:DEPTH]]) for one in group):.3f}"
        for group in grouped(found).values()
    ]
    seconds = reader.seconds
    _, first, any_of, _ = quotations_row("", Quoting(), found, reader)
    today = " (today)" if (passages, characters) == (READ, WINDOW) else ""
    return [f"{passages} x {characters:,}{today}", f"{1000 * seconds / len(found):.0f} ms", *order, first, any_of]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_corpus_options(parser)
    arguments = parser.parse_args()
    plain = read_gold(DATA / "eval" / "passages.jsonl", "all")
    questions = [*plain, *(replace(one, split=REWORDED) for _, one in across_languages("dev"))][::EVERY]
    rows = []
    with corpus_engine(arguments) as engine:
        loaded = engine.models.reader()
        assert loaded is not None, "SEXTANT_READER is none"
        for passages, characters in WAYS:
            reader = TimedReader(loaded)
            retrievers = replace(engine.retrievers(), reader=lambda reader=reader: reader)
            with patch.object(ranking, "READ", passages), patch.object(rerank_passages, "WINDOW", characters):
                found = search(engine, retrievers, questions, {})
            rows.append(way_row(passages, characters, found, reader))
    write_table(
        "reading_depth",
        "How much of the passages found is read",
        [
            "passages x characters",
            "reading a question",
            "nDCG@10 plain, one language",
            "plain, across",
            "reworded, one language",
            "reworded, across",
            "first quotation answers",
            "any answers",
        ],
        rows,
        [machine(), f"`python -m benchmarks.answers.reading_depth`; {len(questions)} questions, nothing else running."],
    )


if __name__ == "__main__":
    main()
