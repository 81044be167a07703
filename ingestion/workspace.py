"""Folders of the workspace that only ingestion knows, and the lock of its one worker."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from rag_engine.workspace import make_folder


def uploads(workspace: Path) -> Path:
    """Folder of files that came in through the page and wait to be added."""
    return workspace / "uploads"


def previews(workspace: Path) -> Path:
    """Folder of uploads that somebody looks at, of which nothing stays."""
    return workspace / ".previews"


def downloads(workspace: Path) -> Path:
    """Folder of files that were fetched from the list of sources."""
    return workspace / "downloads"


def quarantine(workspace: Path) -> Path:
    """Folder of fetched files whose source was refused; they can be restored."""
    return workspace / "quarantine"


def pages(workspace: Path) -> Path:
    """Folder of what addresses gave, kept between the check of a licence and the download."""
    return workspace / "pages"


def licence_checks(workspace: Path) -> Path:
    """Folder of files while their licence is being read."""
    return workspace / ".licence"


def readings(workspace: Path) -> Path:
    """Folder of what was read from files."""
    return workspace / "readings"


def refused(workspace: Path) -> Path:
    """Folder of the files that broke their reader and of the sources that stopped a worker."""
    return workspace / "refused"


@contextmanager
def work_lock(workspace: Path) -> Iterator[bool]:
    """Whether this process is the workspace's one worker."""
    # A moment's patience, because `await_worker` holds the lock while it looks.
    lock = _acquired(workspace, 1.0)
    try:
        yield lock is not None
    finally:
        if lock is not None:
            lock.release()


def await_worker(workspace: Path, seconds: float = 0.0) -> bool:
    """Return whether the workspace has no worker, now or within `seconds`."""
    lock = _acquired(workspace, seconds)
    if lock is not None:
        lock.release()
    return lock is not None


def _acquired(workspace: Path, seconds: float) -> FileLock | None:
    make_folder(workspace)
    lock = FileLock(workspace / "worker.lock")
    try:
        lock.acquire(timeout=seconds)
    except Timeout:
        return None
    return lock


def backups(workspace: Path) -> Path:
    """Return the folder, next to a workspace, in which the worker keeps its backups."""
    place = workspace.resolve()
    return place.with_name(f"{place.name}-backups")
