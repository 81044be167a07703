"""Corrections and confirmations of documents by people: lines of the log, apart from extracted values."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from ingestion.types.description import FieldName, FieldValue
from rag_engine.storage.log import LogLine, read_lines

# "agree" confirms the value that is there, "undo" takes back the latest of the other two that was not undone.
CorrectionAct = Literal["correct", "agree", "undo"]
# Named value of the catalog: the last correction of the log that its documents say.
SAID = "corrections said"


@dataclass(frozen=True, slots=True)
class Correction:
    """A person's value of a field; it wins over every extractor, also in later runs.

    `code` is that of a source, or the origin of an added file. `values` has one element, or any number for a list
    field; none means that the field is empty. `when` is an ISO time. Entries of one `batch` were made together.
    """

    code: str
    field: FieldName
    values: tuple[str, ...]
    author: str = ""
    note: str = ""
    when: str = ""
    act: CorrectionAct = "correct"
    batch: str = ""


def correction_line(correction: Correction) -> LogLine:
    """Return the line of the log for a correction."""
    return LogLine(
        kind="correction",
        on=correction.code,
        when=correction.when,
        by=correction.author,
        note=correction.note,
        said=json.dumps(
            {"field": correction.field, "values": correction.values, "act": correction.act, "batch": correction.batch}
        ),
    )


def entered_corrections(workspace: Path, code: str = "") -> list[Correction]:
    """Return all corrections, oldest first: of one document, of all without a code."""
    lines = ((line, json.loads(line.said)) for line in read_lines(workspace, "correction", code))
    return [
        Correction(
            line.on, said["field"], tuple(said["values"]), line.by, line.note, line.when, said["act"], said["batch"]
        )
        for line, said in lines
    ]


def standing(entries: Iterable[Correction]) -> list[Correction]:
    """Return the entry that counts for each field of each document, in the order of code and field.

    >>> made = [Correction("EEA001", "title", ("Flood plan",)), Correction("EEA001", "title", (), act="undo")]
    >>> standing(made[:1]) == made[:1], standing(made)
    (True, [])
    """
    latest = (stack[-1] for stack in _stacks(entries).values() if stack)
    return sorted(latest, key=lambda correction: (correction.code, correction.field))


def undoing(entries: Iterable[Correction], field: str = "", batch: str = "") -> list[Correction]:
    """Return the entries that undo the last correction in force, of one `field` if it is named.

    Corrections made together are undone together. With a `batch`, its corrections are undone unless a later one
    replaced them.
    """
    listed = list(entries)
    order = {id(correction): place for place, correction in enumerate(listed)}
    tops = [stack[-1] for (_, name), stack in _stacks(listed).items() if stack and name == (field or name)]
    tops = [correction for correction in tops if correction.batch == (batch or correction.batch)]
    if not tops:
        return []
    last = max(tops, key=lambda correction: order[id(correction)])
    together = [
        correction for correction in tops if correction is last or (last.batch and correction.batch == last.batch)
    ]
    return [replace(correction, values=(), note="", when="", act="undo", batch="") for correction in together]


def corrected(found: Iterable[FieldValue], given: Iterable[Correction]) -> list[FieldValue]:
    """Return extracted values, with the values of people in place of those of the same field.

    >>> found = [FieldValue("title", "plan_v3", "rule"), FieldValue("date", "2024", "rule")]
    >>> [value.value for value in corrected(found, [Correction("EEA001", "title", ("Flood plan",))])]
    ['2024', 'Flood plan']
    """
    listed, by_field = list(found), {correction.field: correction for correction in given}
    values = [one for one in listed if one.field not in by_field]
    # What a person agreed with is still justified by the sentence that it was extracted from.
    known = {(one.field, one.value): one for one in listed}
    for field, correction in by_field.items():
        for value in correction.values:
            before = known.get((field, value)) if correction.act == "agree" else None
            sentence, page = (before.sentence, before.page) if before else (correction.note, None)
            values.append(FieldValue(field, value, "person", sentence, page, 1.0))
    return values


def _stacks(entries: Iterable[Correction]) -> dict[tuple[str, str], list[Correction]]:
    """Return for each document and field the entries that were not undone, oldest first."""
    stacks: defaultdict[tuple[str, str], list[Correction]] = defaultdict(list)
    for entry in entries:
        stack = stacks[entry.code, entry.field]
        if entry.act != "undo":
            stack.append(entry)
        elif stack:
            stack.pop()
    return stacks
