"""The lock of the one writer of a workspace, and who holds it."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil  # type: ignore[import-untyped]
from filelock import FileLock, Timeout

from rag_engine.errors import WorkspaceError
from rag_engine.processes.alive import CLOCK_SECONDS
from rag_engine.workspace import read_json


def lock_or_name_holder(
    lock: FileLock, owner: Path, held: Callable[[str, str], WorkspaceError], seconds: float = 0
) -> None:
    """Acquire the lock within `seconds` and sign the file `owner`; else raise the error of `held`.

    `held` gets the process of the holder and its time.
    """
    owner.parent.mkdir(parents=True, exist_ok=True)
    try:
        lock.acquire(timeout=seconds)
    except Timeout:
        holder = read_json(owner)
        raise held(str(holder.get("process", "?")), str(holder.get("since", "?"))) from None
    owner.write_text(json.dumps({"process": os.getpid(), "since": time.strftime("%H:%M:%S")}), encoding="utf-8")


@contextmanager
def write_lock(workspace: Path) -> Iterator[None]:
    """Hold the lock of the one writer of a workspace; the error of a second process names its holder."""
    lock, owner = FileLock(workspace / "write.lock"), workspace / "writer.json"

    def held(process: str, since: str) -> WorkspaceError:
        return WorkspaceError(
            "Workspace {workspace} is being written by process {process} since {since}.",
            help="Wait until it is done, or stop it.",
            retryable=True,
            workspace=workspace,
            process=process,
            since=since,
        )

    lock_or_name_holder(lock, owner, held)
    try:
        yield
    finally:
        owner.unlink(missing_ok=True)
        lock.release()


@dataclass(frozen=True, slots=True)
class WritingProcess:
    """Process that is writing a collection, by its number, and when it began."""

    process: int
    since: str


def find_writer(workspace: Path) -> WritingProcess | None:
    """Return the other process that is writing the collection, or None.

    A process that was killed does not count.
    """
    owner = workspace / "writer.json"
    stored = read_json(owner)
    try:
        writer = WritingProcess(int(stored["process"]), str(stored["since"]))
        began = psutil.Process(writer.process).create_time()
        # A number may have been given to another process since.
        signed = began <= owner.stat().st_mtime + CLOCK_SECONDS
    except (KeyError, ValueError, OSError, psutil.Error):
        return None
    return writer if signed and writer.process != os.getpid() else None
