"""Journal of what people decided and corrected, in a file beside the catalog.

The catalog holds the same. Where its file is destroyed, what people said is still here, from the moment in which they
said it; the second copy of the catalog (rag_engine/backends/sqlite_copy.py) has it when the act has ended. The journal
repeats of a document what a correction says, until the document is erased.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

from ingestion.records.line_log import append_lines, read_lines, remove_lines

JournalKind = Literal["decision", "correction"]
_KINDS: tuple[JournalKind, ...] = get_args(JournalKind)


@dataclass(frozen=True, slots=True)
class JournalLine:
    """One thing that was said; None for a line that cannot be read."""

    number: int
    kind: JournalKind | None
    said: Mapping[str, Any]


def enter_in_journal(workspace: Path, kind: JournalKind, said: Iterable[Mapping[str, Any]]) -> None:
    """Add what was said at the end of the journal; it is on the disk when this returns."""
    lines = [json.dumps({"kind": kind} | dict(one), ensure_ascii=False).encode("utf-8", "replace") for one in said]
    if lines:
        append_lines(_file(workspace), lines)


def read_journal(workspace: Path) -> list[JournalLine]:
    """Return the journal of a workspace, oldest line first."""
    return [_line(number, line) for number, line in enumerate(read_lines(_file(workspace)), start=1)]


def forget_corrections(workspace: Path, code: str) -> None:
    """Remove the corrections of a document that was erased: they repeat what it says."""

    def repeats(line: bytes) -> bool:
        read = _line(0, line)
        # What cannot be read may be the half of one.
        return read.kind is None or (read.kind == "correction" and read.said.get("code") == code)

    remove_lines(_file(workspace), repeats)


def _line(number: int, line: bytes) -> JournalLine:
    try:
        said = json.loads(line)
        kind = said.pop("kind")
    except (ValueError, RecursionError, KeyError, AttributeError, TypeError):
        return JournalLine(number, None, {})
    return JournalLine(number, kind if kind in _KINDS else None, said)


def _file(workspace: Path) -> Path:
    return workspace / "journal.jsonl"
