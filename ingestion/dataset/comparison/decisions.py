"""Decisions by hand on cells of comparisons: lines of the log, apart from the cells."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from rag_engine.storage.log import LogLine, add_lines, forget_lines_of, read_lines

CellChoice = Literal["accepted", "corrected", "rejected"]
CHOICES: tuple[CellChoice, ...] = get_args(CellChoice)
# Takes back the latest decision that still stands.
_UNDO = "undo"


@dataclass(frozen=True, slots=True)
class CellDecision:
    """A person's decision on an answer of a cell, with the text that corrects it.

    `since` is the moment from which the cell had that answer.
    """

    choice: CellChoice
    text: str
    author: str
    note: str
    when: str
    since: str


def enter_decision(workspace: Path, cell: str, decision: CellDecision, documents: Collection[str], person: str) -> None:
    """Enter a decision on the cell of an id; `documents` are those that its column or its quotes name."""
    said = {
        "choice": decision.choice,
        "text": decision.text,
        "since": decision.since,
        "documents": sorted(documents),
    }
    line = LogLine(
        kind="cell decision",
        on=cell,
        when=decision.when,
        by=decision.author,
        person=person,
        note=decision.note,
        said=json.dumps(said),
    )
    add_lines(workspace, [line])


def enter_undoing(workspace: Path, cell: str, author: str, when: str, person: str) -> None:
    """Enter that the latest standing decision on a cell is taken back."""
    said = json.dumps({"choice": _UNDO, "documents": []})
    add_lines(workspace, [LogLine(kind="cell decision", on=cell, when=when, by=author, person=person, said=said)])


def standing_decisions(workspace: Path, under: str) -> Mapping[str, CellDecision]:
    """Return the decisions that were not undone on cells whose id begins so, by the id."""
    made: dict[str, list[CellDecision]] = {}
    for line in read_lines(workspace, "cell decision"):
        if line.on.startswith(under):
            said, stack = json.loads(line.said), made.setdefault(line.on, [])
            if said["choice"] != _UNDO:
                stack.append(
                    CellDecision(said["choice"], said["text"], line.by, str(line.note), line.when, said["since"])
                )
            elif stack:
                stack.pop()
    return {cell: stack[-1] for cell, stack in made.items() if stack}


def forget_decisions(workspace: Path, document: str) -> None:
    """Remove every decision on a cell that names an erased document: its text may repeat it."""
    lines = read_lines(workspace, "cell decision")
    cells = {line.on for line in lines if document in json.loads(line.said)["documents"]}
    forget_lines_of(workspace, [line.id for line in lines if line.on in cells])
