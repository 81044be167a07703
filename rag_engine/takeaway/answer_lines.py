"""The lines of an answer: its lists, headings and bold words, and the marks of its sources."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from rag_engine.answering.replies import CHECKED_MARK

_BOLD = re.compile(r"\*\*(?=\S)(.+?)(?<=\S)\*\*")
_HEADING = re.compile(r"#{1,6}\s+(.+?)\s*#*")
_BULLET = re.compile(r"(\s*)[-*•]\s+(.+)")
_NUMBERED = re.compile(r"(\s*)(\d{1,3})[.)]\s+(.+)")
_DEEPEST = 2


@dataclass(frozen=True, slots=True)
class AnswerRun:
    """Words of a line, or the mark of the source `n`, whose words are the mark as it is written."""

    text: str
    bold: bool = False
    n: int | None = None


@dataclass(frozen=True, slots=True)
class AnswerLine:
    """A line of an answer; `depth` counts from 0 to 2 how far a list is indented, `number` is that of its item."""

    kind: Literal["text", "bullet", "numbered", "heading"]
    runs: tuple[AnswerRun, ...]
    depth: int = 0
    number: str = ""


def answer_lines(text: str) -> Iterator[AnswerLine]:
    """Yield the lines of an answer's text; an empty one has no runs."""
    for line in text.splitlines():
        if match := _BULLET.fullmatch(line):
            yield AnswerLine("bullet", answer_runs(match[2]), _depth(match[1]))
        elif match := _NUMBERED.fullmatch(line):
            yield AnswerLine("numbered", answer_runs(match[3]), _depth(match[1]), match[2])
        elif match := _HEADING.fullmatch(line.strip()):
            yield AnswerLine("heading", tuple(_marked(match[1].replace("**", ""), bold=False)))
        else:
            yield AnswerLine("text", answer_runs(line) if line.strip() else ())


def _depth(blanks: str) -> int:
    return min(len(blanks.expandtabs(4)) // 2, _DEEPEST)


def answer_runs(text: str) -> tuple[AnswerRun, ...]:
    """Return the runs of a text in one line."""
    # Every second piece of a split is what the pattern's group holds.
    return tuple(run for i, piece in enumerate(_BOLD.split(text)) for run in _marked(piece, bold=i % 2 == 1))


def _marked(text: str, *, bold: bool) -> Iterator[AnswerRun]:
    for i, piece in enumerate(CHECKED_MARK.split(text)):
        if i % 2:
            yield AnswerRun(f"[Source {piece}]", bold, int(piece))
        elif piece:
            yield AnswerRun(piece, bold)
