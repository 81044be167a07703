"""Copy of a foreign catalog: our tables with the rows of known columns, and the check of values.

A catalog from elsewhere may hold triggers, views, virtual tables or generated columns under any name and spelling. None
of them is judged or used: only rows of ordinary tables in the foreign file are read.
"""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path

import sqlalchemy as sql

from rag_engine.errors import WorkspaceError

NO_OTHER = "Nothing was restored; take another backup."
_HASH, _ID = re.compile(r"[0-9a-f]{64}"), re.compile(r"[0-9a-f]{12}")
_DOWNLOADS = "downloads"
# Folders of files that came in through the page, which go with their source or run.
_EMPTIED = ("sources", "uploads")


def copy_catalog(
    foreign: Path, catalog: Path, known: Sequence[sql.MetaData], archive: Path, needed: Sequence[str]
) -> None:
    """Make a new catalog or records database of the known tables and their rows in a foreign one.

    WorkspaceError if a table lacks a column. sqlite3.Error if the foreign file is damaged or its rows do not fit into
    our tables.
    """
    catalog.touch(0o600, exist_ok=False)
    with closing(sqlite3.connect(catalog, isolation_level=None, uri=True)) as connection:
        connection.execute("PRAGMA trusted_schema=OFF")
        connection.execute("ATTACH ? AS theirs", (f"{foreign.absolute().as_uri()}?mode=ro&immutable=1",))
        tables = _held_tables(connection, known, archive, needed)
        engine = sql.create_engine(sql.URL.create("sqlite", database=str(catalog)), poolclass=sql.NullPool)
        for one in known:
            one.create_all(engine)
        connection.execute("BEGIN")
        for table in tables:
            columns = ", ".join(f'"{column.name}"' for column in table.columns)
            # Without an index, which could say something else than the table.
            rows = f'SELECT {columns} FROM theirs."{table.name}" NOT INDEXED'  # noqa: S608 - of our own names
            connection.execute(f'INSERT INTO main."{table.name}" ({columns}) {rows}')
        connection.execute("COMMIT")


def _held_tables(
    connection: sqlite3.Connection, known: Sequence[sql.MetaData], archive: Path, needed: Sequence[str]
) -> list[sql.Table]:
    """Return the known tables that the foreign catalog has.

    Each is an ordinary table with every column that we know.
    """

    def only_pragmas(action: int, *_: object) -> int:
        return sqlite3.SQLITE_OK if action == sqlite3.SQLITE_PRAGMA else sqlite3.SQLITE_DENY

    # To list tables SQLite would look into views and open virtual tables.
    connection.set_authorizer(only_pragmas)
    kinds = {str(row[1]).lower(): row[2] for row in connection.execute("PRAGMA theirs.table_list")}
    tables = [table for one in known for table in one.sorted_tables if table.name in kinds]
    for table in tables:
        if kinds[table.name] != "table":
            raise no_catalog(archive, f"{table.name} as a {kinds[table.name]}")
        found = connection.execute(f'PRAGMA theirs.table_xinfo("{table.name}")').fetchall()
        # Hidden is a column that is computed when it is read.
        stored = {str(name).lower() for _, name, *_, hidden in found if not hidden}
        if lost := next((column.name for column in table.columns if column.name not in stored), None):
            raise no_catalog(archive, f"no stored column {lost} in {table.name}")
    connection.set_authorizer(None)
    if lost := next((name for name in needed if name not in kinds), None):
        raise no_catalog(archive, f"no table {lost}")
    return tables


def no_catalog(archive: Path, what: str) -> WorkspaceError:
    """Return the error of a catalog that is not one of Sextant."""
    return WorkspaceError(f"{archive} is damaged: its catalog has {what}.", help=NO_OTHER)


def check_foreign_values(connection: sqlite3.Connection, archive: Path) -> None:
    """Raise WorkspaceError if the tables of a catalog name a place outside the workspace."""
    for table, column, fits in _NAMED:
        rows = connection.execute(f'SELECT "{column}" FROM {table}')  # noqa: S608 - of fixed names
        _refuse_first((value for (value,) in rows if not fits(value)), f"{column} in {table}", archive)


def check_foreign_paths(connection: sqlite3.Connection, workspace: Path, archive: Path) -> None:
    """Raise WorkspaceError if a file that the workspace is said to keep lies elsewhere.

    Sources and jobs name files anywhere on the disk. Files in the workspace's folders are removed with them.
    """
    of_sources = (path for (path,) in connection.execute("SELECT path FROM sources"))
    of_jobs = (path for (value,) in connection.execute("SELECT arguments FROM jobs") for path in _paths_in(value))
    for table, paths in (("sources", of_sources), ("jobs", of_jobs)):
        _refuse_first((path for path in paths if _leaves(path, workspace)), table, archive)


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
