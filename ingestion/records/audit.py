"""Audit log of a workspace: who changed what in the collection, and when; entries are added and never changed."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from ingestion.records.line_log import append_lines, read_lines


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
    append_lines(_file(workspace), [_CODEC.dump_json(entry)])


def read_entries(workspace: Path) -> list[AuditEntry]:
    """Return all entries, oldest first; a damaged line is one of the act "unreadable"."""
    return [_entry(line, number) for number, line in enumerate(read_lines(_file(workspace)), start=1)]


def _entry(line: bytes, number: int) -> AuditEntry:
    try:
        return _CODEC.validate_json(line)
    except ValidationError:
        return AuditEntry("", "", "", "unreadable", f"line {number}")


def _file(workspace: Path) -> Path:
    return workspace / "audit.jsonl"
