"""Copy of a foreign catalog: our tables, made by us, and in them the rows of the columns that we know.

A catalog from elsewhere may hold triggers, views, virtual tables or generated columns under any name and spelling. None
of them is judged or used: only rows of ordinary tables in the foreign file are read.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import sqlalchemy as sql

from rag_engine.errors import WorkspaceError

NO_OTHER = "Nothing was restored; take another backup."
_NEEDED = ("state", "documents")


def copy_catalog(
    foreign: Path, catalog: Path, known: Sequence[sql.MetaData], archive: Path, needed: Sequence[str] = _NEEDED
) -> set[str]:
    """Make a new catalog or records database of the known tables in a foreign one; return their names.

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
            one.create_all(engine, tables=[table for table in tables if table.metadata is one])
        connection.execute("BEGIN")
        for table in tables:
            columns = ", ".join(f'"{column.name}"' for column in table.columns)
            # Without an index, which could say something else than the table.
            rows = f'SELECT {columns} FROM theirs."{table.name}" NOT INDEXED'  # noqa: S608 - of our own names
            connection.execute(f'INSERT INTO main."{table.name}" ({columns}) {rows}')
        connection.execute("COMMIT")
    return {table.name for table in tables}


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
