"""Precision and recall of the licence traffic light, and its verdicts in a second without a network.

    python -m benchmarks.pipeline.licences      writes benchmarks/results/licences.md

The patterns were written while reading `licences.tsv`, `licence_statements.tsv` and half of `licence_clauses.tsv`:
their figures say what the patterns cover. data/eval/README.md tells how they fared on the other half at first.
"""

from __future__ import annotations

import csv
import html
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.report import machine, write_table
from ingestion.licence.check import decide
from ingestion.licence.html_marks import marks_of
from ingestion.licence.patterns import read_statements
from ingestion.types.licence import LicenceVerdict
from ingestion.web.html import parse
from ingestion.web.trusted_domains import domain_mark

FOLDER = Path(__file__).parents[2] / "data" / "eval"
LIGHTS = ("GREEN", "YELLOW", "RED")
TIMED = 500


@dataclass(frozen=True, slots=True)
class Case:
    """A text with what a person says of it."""

    id: str
    lang: str
    light: str
    licence: str
    restrictions: str
    conflict: bool
    link: str
    subject: str
    half: str
    text: str


def read_cases(path: Path) -> list[Case]:
    """Return the cases of a tab-separated file.

    The columns `link`, `subject`, `half` and `licence` may be missing.
    """
    with path.open(encoding="utf-8", newline="") as file:
        rows = csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
        return [
            Case(
                row["id"],
                row["lang"],
                row["light"],
                row.get("licence") or "",
                row["restrictions"],
                row["conflict"] == "yes",
                row.get("link") or "",
                row.get("subject") or "",
                row.get("half") or "",
                row["text"],
            )
            for row in rows
        ]


def judge_case(case: Case) -> LicenceVerdict:
    """Return the verdict of marks and patterns on a case, its link read as the page's licence link."""
    page = f'<html><head><link rel="license" href="{html.escape(case.link)}"></head></html>'
    root = parse(page) if case.link else None
    marks = marks_of(root, "https://example.org/") if root is not None else []
    return decide([*marks, *read_statements(case.text, "page")])


def measure(name: str, cases: Sequence[Case]) -> list[tuple[str, ...]]:
    """Return for each light: how many there are, precision, recall, and what the others were taken for."""
    verdicts = [judge_case(case) for case in cases]
    rows: list[tuple[str, ...]] = []
    for light in LIGHTS:
        said = [case for case, verdict in zip(cases, verdicts, strict=True) if verdict.light == light]
        meant = [verdict for case, verdict in zip(cases, verdicts, strict=True) if case.light == light]
        right = sum(case.light == light for case in said)
        missed = Counter(verdict.light for verdict in meant if verdict.light != light)
        rows.append(
            (
                name,
                light,
                str(len(meant)),
                f"{right / len(said):.3f}" if said else "-",
                f"{right / len(meant):.3f}" if meant else "-",
                ", ".join(f"{count} as {other}" for other, count in missed.items()) or "none",
            )
        )
    return rows


def rate(step: Callable[[Case], object], cases: Sequence[Case]) -> float:
    """Return how many cases a second the step takes, over TIMED of them."""
    step(cases[0])
    repeated = [cases[i % len(cases)] for i in range(TIMED)]
    start = time.perf_counter()
    for case in repeated:
        step(case)
    return TIMED / (time.perf_counter() - start)


def main() -> None:
    """Print and write the table."""
    clauses = read_cases(FOLDER / "licence_clauses.tsv")
    cases = {
        "snippets": read_cases(FOLDER / "licences.tsv"),
        "statements": read_cases(FOLDER / "licence_statements.tsv"),
        "clauses, dev": [case for case in clauses if case.half == "dev"],
        "clauses, held out": [case for case in clauses if case.half == "heldout"],
    }
    everything = [case for listed in cases.values() for case in listed]
    escaped = [
        case.id for case in everything if (case.light == "RED" or case.conflict) and judge_case(case).light == "GREEN"
    ]
    green = [case for case in everything if case.light == "GREEN" and judge_case(case).light == "GREEN"]
    dangerous = sum(case.light == "RED" or case.conflict for case in everything)
    told = sum(",".join(judge_case(case).restrictions) == case.restrictions for case in green)
    elsewhere = [case for case in clauses if case.subject != "document"]
    freed = [case.id for case in elsewhere if judge_case(case).light == "GREEN"]
    write_table(
        "licences",
        "The licence traffic light without a language model",
        ("file", "light", "texts", "precision", "recall", "missed"),
        [row for name, listed in cases.items() for row in measure(name, listed)],
        (
            "`python -m benchmarks.pipeline.licences`",
            f"RED or conflicting texts that came out GREEN: {len(escaped)} of {dangerous} {' '.join(escaped)}".strip()
            + ".",
            f"NC, ND and SA of what is GREEN are told rightly in {told} of {len(green)}.",
            f"Statements about something else than the document that came out GREEN: {len(freed)} of {len(elsewhere)} "
            f"{' '.join(freed)}".strip()
            + ".",
            "The patterns were written with all but the last half at hand; data/eval/README.md says how that half was "
            "kept and what it gave at first.",
            f"{rate(judge_case, everything):,.0f} verdicts a second from marks and patterns, "
            f"{rate(lambda _: domain_mark('https://eur-lex.europa.eu/eli/reg/2021/1119/oj'), everything):,.0f} "
            "from the host's name alone; one core, no network.",
            machine("lxml"),
        ),
    )


if __name__ == "__main__":
    main()
