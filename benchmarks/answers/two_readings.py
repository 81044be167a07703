"""Short questions after another one: how many are asked in full, and how many as they are written.

    python -m benchmarks.answers.two_readings [--workspace DIR] [--shared DIR]

The questions are those of data/eval/two_readings.tsv, asked of the shared documents. Where the words alone do not say
whether a question leans on the one before it, both readings are searched for. The shares of a chance by which one is
chosen (rag_engine/planning/two_readings.py) were set on dev.
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks.corpus import add_corpus_options, corpus_engine
from benchmarks.report import machine, write_table
from rag_engine.config import DATA
from rag_engine.engine import Engine
from rag_engine.planning.follow_up import Exchange, FollowUp
from rag_engine.planning.two_readings import best_chance

QUESTIONS = DATA / "eval" / "two_readings.tsv"


@dataclass(frozen=True, slots=True)
class Reading:
    """A question of the table: whether it is a follow-up, is asked as one, and was searched both ways."""

    split: str
    follow_up: bool
    in_full: bool
    both: bool


def read(engine: Engine, one: dict[str, str]) -> Reading:
    """Ask a question after the one before it, as far as its reading is chosen."""
    before = Exchange(one["before"], chance=best_chance(engine.search(one["before"]).hits))
    first = next(engine.ask_next(one["question"], (before,)))
    made = first if isinstance(first, FollowUp) else None
    return Reading(
        one["split"], one["kind"] == "follow-up", made is not None and made.asked, made is not None and not made.sure
    )


def row(name: str, asked: Sequence[Reading]) -> list[str]:
    """Return how many of some questions are read as they are meant."""
    follow_ups, alone = ([one for one in asked if one.follow_up is wanted] for wanted in (True, False))
    return [
        name,
        f"{sum(one.in_full for one in follow_ups)} of {len(follow_ups)}",
        f"{sum(one.in_full for one in alone)} of {len(alone)}",
        f"{sum(one.both for one in asked)} of {len(asked)}",
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_corpus_options(parser)
    arguments = parser.parse_args()
    with QUESTIONS.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    with corpus_engine(arguments) as engine:
        asked = [read(engine, one) for one in rows]
    for one, reading in zip(rows, asked, strict=True):
        if reading.split == "dev" and reading.in_full is not reading.follow_up:
            print(f"{one['kind']}, but {'asked' if reading.in_full else 'not asked'} in full: {one['question']!r}")
    write_table(
        "two_readings",
        "Short questions after another, asked in full or as they are written",
        ["part", "follow-ups asked in full", "others asked in full", "both readings searched"],
        [row(split, [one for one in asked if one.split == split]) for split in ("dev", "heldout")],
        [machine(), "`python -m benchmarks.answers.two_readings`, no language model; the choice was set on dev."],
    )


if __name__ == "__main__":
    main()
