"""Results of test questions: what came out for each, shares with intervals, two runs compared."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from math import ceil
from typing import Any, Literal

from rag_engine.evaluation.answers.accepted_run import KeptRun, paired_rows
from rag_engine.evaluation.answers.rows import AnswerRow
from rag_engine.evaluation.significance import Interval, share_interval, sign_p
from rag_engine.text.wording import ENGLISH, Wording

Measure = Literal["found", "cited", "first", "refused"]
MEASURES: Mapping[Measure, str] = {
    "found": "Evidence found",
    "cited": "Evidence cited",
    "first": "First quotation right",
    "refused": "Rightly refused",
}
Change = Literal["better", "worse", "same"]

# Settings that are hashes, as people call what they are of.
_HASHES = {
    "questions": "test questions (hash)",
    "collection": "documents (hash)",
    "versions.code": "program (hash)",
    "model_digest": "model (hash)",
}
_DIGITS = 12
# The share of the expected passages that the found ones must hold.
_HALF = 0.5
# A difference that chance brings about in fewer cases than this is more than chance.
_SIGNIFICANT = 0.05


@dataclass(frozen=True, slots=True)
class MeasuredShare:
    """How many of the questions that a measure is about came out right."""

    measure: Measure
    right: int
    questions: int

    @property
    def interval(self) -> Interval:
        """The share with its 95% interval."""
        return share_interval(self.right, self.questions)


@dataclass(frozen=True, slots=True)
class QuestionChange:
    """A question as two runs answered it."""

    before: AnswerRow
    after: AnswerRow

    @property
    def change(self) -> Change:
        """Whether the later answer is better, worse or as good."""
        before, after = _level(self.before), _level(self.after)
        return "same" if before == after else "better" if after > before else "worse"


@dataclass(frozen=True, slots=True)
class ShareChange:
    """A measure on the questions of both runs: right before and after, gained and lost."""

    measure: Measure
    questions: int
    before: int
    after: int
    gained: int
    lost: int

    @property
    def verdict(self) -> str:
        """Whether the difference is more than chance, in a few words."""
        if not self.gained and not self.lost:
            return "none"
        return "more than chance" if sign_p(self.gained, self.lost) < _SIGNIFICANT else "may be chance"


@dataclass(frozen=True, slots=True)
class RunComparison:
    """Two runs on the questions that both asked; `settings` are those that differ, each with both values."""

    changes: tuple[QuestionChange, ...]
    shares: tuple[ShareChange, ...]
    settings: Mapping[str, tuple[str, str]]

    def count(self, change: Change) -> int:
        """Return how many answers changed so."""
        return sum(one.change == change for one in self.changes)


def is_right(row: AnswerRow, measure: Measure) -> bool | None:
    """Return whether a question came out right by a measure, None where the measure is not about it."""
    if row.failed or row.answerable == (measure == "refused"):
        return None
    match measure:
        case "found":
            return (row.figures.get("context_recall") or 0) >= _HALF
        case "cited":
            return (row.figures.get("citation_recall") or 0) > 0
        case "first":
            return row.figures.get("first_quotation") == 1
        case "refused":
            return row.figures.get("abstention") == 1


def describe_result(row: AnswerRow) -> str:
    """Return in a few words what came out for a question."""
    if row.failed:
        return "Failed"
    if not row.answerable:
        return "Rightly refused" if is_right(row, "refused") else "Answered without evidence"
    if row.status == "insufficient_evidence":
        return "Wrongly refused"
    best = next((MEASURES[one] for one in ("first", "cited", "found") if is_right(row, one)), "Evidence not found")
    return "Evidence found, not cited" if best == MEASURES["found"] else best


def is_as_expected(row: AnswerRow) -> bool:
    """Return whether there is nothing to look at: the first quotation is right, or a refusal is."""
    return bool(is_right(row, "first" if row.answerable else "refused"))


def shares(rows: Sequence[AnswerRow]) -> tuple[MeasuredShare, ...]:
    """Return the share of each measure that is about any of the questions."""
    found = []
    for measure in MEASURES:
        judged = [right for row in rows if (right := is_right(row, measure)) is not None]
        if judged:
            found.append(MeasuredShare(measure, sum(judged), len(judged)))
    return tuple(found)


def least_difference(questions: int) -> int | None:
    """Return the least difference in points that can be more than chance between two runs.

    Both have `questions` questions. Below it not even questions that all turned one way are more than chance. None if
    no difference can be.

    >>> least_difference(20)
    30
    """
    turned = next(number for number in count(1) if sign_p(number, 0) < _SIGNIFICANT)
    return ceil(100 * turned / questions) if questions >= turned else None


def describe_chance(questions: int, words: Wording = ENGLISH) -> str:
    """Return in plain words how large a difference between two runs must be to mean something."""
    least = least_difference(questions)
    if least is None:
        return words.counted(
            "{n} question: any difference between two runs may be chance. Keep more questions.",
            "{n} questions: any difference between two runs may be chance. Keep more questions.",
            questions,
        )
    return words.counted(
        "{n} question: a difference below {points} points between two runs may be chance.",
        "{n} questions: a difference below {points} points between two runs may be chance.",
        questions,
        points=words.number(least),
    )


def compare_tests(before: KeptRun, after: KeptRun) -> RunComparison:
    """Return two runs question by question."""
    pairs = [QuestionChange(old, new) for old, new in paired_rows(before, after)]
    return RunComparison(tuple(pairs), tuple(_share_changes(pairs)), differing_settings(before, after))


def differing_settings(before: KeptRun, after: KeptRun) -> dict[str, tuple[str, str]]:
    """Return the settings in which two runs differ, each with both values."""
    old, new = settings_of(before), settings_of(after)
    names = [name for name in {**old, **new} if old.get(name) != new.get(name)]
    return {name: (old.get(name, ""), new.get(name, "")) for name in names}


def settings_of(run: KeptRun) -> dict[str, str]:
    """Return all that a run was made with by name, the names of inner settings behind those of the outer."""
    return dict(_flat(run.settings))


def results_table(rows: Sequence[AnswerRow]) -> tuple[list[str], list[list[str | float | None]]]:
    """Return a run as a table with a row for each question.

    It has the result, the answer, its citations and every figure.
    """
    metrics = list(dict.fromkeys(metric for row in rows for metric in row.figures))
    headings = ["Id", "Question", "Result", *MEASURES.values(), "Answer", "Cited", "Seconds", *metrics, "Failure"]
    return headings, [
        [
            *(row.id, row.question, describe_result(row)),
            *({True: "yes", False: "no", None: ""}[is_right(row, measure)] for measure in MEASURES),
            *(row.answer, "; ".join(row.cited), row.seconds),
            *(row.figures.get(metric) for metric in metrics),
            row.failure,
        ]
        for row in rows
    ]


def _level(row: AnswerRow) -> int:
    return -1 if row.failed else sum(bool(is_right(row, measure)) for measure in MEASURES)


def _share_changes(pairs: Sequence[QuestionChange]) -> Iterator[ShareChange]:
    for measure in MEASURES:
        both = [(is_right(pair.before, measure), is_right(pair.after, measure)) for pair in pairs]
        known = [(old, new) for old, new in both if old is not None and new is not None]
        if known:
            yield ShareChange(
                measure,
                len(known),
                sum(old for old, _ in known),
                sum(new for _, new in known),
                sum(new and not old for old, new in known),
                sum(old and not new for old, new in known),
            )


def _flat(settings: Mapping[str, Any], outer: str = "") -> Iterator[tuple[str, str]]:
    for inner, value in settings.items():
        name = f"{outer}{inner}"
        if isinstance(value, dict):
            yield from _flat(value, f"{name}.")
        else:
            # Enough of a hash to see that it is another one.
            yield _HASHES.get(name, name), str(value)[:_DIGITS] if name in _HASHES else str(value)
