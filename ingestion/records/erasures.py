"""Erasures that have begun, noted before their first step so that the next writer finishes them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from filelock import FileLock, Timeout
from pydantic import TypeAdapter

from rag_engine.errors import WorkspaceError
from rag_engine.storage.collection import Collection
from rag_engine.storage.records import bodies, delete_record, reading, write_record, writing
from rag_engine.types.finding import Finding


@dataclass(frozen=True, slots=True)
class BegunErasure:
    """A requested erasure: its document, who asked for it and why; `code` is that of the listed source."""

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


_CODEC, _KIND = TypeAdapter(BegunErasure), "erasure"


def begun_erasures(workspace: Path) -> list[BegunErasure]:
    """Return the erasures that have begun and not ended, oldest document first."""
    with reading(workspace) as connection:
        begun = map(_CODEC.validate_json, bodies(connection, _KIND).values())
        return sorted(begun, key=lambda erasure: erasure.key)


def find_erasure(workspace: Path, name: str) -> BegunErasure | None:
    """Return the begun erasure of the document with this id, file or source."""
    return next(
        (
            erasure
            for erasure in begun_erasures(workspace)
            if name in (erasure.document_id, erasure.file, erasure.source)
        ),
        None,
    )


def begin_erasure(workspace: Path, erasure: BegunErasure) -> None:
    """Note an erasure before its first step."""
    with writing(workspace) as connection:
        write_record(connection, _KIND, str(erasure.key), _CODEC.dump_json(erasure).decode())


def end_erasure(workspace: Path, erasure: BegunErasure) -> None:
    """Forget an erasure after its last step."""
    with writing(workspace) as connection:
        delete_record(connection, _KIND, str(erasure.key))


@contextmanager
def erasing(workspace: Path) -> Iterator[None]:
    """Hold the lock of the one process that erases; WorkspaceError if another one does."""
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


def check(collection: Collection) -> Iterator[Finding]:
    """Yield the erasures that are not finished, and what they left in files of the indexes."""
    unfinished = [erasure.file for erasure in begun_erasures(collection.workspace)]
    if unfinished or collection.is_erasing():
        named = ", ".join(unfinished) or "files of the indexes are still to be written anew"
        remedy = (
            "Whatever writes next finishes it: `sextant erase FILE` again, `sextant add`, a run, `sextant rebuild`."
        )
        yield Finding("Erasures", "bad", f"begun and not finished: {named}", remedy)
    if left := collection.left_by_erasures():
        found = f"erased, and still there: {'; '.join(left)}"
        yield Finding("Erased words", "bad", found, "Or run `sextant rebuild` now.")
