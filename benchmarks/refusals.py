"""Questions that the collection cannot answer: how many are refused, beside those that it answers.

    python benchmarks/refusals.py [--workspace DIR] [--shared DIR]

The questions without an answer are those of data/eval/unanswerable.tsv; the answerable ones are those of
benchmarks/page_questions.py. Below what happens today stands what the nearness of the passages alone would refuse
(best similarity and shared words, as answering has it), and what the best passage's similarity alone would.
"""

from __future__ import annotations

import argparse
import csv
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from page_questions import gold_questions, own_questions
from report import machine, write_table

from ingestion.add_files import add_paths
from rag_engine.answering.abstention import NEAREST, nearness
from rag_engine.config import DATA, read_config
from rag_engine.engine import Engine, open_engine
from rag_engine.types import Answer

ROOT = Path(__file__).resolve().parents[1]
WITHOUT_ANSWER = DATA / "eval" / "unanswerable.tsv"
ANSWERABLE = "answerable"
KINDS = (ANSWERABLE, "off-topic", "not in the collection", "wrong country", "wrong year", "absent section")
NEARNESS = (0.50, 0.55, 0.58, NEAREST, 0.62, 0.65, 0.70, 0.75, 0.80)
SIMILARITY = (0.40, 0.45, 0.48, 0.52, 0.56, 0.60)


@dataclass(frozen=True, slots=True)
class Asked:
    """A question that was asked: whether it was refused, how near the passages came, and the best one's similarity."""

    refused: bool
    nearness: float
    similarity: float


def ask(engine: Engine, question: str) -> Asked:
    """Ask a question without a language model."""
    *_, answer = engine.ask(question)
    assert isinstance(answer, Answer)
    found = [hit.similarity for hit in answer.evidence.hits]
    refused = answer.status == "insufficient_evidence"
    return Asked(refused, nearness(answer.evidence), max(found, default=0.0))


def row(name: str, refused: Mapping[str, Sequence[bool]]) -> list[str]:
    """Return how many questions of each kind are refused, and the share of all that have no answer."""
    without = [one for kind, ones in refused.items() if kind != ANSWERABLE for one in ones]
    shown = [f"{sum(refused[kind])} of {len(refused[kind])}" for kind in KINDS]
    return [name, *shown, f"{sum(without) / len(without):.0%}"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workspace", type=Path, help="one that holds the documents already")
    parser.add_argument("--shared", type=Path, default=Path(os.environ.get("SEXTANT_SHARED", ROOT.parent / "shared")))
    arguments = parser.parse_args()
    questions: dict[str, list[str]] = {kind: [] for kind in KINDS}
    questions[ANSWERABLE] = [one.text for one in (*own_questions(), *gold_questions())]
    with WITHOUT_ANSWER.open(encoding="utf-8", newline="") as file:
        for one in csv.DictReader(file, delimiter="\t"):
            questions[one["kind"]].append(one["question"])
    with TemporaryDirectory(prefix="sextant-measure-") as folder:
        engine = open_engine(read_config(arguments.workspace or Path(folder)))
        if not arguments.workspace:
            add_paths([arguments.shared / "data" / "corpus"], engine)
        asked = {kind: [ask(engine, text) for text in texts] for kind, texts in questions.items()}
        engine.close()
    rows = [row("today", {kind: [one.refused for one in ones] for kind, ones in asked.items()})]
    for least in NEARNESS:
        by_nearness = {kind: [one.nearness < least for one in ones] for kind, ones in asked.items()}
        rows.append(row(f"nearness below {least:.2f}", by_nearness))
    for least in SIMILARITY:
        by_similarity = {kind: [one.similarity < least for one in ones] for kind, ones in asked.items()}
        rows.append(row(f"best similarity below {least:.2f}", by_similarity))
    write_table(
        "refusals",
        "Questions refused because the documents do not answer them",
        ["rule", *KINDS, "of all without an answer"],
        rows,
        [machine(), "`python benchmarks/refusals.py`, no language model; in-sample."],
    )


if __name__ == "__main__":
    main()
