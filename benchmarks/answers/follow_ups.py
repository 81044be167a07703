"""Follow-up questions: how many are rewritten, and how many that stand alone are changed.

    python -m benchmarks.answers.follow_ups

The questions are those of data/eval/follow_ups.tsv. A follow-up counts as rewritten where anything was made of it,
be it sure or one of two readings that are both searched for; another question counts as changed where it is sure. It
asks of the places expected where the result names the countries that the question of the table names, and no others.
It is as expected where the result is that question word for word. Where a language model answers, it is asked too.
The questions of the other files of data/eval stand alone as well: one that is taken for a follow-up is an error.
"""

from __future__ import annotations

import argparse
import csv
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from benchmarks.report import machine, write_table
from rag_engine.backends.identify_language import identify_language
from rag_engine.config import DATA, read_config
from rag_engine.geography import find_places, load_gazetteer
from rag_engine.models import Models
from rag_engine.planning.ellipsis import find_ellipsis
from rag_engine.planning.follow_up import Exchange, FollowUp, rewrite

QUESTIONS = DATA / "eval" / "follow_ups.tsv"
STANDS_ALONE = "stands alone"

Rewriting = Callable[[str, str, str], FollowUp | None]


@dataclass(frozen=True, slots=True)
class Asked:
    """A question of the table, what it is to become ("" where it stands alone), and what was made of it."""

    split: str
    language: str
    question: str
    expected: str
    made: str | None
    sure: bool


def by_rules(before: str, question: str, language: str) -> FollowUp | None:
    """Rewrite a question by the rules alone."""
    return rewrite(question, [Exchange(before)], language=language, generator=None, config=read_config(None))


def row(name: str, asked: Sequence[Asked]) -> list[str]:
    """Return how many questions stay as they are and how many are rewritten."""
    alone = [one for one in asked if not one.expected]
    follow_ups = [one for one in asked if one.expected]
    return [
        name,
        f"{sum(one.made is not None and one.sure for one in alone)} of {len(alone)}",
        f"{sum(one.made is not None and not one.sure for one in asked)} of {len(asked)}",
        f"{sum(one.made is not None for one in follow_ups)} of {len(follow_ups)}",
        f"{sum(_places(one, one.made or '') == _places(one, one.expected) for one in follow_ups)} of {len(follow_ups)}",
        f"{sum(one.made == one.expected for one in follow_ups)} of {len(follow_ups)}",
    ]


def _places(asked: Asked, text: str) -> set[str]:
    return set(find_places(text, load_gazetteer(), asked.language).countries)


def rows(name: str, rewriting: Rewriting) -> list[list[str]]:
    """Rewrite every question, print what came out otherwise, and return the rows of the table."""
    asked: list[Asked] = []
    with QUESTIONS.open(encoding="utf-8", newline="") as file:
        for one in csv.DictReader(file, delimiter="\t"):
            # As the engine has it: a short question is rather in the language of the one before.
            language = identify_language(one["question"], {one["language"]: 1.0})
            made = rewriting(one["before"], one["question"], language)
            full, sure = (made.question, made.sure) if made else (None, True)
            asked.append(Asked(one["split"], one["language"], one["question"], one["expected"], full, sure))
    for other in asked:
        if (other.made or "") != other.expected and other.split == "dev":
            print(f"{name}: {other.question!r} became {other.made!r}, expected {other.expected!r}")
    groups = [row(f"{name}, {split}", [one for one in asked if one.split == split]) for split in ("dev", "heldout")]
    languages = dict.fromkeys(one.language for one in asked)
    return groups + [row(f"{name}, {code}", [one for one in asked if one.language == code]) for code in languages]


def real_questions() -> list[str]:
    """Return the questions of the other sets of data/eval, none of which leans on another."""
    found: list[str] = []
    for path in sorted(QUESTIONS.parent.rglob("*.tsv")):
        if path.name not in ("follow_ups.tsv", "two_readings.tsv"):
            with path.open(encoding="utf-8", newline="") as file:
                found += [one["question"] for one in csv.DictReader(file, delimiter="\t") if one.get("question")]
    for path in sorted(QUESTIONS.parent.rglob("*.jsonl")):
        lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        alone = [one for one in lines if "before" not in one]
        found += [one[name] for one in alone for name in ("question", "text") if isinstance(one.get(name), str)]
    return list(dict.fromkeys(found))


def main() -> None:
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    table = rows("rules", by_rules)
    real = real_questions()
    found = [(one, find_ellipsis(one, identify_language(one), load_gazetteer())) for one in real]
    taken = [(one, leaning.sure) for one, leaning in found if leaning]
    print("\n".join(f"taken for a follow-up: {one}" for one, _ in taken))
    sure = sum(certain for _, certain in taken)
    counts = [f"{number} of {len(real)}" for number in (sure, len(taken) - sure)]
    table.append(["rules, other sets of data/eval", *counts, "", "", ""])
    config = read_config(None)
    model, _ = Models(config).language_model()
    if model is not None:

        def by_model(before: str, question: str, language: str) -> FollowUp | None:
            return rewrite(question, [Exchange(before)], language=language, generator=model, config=config)

        table += rows(model.name, by_model)
    write_table(
        "follow_ups",
        "Follow-up questions rewritten to stand alone",
        [
            "rewritten by",
            f"{STANDS_ALONE}, but changed",
            "both readings searched",
            "follow-ups rewritten",
            "ask of the places expected",
            "as expected, word for word",
        ],
        table,
        [
            machine(),
            "`python -m benchmarks.answers.follow_ups`; the rules were written with the dev questions at hand. They "
            "replace a place by another and put the question before in front of any other follow-up.",
        ],
    )


if __name__ == "__main__":
    main()
