"""Tables of measurements, printed and kept in benchmarks/results/."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path

from rag_engine.evaluation.report import machine

__all__ = ["RESULTS", "machine", "write_csv", "write_table"]

RESULTS = Path(__file__).parent / "results"


def write_table(
    name: str, title: str, columns: Sequence[str], rows: Sequence[Sequence[str]], notes: Sequence[str]
) -> None:
    """Print a Markdown table and write it to benchmarks/results/NAME.md."""
    lines = [f"# {title}", "", "| " + " | ".join(columns) + " |", "|" + " --- |" * len(columns)]
    lines += ["| " + " | ".join(row) + " |" for row in rows]
    text = "\n".join([*lines, "", *(f"- {note}" for note in notes), ""])
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"{name}.md").write_text(text, encoding="utf-8")
    print(text)


def write_csv(name: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Write benchmarks/results/NAME.csv."""
    RESULTS.mkdir(exist_ok=True)
    with (RESULTS / f"{name}.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([columns, *rows])
