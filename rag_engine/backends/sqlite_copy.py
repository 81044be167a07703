"""Second copy of the catalog, without what is read again from the originals: texts, passages and their vectors.

It is a database of its own, so that the damage of one file leaves the other. Whoever changes something brings it up to
date; what leaves the catalog leaves the copy too.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

from rag_engine.backends.sqlite_damage import damaged_database, find_damage, is_damage
from rag_engine.errors import WorkspaceError
from rag_engine.workspace import catalog_file, second_copy_file

# By their names, for the tables are defined above this room.
_READ_AGAIN = ("texts", "parents", "children", "references", "vectors")
_KEPT = f"""name NOT LIKE 'sqlite!_%' ESCAPE '!' AND sql IS NOT NULL
    AND tbl_name NOT IN ({", ".join(f"'{name}'" for name in _READ_AGAIN)})"""
_WAIT_SECONDS = 30.0


def keep_records(workspace: Path) -> None:
    """Bring the copy up to date with the catalog; it stays as it is where nothing has changed.

    A copy that is damaged is made anew, unless it is the catalog that is. Nothing is kept of a catalog in a database
    elsewhere.
    """
    if not catalog_file(workspace).is_file():
        return
    try:
        _bring_up_to_date(workspace)
    except sqlite3.DatabaseError as error:
        if not is_damage(error):
            raise WorkspaceError(
                "The second copy of the catalog, {copy}, could not be written: {error}.",
                help="The catalog has the change; the next one brings the copy up to date.",
                copy=second_copy_file(workspace),
                error=error,
            ) from error
        if found := find_damage(catalog_file(workspace)):
            raise damaged_database(catalog_file(workspace), found[0]) from error
        forget_records(workspace)
        _bring_up_to_date(workspace)


def forget_records(workspace: Path) -> None:
    """Remove the copy; the next change of the workspace makes it anew."""
    for path in (second_copy_file(workspace), Path(f"{second_copy_file(workspace)}-journal")):
        path.unlink(missing_ok=True)


def find_record_damage(workspace: Path) -> list[str]:
    """Return what is damaged in the copy; nothing where it is whole."""
    found = find_damage(second_copy_file(workspace))
    return found or ([] if _holds_records(workspace) else ["it holds no records"])


def _holds_records(workspace: Path) -> bool:
    with closing(sqlite3.connect(f"{second_copy_file(workspace).absolute().as_uri()}?mode=ro", uri=True)) as connection:
        tables = "SELECT count(*) FROM sqlite_master WHERE name IN ('state', 'documents')"
        return bool(connection.execute(tables).fetchone()[0] == 2)


def _bring_up_to_date(workspace: Path) -> None:
    path = second_copy_file(workspace)
    os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
    with closing(sqlite3.connect(path, timeout=_WAIT_SECONDS, isolation_level=None, uri=True)) as connection:
        connection.execute("PRAGMA secure_delete = ON")
        connection.execute("ATTACH ? AS catalog", (f"{catalog_file(workspace).absolute().as_uri()}?mode=ro",))
        # The copy is locked before the catalog is read, so that nobody writes what was true before.
        connection.execute("BEGIN IMMEDIATE")
        _copy_tables(connection)
        connection.execute("COMMIT")


def _copy_tables(connection: sqlite3.Connection) -> None:
    wanted, held = (dict(_made_by(connection, of)) for of in ("catalog", "main"))
    for (kind, name), statement in held.items():
        if kind == "table" and wanted.get((kind, name)) != statement:
            connection.execute(f"DROP TABLE {_quoted(name)}")
    held = dict(_made_by(connection, "main"))
    # Tables before the indexes on them.
    for (kind, name), statement in sorted(wanted.items(), key=lambda one: one[0][0] == "index"):
        if (kind, name) not in held:
            connection.execute(statement)
    for kind, name in wanted:
        if kind == "table":
            _copy_rows(connection, name)


def _made_by(connection: sqlite3.Connection, database: str) -> Iterator[tuple[tuple[str, str], str]]:
    """Yield the tables that are copied, and their indexes, by kind and name with what makes them."""
    for kind, name, statement in connection.execute(
        f"SELECT type, name, sql FROM {database}.sqlite_master WHERE {_KEPT}"  # noqa: S608 - of fixed names
    ):
        yield (kind, name), statement


def _copy_rows(connection: sqlite3.Connection, table: str) -> None:
    """Remove rows that are gone or have changed, and add those that are new."""
    described = connection.execute("SELECT name, type, pk FROM pragma_table_info(?, 'catalog')", (table,)).fetchall()
    columns = [_quoted(name) for name, _, _ in described]
    keys = [kind for _, kind, key in described if key]
    # Where the number of a row is a column of its own, it is copied with the others.
    copied = columns if keys == ["INTEGER"] else ["rowid", *columns]
    name, same = _quoted(table), _same(columns)
    now, both = f"catalog.{name} AS now", "now.rowid = kept.rowid"
    gone = f"NOT EXISTS (SELECT 1 FROM {now} WHERE {both} AND {same})"  # noqa: S608 - of names of the catalog, quoted
    new = f"NOT EXISTS (SELECT 1 FROM main.{name} AS kept WHERE {both})"  # noqa: S608 - as above
    listed = ", ".join(copied)
    connection.execute(f"DELETE FROM main.{name} AS kept WHERE {gone}")  # noqa: S608 - as above
    connection.execute(f"INSERT INTO main.{name} ({listed}) SELECT {listed} FROM {now} WHERE {new}")  # noqa: S608


def _same(columns: Sequence[str]) -> str:
    return " AND ".join(f"now.{one} IS kept.{one}" for one in columns)


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
