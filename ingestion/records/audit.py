"""Audit log of a workspace: who changed what in the collection, and when; entries are added and never changed."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from filelock import FileLock
from pydantic import TypeAdapter, ValidationError


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


_CODEC = TypeAdapter(AuditEntry)


def append_entry(workspace: Path, entry: AuditEntry) -> None:
    """Add an entry at the end of the log; it is on the disk when this returns."""
    path = _file(workspace)
    path.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(path.with_suffix(".lock")), path.open("ab+") as log:
        if log.tell() and (log.seek(-1, os.SEEK_END), log.read(1))[1] != b"\n":
            # Whoever wrote the line before was killed in it.
            log.write(b"\n")
        log.write(_CODEC.dump_json(entry) + b"\n")
        log.flush()
        os.fsync(log.fileno())


def read_entries(workspace: Path) -> list[AuditEntry]:
    """Return all entries, oldest first; a damaged line is one of the act "unreadable"."""
    try:
        lines = _file(workspace).read_bytes().splitlines()
    except FileNotFoundError:
        return []
    return [_entry(line, number) for number, line in enumerate(lines, start=1)]


def _entry(line: bytes, number: int) -> AuditEntry:
    try:
        return _CODEC.validate_json(line)
    except ValidationError:
        return AuditEntry("", "", "", "unreadable", f"line {number}")


def _file(workspace: Path) -> Path:
    return workspace / "audit.jsonl"
