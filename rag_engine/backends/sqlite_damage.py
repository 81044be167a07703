"""Damage in a file of SQLite: told from other failures, and said in one sentence with its cure."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from sqlalchemy.engine import ExceptionContext

from rag_engine.errors import WorkspaceError

# The database of the records; the others are catalogs.
RECORDS = "records.sqlite"
_DAMAGE = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
_NO_TEXT = "Could not decode to UTF-8"
CURE = (
    "`sextant doctor --repair` rebuilds it from the log and the originals. Without the log, restore the latest "
    "backup with `sextant restore ARCHIVE --workspace NEW`. Without a backup, add the files in its folder `files` to a "
    "new workspace with `sextant add`."
)


def damaged_database(path: Path, found: str) -> WorkspaceError:
    """Return the error for a damaged catalog or records file, with SQLite's findings."""
    if path.name == RECORDS:
        return WorkspaceError(
            "The records {path} are damaged: {damage}.",
            help="Restore the latest backup with `sextant restore ARCHIVE --workspace NEW`. Without a backup, "
            "`sextant doctor --repair` begins new ones: the documents stay, and it says what is lost.",
            path=path,
            damage=_in_short(found),
        )
    return WorkspaceError("The catalog {path} is damaged: {damage}.", help=CURE, path=path, damage=_in_short(found))


def _in_short(found: str) -> str:
    """Return the line of a finding that names the damage, without text from the database."""
    return _NO_TEXT if _NO_TEXT in found or "codec can't decode" in found else found.strip().splitlines()[-1][:200]


@contextmanager
def damage_reported(path: Path) -> Iterator[None]:
    """Raise WorkspaceError if SQLite finds the file damaged, not if it is locked or the disk is full."""
    try:
        yield
    except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
        if is_damage(error):
            raise damaged_database(path, str(error)) from error
        raise


def report_damage(path: Path, context: ExceptionContext) -> None:
    """Raise the damage of a file as WorkspaceError, as a listener to the errors of an engine."""
    if is_damage(context.original_exception):
        raise damaged_database(path, str(context.original_exception)) from context.original_exception


def is_damage(error: BaseException | None) -> bool:
    """Return whether SQLite says that a file is damaged, no database at all, or that a text in it is none."""
    if isinstance(error, UnicodeDecodeError):
        # A message of SQLite that quotes the damaged value.
        return True
    if not isinstance(error, sqlite3.Error):
        return False
    # The lower byte is the kind of an error, the rest says more of it. An error of Python's own has none.
    return getattr(error, "sqlite_errorcode", 0) & 0xFF in _DAMAGE or _NO_TEXT in str(error)


def find_damage(path: Path, *, most: int = 1) -> list[str]:
    """Return at most this number of findings of SQLite in a file; about a second for 300 MB.

    The half-written work of a killed process is undone first, as at the next opening of the file. Raise
    sqlite3.DatabaseError if the file cannot be read for another reason.
    """
    try:
        with closing(reading(path)) as connection:
            rows = [str(row[0]) for row in connection.execute(f"PRAGMA quick_check({most})")]
    except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
        if not is_damage(error):
            raise
        return [str(error)]
    return [] if rows == ["ok"] else [_in_short(row) for row in rows]


def reading(path: Path, seconds: float = 30.0) -> sqlite3.Connection:
    """Return a connection that changes nothing, with transactions as they are asked for.

    It undoes the half-written work of a killed process, which one that may not write at all refuses to read.
    """
    mode = "rw" if path.with_name(f"{path.name}-journal").exists() else "ro"
    address = f"{path.absolute().as_uri()}?mode={mode}"
    connection = sqlite3.connect(address, uri=True, timeout=seconds, isolation_level=None)
    connection.execute("PRAGMA query_only=ON")
    return connection
