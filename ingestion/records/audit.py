"""Audit log of a workspace: who changed what in the collection, and when; entries are added and never changed.

An act has a line when it begins and another with what became of it, so that one that was killed leaves its first.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from pydantic import TypeAdapter, ValidationError

from ingestion.records.line_log import append_lines, read_lines
from rag_engine.errors import InputError
from rag_engine.workspace import is_running, start_of_this_process

# "begun" and "unchanged" (it did nothing, or was refused) are not shown; "running" and "interrupted" are not written.
ActOutcome = Literal["done", "failed", "running", "interrupted", "begun", "unchanged"]
# The act of a line that cannot be read.
UNREADABLE = "unreadable"


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """One change of the collection; `person` is the key of who made it, empty for the local person.

    `on` names what was changed, never what a document says: that goes with the document.
    """

    when: str
    by: str
    person: str
    act: str
    on: str
    note: str = ""
    outcome: ActOutcome = "done"


@dataclass(frozen=True, slots=True)
class _Line(AuditEntry):
    """A line of the log: an entry, the act that it belongs to, and the process that began that."""

    id: str = ""
    process: int = 0
    started: float = 0.0

    def entry(self, outcome: ActOutcome) -> AuditEntry:
        """Return what is shown of the line."""
        return AuditEntry(self.when, self.by, self.person, self.act, self.on, self.note, outcome)


@dataclass(slots=True)
class _Begun:
    workspace: Path
    entry: AuditEntry
    id: str
    entered: bool = False


_CODEC = TypeAdapter(_Line)
_CURRENT: ContextVar[_Begun | None] = ContextVar("the act that is carried out", default=None)


@contextmanager
def begun(workspace: Path, entry: AuditEntry, *, resumes: bool = False) -> Iterator[None]:
    """Enter that an act begins, and at its end that it failed or changed nothing, unless it was entered meanwhile.

    One that `resumes` what an interrupted act on the same began is that act.
    """
    same = (one.id for one in _unended(_lines(workspace)) if (one.act, one.on) == (entry.act, entry.on))
    resumed = next(same, "") if resumes else ""
    act = _Begun(workspace, entry, resumed or secrets.token_hex(8))
    _append_begun(act)
    token = _CURRENT.set(act)
    try:
        yield
    except BaseException as error:
        # Where even that cannot be written, its first line alone says that it has not ended.
        with suppress(OSError):
            _end(act, "unchanged" if isinstance(error, InputError) else "failed")
        raise
    else:
        _end(act, "unchanged")
    finally:
        _CURRENT.reset(token)


def name_begun(on: str, by: str) -> None:
    """Enter what the act under way is upon and by whom, which was not known when it began."""
    act = _CURRENT.get()
    if act is not None and (act.entry.on, act.entry.by) != (on, by):
        act.entry = replace(act.entry, on=on, by=by)
        _append_begun(act)


def _append_begun(act: _Begun) -> None:
    _append(act.workspace, act.entry, "begun", act.id, os.getpid(), start_of_this_process())


def _end(act: _Begun, outcome: ActOutcome) -> None:
    if not act.entered:
        _append(act.workspace, act.entry, outcome, act.id)


def append_entry(workspace: Path, entry: AuditEntry) -> None:
    """Add an entry at the end of the log, as what became of the act under way; it is on the disk when this returns."""
    act = _CURRENT.get()
    if act is not None:
        act.entered = True
    _append(workspace, entry, "done", act.id if act else "")


def read_entries(workspace: Path) -> list[AuditEntry]:
    """Return all entries, oldest first; a damaged line is one of the act `UNREADABLE`.

    Of an act without an end it is said whether its process still runs.
    """
    lines = _lines(workspace)
    # An act that was resumed, or that named later what it is upon, has begun more than once.
    last = {line.id: line for line in _unended(lines)}
    entries = []
    for line in lines:
        if line.outcome in ("done", "failed"):
            entries.append(line.entry(line.outcome))
        elif last.get(line.id) is line:
            entries.append(line.entry("running" if is_running(line.process, line.started) else "interrupted"))
    return entries


def end_copied(workspace: Path, act: str) -> None:
    """Enter that the last act of a name was done which had begun and not ended when this copy of the log was taken."""
    begun = [one for one in _unended(_lines(workspace)) if one.act == act]
    if begun:
        _append(workspace, begun[-1], "done", begun[-1].id)


def _unended(lines: Sequence[_Line]) -> list[_Line]:
    """Return the lines of acts that have begun and not ended."""
    ended = {line.id for line in lines if line.outcome != "begun"}
    return [line for line in lines if line.outcome == "begun" and line.id not in ended]


def _append(
    workspace: Path, entry: AuditEntry, outcome: ActOutcome, id: str, process: int = 0, started: float = 0.0
) -> None:
    # What stands for bytes of a file's name that are not UTF-8 is written as an escape.
    on, note = (text.encode(errors="backslashreplace").decode() for text in (entry.on, entry.note))
    line = _Line(entry.when, entry.by, entry.person, entry.act, on, note, outcome, id, process, started)
    append_lines(_file(workspace), [_CODEC.dump_json(line, exclude_defaults=True)])


def _lines(workspace: Path) -> list[_Line]:
    return [_line(line, number) for number, line in enumerate(read_lines(_file(workspace)), start=1)]


def _line(line: bytes, number: int) -> _Line:
    try:
        return _CODEC.validate_json(line)
    except ValidationError:
        return _Line("", "", "", UNREADABLE, f"line {number}")


def _file(workspace: Path) -> Path:
    return workspace / "audit.jsonl"
