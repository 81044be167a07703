"""Records: the things that people make and choose in a workspace, in a second database.

A record is a row: its kind, its id, its owner, and all of it as JSON. Damage to the records leaves the catalog whole,
and the other way round. Acts, decisions and corrections are lines of the log (rag_engine/storage/log.py).
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache, partial
from pathlib import Path
from threading import local
from typing import Any

import sqlalchemy as sql
from sqlalchemy.engine import Connection

from rag_engine.backends.sqlite_damage import damage_reported, report_damage
from rag_engine.storage.schema import MessageText
from rag_engine.workspace import make_folder, records_file

TABLES = sql.MetaData()
records = sql.Table(
    "records",
    TABLES,
    sql.Column("kind", sql.String, primary_key=True),
    sql.Column("id", sql.String, primary_key=True),
    *(sql.Column(name, sql.String, nullable=False) for name in ("owner", "shared_by")),
    sql.Column("version", sql.Integer, nullable=False),
    sql.Column("body", sql.String, nullable=False),
)
log = sql.Table(
    "log",
    TABLES,
    sql.Column("id", sql.Integer, primary_key=True, autoincrement=True),
    sql.Column("kind", sql.String, nullable=False, index=True),
    *(
        sql.Column(name, MessageText if name in ("on", "note") else sql.String, nullable=False)
        for name in ("on", "when", "by", "person", "act", "note", "outcome", "of")
    ),
    sql.Column("process", sql.Integer, nullable=False),
    sql.Column("started", sql.Float, nullable=False),
    *(sql.Column(name, sql.String, nullable=False) for name in ("document_id", "sha256", "source", "file", "said")),
    sqlite_autoincrement=True,
)
# The transaction of this thread in each database: reads within it see its writes.
_OPEN = local()


@contextmanager
def reading(workspace: Path) -> Iterator[Connection]:
    """Yield a connection that reads the records; without a database there are none."""
    path = records_file(workspace)
    if (open_one := _open().get(path)) is not None:
        yield open_one
        return
    if path.is_file():
        with _engine(path, written=False).connect() as connection:
            # The first writer may have been killed before it had made the tables.
            if sql.inspect(connection).has_table(records.name):
                yield connection
                return
    with sql.create_engine("sqlite://", poolclass=sql.NullPool).begin() as connection:
        TABLES.create_all(connection)
        yield connection


@contextmanager
def writing(workspace: Path) -> Iterator[Connection]:
    """Yield a connection in a transaction that excludes other writers; nested, it is the same one."""
    path = records_file(workspace)
    if (open_one := _open().get(path)) is not None:
        yield open_one
        return
    make_folder(workspace)
    if not path.is_file():
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
    with _engine(path, written=True).begin() as connection:
        TABLES.create_all(connection)
        _open()[path] = connection
        try:
            yield connection
        finally:
            del _open()[path]


def write_record(connection: Connection, kind: str, id: str, body: str, owner: str = "", shared_by: str = "") -> None:
    """Store a record in place of its former state."""
    delete_record(connection, kind, id)
    row = {"kind": kind, "id": id, "owner": owner, "shared_by": shared_by, "version": time.time_ns(), "body": body}
    connection.execute(sql.insert(records).values(row))


def delete_record(connection: Connection, kind: str, id: str) -> None:
    """Delete a record, if it exists."""
    connection.execute(sql.delete(records).where(records.c.kind == kind, records.c.id == id))


def body_of(connection: Connection, kind: str, id: str) -> str | None:
    """Return a record, or None."""
    wanted = sql.select(records.c.body).where(records.c.kind == kind, records.c.id == id)
    found: str | None = connection.execute(wanted).scalar()
    return found


def bodies(connection: Connection, kind: str, under: str = "") -> dict[str, str]:
    """Return the records of a kind whose id begins so, by id, in the order in which they were written."""
    chosen = sql.and_(records.c.kind == kind, records.c.id.startswith(under, autoescape=True))
    rows = connection.execute(sql.select(records.c.id, records.c.body).where(chosen).order_by(records.c.version))
    return {str(id): str(body) for id, body in rows}


def values_in(connection: Connection, kind: str, under: str, paths: tuple[str, ...]) -> list[tuple[Any, ...]]:
    """Return values at JSON paths of the records of a kind whose id begins so, without the whole bodies."""
    chosen = sql.and_(records.c.kind == kind, records.c.id.startswith(under, autoescape=True))
    found = sql.select(*(sql.func.json_extract(records.c.body, path) for path in paths)).where(chosen)
    return [tuple(row) for row in connection.execute(found)]


def _open() -> dict[Path, Connection]:
    if not hasattr(_OPEN, "connections"):
        _OPEN.connections = {}
    found: dict[Path, Connection] = _OPEN.connections
    return found


@lru_cache(maxsize=16)
def _engine(path: Path, *, written: bool) -> sql.Engine:
    """Return an engine that opens a connection for each block.

    A folder that is moved or removed leaves no connection behind. One that reads may undo the half-written work of a
    killed process: a file with such work is read by nobody who may not write.
    """
    query = {"uri": "true", "mode": "rwc" if written else "rw"}
    address = sql.URL.create("sqlite", database=path.absolute().as_uri(), query=query)
    # The driver would begin no transaction before it writes, and then one that only reads.
    manually = {"isolation_level": None}
    engine = sql.create_engine(address, hide_parameters=True, poolclass=sql.NullPool, connect_args=manually)
    sql.event.listen(engine, "connect", partial(_configure, path, written))
    sql.event.listen(engine, "begin", lambda one: one.exec_driver_sql("BEGIN IMMEDIATE" if written else "BEGIN"))
    sql.event.listen(engine, "handle_error", partial(report_damage, path))
    return engine


def _configure(path: Path, written: bool, connection: Any, _record: object) -> None:
    only = "OFF" if written else "ON"
    with damage_reported(path):
        for pragma in ("secure_delete=ON", "synchronous=FULL", "busy_timeout=30000", f"query_only={only}"):
            connection.execute(f"PRAGMA {pragma}")
