"""Contents of a backup: the files of a workspace in it, and the names that an archive may hold."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from rag_engine.backends.sqlite_damage import RECORDS

CATALOG = "catalog.sqlite"
_ORIGINALS, _VECTORS = "files", "vectors"
# Made again from the rest, or of no use to anybody once its process has ended. A log tells of a machine.
_DERIVED = {"index", "drawings"}
_OF_PROCESSES = re.compile(r"^\.|^(?:serving|writer)\.json$|\.(?:lock|log)$|\.sqlite-journal$")
# What a repair put aside: a database that is no more, and may hold what was erased since.
_PUT_ASIDE = re.compile(rf"^damaged/[^/]+/(?:{re.escape(CATALOG)}|{re.escape(RECORDS)})")
# Half written, or what a worker was at, which would count as its stop in the restored workspace.
_PASSING = re.compile(r"^\.[0-9a-f]{16}\.part$|\.begun$")
# Databases, originals and vectors must each be of one moment: copied by themselves (backup.py).
_OF_ONE_MOMENT = re.compile(
    rf"^(?:(?:{re.escape(CATALOG)}|{re.escape(RECORDS)})(?:-wal|-shm|-journal)?|{_ORIGINALS}|{_VECTORS})$"
)


def other_files(workspace: Path) -> Iterator[str]:
    """Yield the paths, in the workspace, of all files that are no database, original or vector."""
    for entry in sorted(workspace.iterdir()):
        if entry.name in _DERIVED or _OF_PROCESSES.search(entry.name) or _OF_ONE_MOMENT.match(entry.name):
            continue
        if entry.is_file():
            yield entry.name
        for folder, _, names in os.walk(entry):
            inside = Path(folder).relative_to(workspace)
            held = ((inside / name).as_posix() for name in sorted(names) if not _PASSING.search(name))
            yield from (name for name in held if not _PUT_ASIDE.match(name))


def original_name(sha256: str, file: str) -> str:
    """Return the path in the workspace of the copy of a file of the collection.

    >>> original_name("9f86d081884c7d659a2feaa0c55ad015", "flood-plan.pdf")
    'files/9f86d081884c/flood-plan.pdf'
    """
    return f"{_ORIGINALS}/{sha256[:12]}/{file}"


def vector_name(file: str) -> str:
    """Return the path in the workspace of a file of vectors."""
    return f"{_VECTORS}/{file}"


def may_hold(name: str) -> bool:
    """Return whether a backup may hold a file of this name: in the workspace, obeyed by no process.

    An archive may come from anybody: a `serving.json` in it would lead every question to a server of theirs.

    >>> may_hold("notes/plan.md"), may_hold("../plan.md"), may_hold("serving.json")
    (True, False, False)
    """
    parts = name.split("/")
    if any(part in ("", ".", "..") or "\0" in part or Path(part).name != part for part in parts):
        return False
    top = parts[0]
    if top in (_ORIGINALS, _VECTORS):
        return len(parts) == (3 if top == _ORIGINALS else 2)
    if name in (CATALOG, RECORDS):
        return True
    if _PASSING.search(parts[-1]) or _PUT_ASIDE.match(name):
        return False
    return top not in _DERIVED and not _OF_PROCESSES.search(top) and not _OF_ONE_MOMENT.match(top)
