"""Answers to both sets of questions with reference answers, over the sample and the real documents.

    python -m benchmarks.answers.answers [--sample DIR] [--corpus DIR] [--shared DIR]

DIR is a workspace that holds the documents already; without one they are added to a temporary one. The rows are kept
in the workspace, so that a stopped run goes on. The answers are those of the model that answers there, and quotations
without one. The table shows the figures of `sextant eval answers GOLD`.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory

from benchmarks.report import machine, write_table
from ingestion.add_files import add_paths
from rag_engine.config import DATA, read_config
from rag_engine.engine import open_engine
from rag_engine.evaluation.answers.measure import measure_answers
from rag_engine.evaluation.answers.rows import AnswerRow
from rag_engine.evaluation.answers.run_answers import AnswersRequest
from rag_engine.evaluation.answers.scoring import METRICS

ROOT = Path(__file__).resolve().parents[2]
GOLD = DATA / "eval" / "gold"
COLUMNS = ("questions", "group", "answered", "refused", *METRICS[1:])


def table(name: str, rows: Sequence[AnswerRow]) -> Iterator[list[str]]:
    """Yield the figures of a set over all questions, each kind, each language and each half."""
    yield cells(name, "all", rows)
    for field in ("kind", "language", "split"):
        for group in sorted({value for row in rows if (value := str(getattr(row, field)))}):
            yield cells(name, group, [row for row in rows if str(getattr(row, field)) == group])


def cells(name: str, group: str, rows: Sequence[AnswerRow]) -> list[str]:
    """Return how many answerable questions are answered and others refused, and the mean of each figure."""
    counted = []
    for answerable in (True, False):
        rightly = [row.figures["abstention"] == 1 for row in rows if row.answerable == answerable]
        counted.append(f"{sum(rightly)} of {len(rightly)}")
    means = [[value for row in rows if (value := row.figures[metric]) is not None] for metric in METRICS[1:]]
    return [name, group, *counted, *(f"{fmean(values):.3f}" if values else "" for values in means)]


def write(sets: Sequence[tuple[str, Sequence[AnswerRow]]], generators: Sequence[str]) -> None:
    """Write the table of the sets, whose answers are by these generators."""
    write_table(
        "answers",
        "Answers to the questions with reference answers",
        COLUMNS,
        [line for name, rows in sets for line in table(name, rows)],
        [
            machine(),
            f"`python -m benchmarks.answers.answers`; answers by: {', '.join(generators)}. `answered`: questions with "
            "an "
            "answer that got one; `refused`: questions without one that got none; the other figures are means over the "
            "questions with an answer, 0 where one was refused; support is the share of claims labelled supported, of "
            "answers that a model wrote.",
            "sample.jsonl asks the 30 documents that come with the program, corpus.jsonl the real documents of "
            "SEXTANT_SHARED, with the passages and halves of passages.jsonl (data/eval/README.md).",
        ],
    )


def measured(name: str, workspace: Path | None, documents: Path) -> tuple[AnswerRow, ...]:
    """Return the rows of a set of questions, asked of a workspace or of the documents."""
    with (
        TemporaryDirectory(prefix="sextant-measure-") as folder,
        closing(open_engine(read_config(workspace or Path(folder)))) as engine,
    ):
        if workspace is None:
            add_paths([documents], engine)
        return measure_answers(engine, AnswersRequest(str(GOLD / name))).run.rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sample", type=Path, help="workspace that holds the sample")
    parser.add_argument("--corpus", type=Path, help="workspace that holds the real documents")
    parser.add_argument("--shared", type=Path, default=Path(os.environ.get("SEXTANT_SHARED", ROOT.parent / "shared")))
    arguments = parser.parse_args()
    sets = [
        ("sample.jsonl", measured("sample.jsonl", arguments.sample, DATA / "sample" / "documents")),
        ("corpus.jsonl", measured("corpus.jsonl", arguments.corpus, arguments.shared / "data" / "corpus")),
    ]
    write(sets, sorted({row.generator for _, rows in sets for row in rows if row.generator}))


if __name__ == "__main__":
    main()
