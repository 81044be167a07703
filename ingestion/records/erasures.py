"""Erasures that have begun: noted before their first step, so that a killed one is finished by whoever writes next."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

import sqlalchemy as sql
from filelock import FileLock, Timeout

from rag_engine.backends.sqlite_copy import keep_records
from rag_engine.errors import WorkspaceError
from rag_engine.storage.catalog import Catalog

TABLES = sql.MetaData()
erasures = sql.Table(
    "erasures",
    TABLES,
    sql.Column("key", sql.Integer, primary_key=True, autoincrement=False),
    *(
        sql.Column(name, sql.String, nullable=False)
        for name in ["document_id", "source", "sha256", "file", "code", "author", "note"]
    ),
    *(sql.Column(name, sql.Boolean, nullable=False) for name in ("former", "redact")),
)


@dataclass(frozen=True, slots=True)
class BegunErasure:
    """An erasure that was asked for: of which document, by whom and why; `code` is that of its source on the list."""

    key: int
    document_id: str
    source: str
    sha256: str
    file: str
    code: str
    author: str
    note: str
    former: bool
    redact: bool


class BegunErasures:
    """The erasures of a workspace that have begun and not ended."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        with catalog.begin() as connection:
            TABLES.create_all(connection)

    def all(self) -> list[BegunErasure]:
        """Return them, oldest document first."""
        return [BegunErasure(*row) for row in self._catalog.read(sql.select(erasures).order_by(erasures.c.key))]

    def find(self, name: str) -> BegunErasure | None:
        """Return the one of the document with this id, file or source."""
        return next((one for one in self.all() if name in (one.document_id, one.file, one.source)), None)

    def begin(self, erasure: BegunErasure) -> None:
        """Note an erasure before its first step, in the second copy too: it is not to bring the document back."""
        with self._catalog.begin() as connection:
            connection.execute(sql.delete(erasures).where(erasures.c.key == erasure.key))
            connection.execute(sql.insert(erasures).values(asdict(erasure)))
        keep_records(self._catalog.workspace)

    def end(self, erasure: BegunErasure) -> None:
        """Forget an erasure after its last step, when the document is in the second copy no more."""
        keep_records(self._catalog.workspace)
        with self._catalog.begin() as connection:
            connection.execute(sql.delete(erasures).where(erasures.c.key == erasure.key))
        self._catalog.checkpoint()


@contextmanager
def erasing(workspace: Path) -> Iterator[None]:
    """Hold the lock of the one process that erases; WorkspaceError where another one does."""
    lock = FileLock(workspace / "erase.lock")
    try:
        lock.acquire(timeout=0)
    except Timeout:
        raise WorkspaceError(
            "Another process is erasing a document of {workspace}.",
            help="Wait until it is done.",
            retryable=True,
            workspace=workspace,
        ) from None
    try:
        yield
    finally:
        lock.release()
