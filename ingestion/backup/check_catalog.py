"""Check of the catalog in an archive, which may come from anybody: what it names lies in the workspace."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path

from rag_engine.errors import WorkspaceError

_NO_OTHER = "Nothing was restored; take another backup."
# What runs inside a database when it is used, or makes a value of a row change by itself: a catalog of ours has none.
_OF_OTHERS = (
    "SELECT name FROM sqlite_master WHERE type IN ('trigger', 'view') OR sql LIKE 'CREATE VIRTUAL%' LIMIT 1",
    "SELECT c.name FROM sqlite_master AS t, pragma_table_xinfo(t.name) AS c "
    "WHERE t.type = 'table' AND c.hidden > 1 LIMIT 1",
)
_NEEDED = ("state", "documents")
_HASH, _ID = re.compile(r"[0-9a-f]{64}"), re.compile(r"[0-9a-f]{12}")
_DOWNLOADS = "downloads"
# Folders of files that came in through the page, which go with their source or run.
_EMPTIED = ("sources", "uploads")


def check_foreign_catalog(connection: sqlite3.Connection, archive: Path) -> None:
    """Raise WorkspaceError where a catalog does something by itself, is none, or names what lies elsewhere."""
    for statement in _OF_OTHERS:
        if found := connection.execute(statement).fetchone():
            raise WorkspaceError(
                f"The catalog in {archive} holds {found[0]!r}, which no catalog of Sextant holds.", help=_NO_OTHER
            )
    held = tables_of(connection)
    lost = next((name for name in _NEEDED if name not in held), None)
    if lost or connection.execute("SELECT value FROM state WHERE name = 'schema'").fetchone() is None:
        what = f"has no table {lost}" if lost else "does not say which schema it has"
        raise WorkspaceError(f"{archive} is damaged: its catalog {what}.", help=_NO_OTHER)
    for table, column, fits in _NAMED:
        if table in held:
            # In brackets: what stands in double quotes and is no column is a text to SQLite.
            rows = connection.execute(f"SELECT [{column}] FROM [{table}]")  # noqa: S608 - of fixed names
            _refuse_first((row[0] for row in rows if not fits(row[0])), f"{column} in {table}", archive)


def check_foreign_paths(connection: sqlite3.Connection, workspace: Path, archive: Path) -> None:
    """Raise WorkspaceError where a file that the workspace is said to keep lies elsewhere.

    Sources and runs name files anywhere on the disk. Those in the workspace's own folders are removed with them.
    """
    held = tables_of(connection)
    named: list[tuple[str, Callable[[object], Iterator[object]]]] = [
        ("SELECT path FROM sources", lambda value: iter([value])),
        ("SELECT arguments FROM runs", _paths_in),
    ]
    for statement, paths_in in named:
        table = statement.rpartition(" ")[2]
        if table in held:
            rows = connection.execute(statement)
            _refuse_first(
                (path for row in rows for path in paths_in(row[0]) if _leaves(path, workspace)), table, archive
            )


def tables_of(connection: sqlite3.Connection) -> set[str]:
    """Return the names of the tables of a database in small letters, for SQLite knows them by any."""
    return {str(row[0]).lower() for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}


def _refuse_first(wrong: Iterator[object], where: str, archive: Path) -> None:
    for value in wrong:
        raise WorkspaceError(
            f"The catalog in {archive} has {str(value)[:200]!r} as {where}, which no catalog of Sextant has: "
            "paths are made of it.",
            help=_NO_OTHER,
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
    """Return whether what a phase found out of a source names, if any, a file in the folder of downloads."""
    found = json.loads(value) if isinstance(value, str) and value else {}
    if not isinstance(found, dict):
        return True
    path, sha256 = found.get("path", ""), found.get("sha256", "")
    return (path == "" or _is_download(path)) and (sha256 == "" or _is_hash(sha256))


# Each column of which something becomes part of a path.
_NAMED: tuple[tuple[str, str, Callable[[object], bool]], ...] = (
    *(
        (table, column, fits)
        for table in ("documents", "erasures")
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
