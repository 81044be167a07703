"""Audit: who changed what in the collection, and when; lines of the log that are never changed.

An act has a line for its beginning and another for its end, so that a killed act leaves its first.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal

from sqlalchemy.exc import SQLAlchemyError

from rag_engine.errors import InputError, WorkspaceError
from rag_engine.messages import NO_MESSAGE, Message
from rag_engine.processes.alive import is_running, start_of_this_process
from rag_engine.storage.log import LogLine, add_lines, read_lines

# "begun" and "unchanged" (it did nothing, or was refused) are not shown; "running" and "interrupted" are not written.
ActOutcome = Literal["done", "failed", "running", "interrupted", "begun", "unchanged"]


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """One change of the collection; `person` is the key of who made it, empty for the local person.

    `on` names the changed object, never a document's words, which go with the document.
    """

    when: str
    by: str
    person: str
    act: str
    on: Message
    note: Message = NO_MESSAGE
    outcome: ActOutcome = "done"


@dataclass(slots=True)
class _Begun:
    workspace: Path
    entry: AuditEntry
    id: str
    entered: bool = False


_CURRENT: ContextVar[_Begun | None] = ContextVar("the act that is carried out", default=None)


@contextmanager
def begun(workspace: Path, entry: AuditEntry, *, resumes: bool = False) -> Iterator[None]:
    """Enter that an act begins, and that it failed or changed nothing, unless it was entered meanwhile.

    An act that `resumes` an interrupted one on the same object continues it.
    """
    unended = _unended(read_lines(workspace, "act")) if resumes else []
    resumed = next((line.of for line in unended if (line.act, line.on) == (entry.act, entry.on)), "")
    act = _Begun(workspace, entry, resumed or secrets.token_hex(8))
    _append_begun(act)
    token = _CURRENT.set(act)
    try:
        yield
    except BaseException as error:
        # Where even that cannot be written, its first line alone says that it has not ended.
        with suppress(OSError, WorkspaceError, SQLAlchemyError):
            _end(act, "unchanged" if isinstance(error, InputError) else "failed")
        raise
    else:
        _end(act, "unchanged")
    finally:
        _CURRENT.reset(token)


def name_begun(on: Message, by: str) -> None:
    """Enter the object and person of the act under way, unknown when it began."""
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
    """Add an entry at the end of the log, as what became of the act under way.

    Without a name it bears the name of the act under way. It is on the disk when this returns.
    """
    act = _CURRENT.get()
    if act is not None:
        act.entered = True
        entry = replace(entry, act=entry.act or act.entry.act)
    _append(workspace, entry, "done", act.id if act else "")


def add_said(workspace: Path, lines: Iterable[LogLine]) -> None:
    """Add lines of what was said, each with the act under way."""
    act = _CURRENT.get()
    of: dict[str, Any] = {"act": act.entry.act, "person": act.entry.person, "of": act.id} if act else {}
    add_lines(workspace, [replace(line, **of) for line in lines])


def read_entries(workspace: Path) -> list[AuditEntry]:
    """Return all entries, oldest first; an act without an end says whether its process still runs."""
    lines = read_lines(workspace, "act")
    # An act that was resumed, or that named later what it is upon, has begun more than once.
    last = {line.of: line for line in _unended(lines)}
    entries = []
    for line in lines:
        if line.outcome in ("done", "failed"):
            entries.append(_entry(line, "done" if line.outcome == "done" else "failed"))
        elif last.get(line.of) is line:
            entries.append(_entry(line, "running" if is_running(line.process, line.started) else "interrupted"))
    return entries


def end_copied(workspace: Path, act: str) -> None:
    """Enter that the last act of a name was done that had not ended when this log was copied."""
    begun = [line for line in _unended(read_lines(workspace, "act")) if line.act == act]
    if begun:
        _append(workspace, _entry(begun[-1], "done"), "done", begun[-1].of)


def _unended(lines: Sequence[LogLine]) -> list[LogLine]:
    """Return the lines of acts that have begun and not ended."""
    ended = {line.of for line in lines if line.outcome != "begun"}
    return [line for line in lines if line.outcome == "begun" and line.of not in ended]


def _append(
    workspace: Path, entry: AuditEntry, outcome: ActOutcome, of: str, process: int = 0, started: float = 0.0
) -> None:
    values = asdict(entry) | {"outcome": outcome, "of": of, "process": process, "started": started}
    add_lines(workspace, [LogLine(kind="act", **values)])


def _entry(line: LogLine, outcome: ActOutcome) -> AuditEntry:
    return AuditEntry(line.when, line.by, line.person, line.act, Message(line.on), Message(line.note), outcome)
