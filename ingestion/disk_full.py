"""A full or read-only disk of the workspace, told from faults of a file or a source."""

from __future__ import annotations

import errno
import sqlite3
from collections.abc import Iterator

from rag_engine.errors import WorkspaceError
from rag_engine.messages import NO_MESSAGE, Message

# A disk that is read refuses otherwise: these are of what is written.
_TAKES_NOTHING = (errno.ENOSPC, errno.EDQUOT, errno.EROFS)
_DATABASE = (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN)
# Of libraries in other languages no more than this text comes through.
_NO_SPACE = "No space left on device"


def raise_of_own_disk(error: Exception) -> None:
    """Raise WorkspaceError if the cause of an error is a disk that takes no more.

    No file is to blame then, and every other would meet it.
    """
    for cause in _causes(error):
        if said := _said_of_disk(cause):
            raise WorkspaceError(
                "The disk of the workspace takes nothing more: {error}.",
                help="Free space on it or make it writable, then begin it again.",
                error=said,
            ) from error


def _causes(error: BaseException) -> Iterator[BaseException]:
    """Yield an error and its causes; a killed transaction also has the error of the database."""
    seen: BaseException | None = error
    while seen is not None:
        yield seen
        seen = seen.__cause__


def _said_of_disk(error: BaseException) -> Message:
    if isinstance(error, OSError) and error.errno in _TAKES_NOTHING:
        return Message(error.strerror or _NO_SPACE)
    if isinstance(error, sqlite3.Error) and getattr(error, "sqlite_errorcode", 0) & 0xFF in _DATABASE:
        return Message(str(error))
    return Message(_NO_SPACE) if not isinstance(error, OSError) and _NO_SPACE in str(error) else NO_MESSAGE
