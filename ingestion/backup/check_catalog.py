"""Check that a catalog of unknown origin names only files in the workspace."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Callable, Container, Iterator
from pathlib import Path

from ingestion.backup.copy_catalog import NO_OTHER
from rag_engine.errors import WorkspaceError

_HASH, _ID = re.compile(r"[0-9a-f]{64}"), re.compile(r"[0-9a-f]{12}")
_DOWNLOADS = "downloads"
# Folders of files that came in through the page, which go with their source or job.
_EMPTIED = ("sources", "uploads")


def check_foreign_values(connection: sqlite3.Connection, held: Container[str], archive: Path) -> None:
    """Raise WorkspaceError if the tables of a catalog name a place outside the workspace."""
    for table, column, fits in _NAMED:
        if table in held:
            rows = connection.execute(f'SELECT "{column}" FROM {table}')  # noqa: S608 - of fixed names
            _refuse_first((row[0] for row in rows if not fits(row[0])), f"{column} in {table}", archive)


def check_foreign_paths(connection: sqlite3.Connection, held: Container[str], workspace: Path, archive: Path) -> None:
    """Raise WorkspaceError if a file that the workspace is said to keep lies elsewhere.

    Sources and jobs name files anywhere on the disk. Files in the workspace's folders are removed with them.
    """
    named: list[tuple[str, Callable[[object], Iterator[object]]]] = [
        ("SELECT path FROM sources", lambda value: iter([value])),
        ("SELECT arguments FROM jobs", _paths_in),
    ]
    for statement, paths_in in named:
        table = statement.rpartition(" ")[2]
        if table in held:
            rows = connection.execute(statement)
            _refuse_first(
                (path for row in rows for path in paths_in(row[0]) if _leaves(path, workspace)), table, archive
            )


def _refuse_first(wrong: Iterator[object], where: str, archive: Path) -> None:
    for value in wrong:
        raise WorkspaceError(
            f"The catalog in {archive} has {str(value)[:200]!r} as {where}, which no catalog of Sextant has: "
            "paths are made of it.",
            help=NO_OTHER,
        )


def _is_hash(value: object) -> bool:
    return isinstance(value, str) and bool(_HASH.fullmatch(value))


def _is_id(value: object) -> bool:
    return isinstance(value, str) and bool(_ID.fullmatch(value))


def _is_name(value: object) -> bool:
    """Return whether this is one name of a file: neither empty nor a path."""
    return isinstance(value, str) and value not in ("", "..") and "\0" not in value and Path(value).name == value


def _is_download(value: object) -> bool:
    """Return whether this is the path of a file in the folder of downloads."""
    top, *names = value.split("/") if isinstance(value, str) else ("",)
    return top == _DOWNLOADS and bool(names) and all(map(_is_name, names))


def _is_evidence(value: object) -> bool:
    """Return whether the evidence of a phase names no file outside the folder of downloads."""
    found = json.loads(value) if isinstance(value, str) and value else {}
    if not isinstance(found, dict):
        return True
    path, sha256 = found.get("path", ""), found.get("sha256", "")
    return (path == "" or _is_download(path)) and (sha256 == "" or _is_hash(sha256))


# Each column of which something becomes part of a path.
_NAMED: tuple[tuple[str, str, Callable[[object], bool]], ...] = (
    *(
        ("documents", column, fits)
        for column, fits in (("file", _is_name), ("sha256", _is_hash), ("document_id", _is_id))
    ),
    ("source_files", "path", _is_download),
    ("source_files", "sha256", _is_hash),
    ("outcomes", "evidence", _is_evidence),
)


def _paths_in(arguments: object) -> Iterator[object]:
    found = json.loads(str(arguments))
    paths = found.get("paths", ()) if isinstance(found, dict) else ()
    yield from paths if isinstance(paths, list) else (paths,) if paths else ()


def _leaves(path: object, workspace: Path) -> bool:
    """Return whether a path begins in a folder that the workspace empties, and leads up from there."""
    if not isinstance(path, str):
        return True
    return ".." in Path(path).parts and any(Path(path).is_relative_to(workspace / name) for name in _EMPTIED)
