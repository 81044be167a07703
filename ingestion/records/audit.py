"""Audit log of a workspace: who changed what in the collection, and when; entries are added and never changed.

An act has a line when it begins and another with what became of it, so that one that was killed leaves its first.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import TypeAdapter, ValidationError

from ingestion.records.line_log import append_lines, read_lines
from rag_engine.errors import InputError
from rag_engine.workspace import is_running, start_of_this_process

# "begun" and "unchanged" (it did nothing, or was refused) are not shown; "running" and "interrupted" are not written.
ActOutcome = Literal["done", "failed", "running", "interrupted", "begun", "unchanged"]


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
    id: str
    entered: bool = False


_CODEC = TypeAdapter(_Line)
_CURRENT: ContextVar[_Begun | None] = ContextVar("the act that is carried out", default=None)


@contextmanager
def begun(workspace: Path, entry: AuditEntry, *, resumes: bool = False) -> Iterator[None]:
    """Enter that an act begins, and at its end that it failed or changed nothing, unless it was entered meanwhile.

    One that `resumes` what an interrupted act on the same began is that act.
    """
    act = _Begun((_interrupted(workspace, entry.act, entry.on) if resumes else "") or secrets.token_hex(8))
    _append(workspace, entry, "begun", act.id, os.getpid(), start_of_this_process())
    token = _CURRENT.set(act)
    try:
        yield
    except BaseException as error:
        # Where even that cannot be written, its first line alone says that it has not ended.
        with suppress(OSError):
            _end(workspace, entry, act, "unchanged" if isinstance(error, InputError) else "failed")
        raise
    else:
        _end(workspace, entry, act, "unchanged")
    finally:
        _CURRENT.reset(token)


def _end(workspace: Path, entry: AuditEntry, act: _Begun, outcome: ActOutcome) -> None:
    if not act.entered:
        _append(workspace, entry, outcome, act.id)


def append_entry(workspace: Path, entry: AuditEntry) -> None:
    """Add an entry at the end of the log, as what became of the act under way; it is on the disk when this returns."""
    act = _CURRENT.get()
    if act is not None:
        act.entered = True
    _append(workspace, entry, "done", act.id if act else "")


def read_entries(workspace: Path) -> list[AuditEntry]:
    """Return all entries, oldest first; a damaged line is one of the act "unreadable".

    Of an act without an end it is said whether its process still runs.
    """
    lines = _lines(workspace)
    ended = {line.id for line in lines if line.outcome != "begun"}
    # An act that was resumed has begun more than once.
    last = {line.id: line for line in lines if line.outcome == "begun" and line.id not in ended}
    entries = []
    for line in lines:
        if line.outcome in ("done", "failed"):
            entries.append(line.entry(line.outcome))
        elif last.get(line.id) is line:
            entries.append(line.entry("running" if is_running(line.process, line.started) else "interrupted"))
    return entries


def _interrupted(workspace: Path, act: str, on: str) -> str:
    """Return the id of an act on something that has begun and not ended; "" for none."""
    lines = _lines(workspace)
    ended = {line.id for line in lines if line.outcome != "begun"}
    same = (line.id for line in lines if (line.act, line.on) == (act, on) and line.id not in ended)
    return next(same, "")


def _append(
    workspace: Path, entry: AuditEntry, outcome: ActOutcome, id: str, process: int = 0, started: float = 0.0
) -> None:
    line = _Line(entry.when, entry.by, entry.person, entry.act, entry.on, entry.note, outcome, id, process, started)
    append_lines(_file(workspace), [_CODEC.dump_json(line, exclude_defaults=True)])


def _lines(workspace: Path) -> list[_Line]:
    return [_line(line, number) for number, line in enumerate(read_lines(_file(workspace)), start=1)]


def _line(line: bytes, number: int) -> _Line:
    try:
        return _CODEC.validate_json(line)
    except ValidationError:
        return _Line("", "", "", "unreadable", f"line {number}")


def _file(workspace: Path) -> Path:
    return workspace / "audit.jsonl"
