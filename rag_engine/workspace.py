"""The folder that holds a collection: its parts, who may write in it, and whether a server runs on it."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

import httpx
from filelock import FileLock, Timeout

from rag_engine.errors import WorkspaceError


@dataclass(frozen=True, slots=True)
class Serving:
    """A running `sextant serve`: its process, the page's address and the Chroma server's."""

    process: int
    address: str
    chroma_url: str
    since: str


def files(workspace: Path) -> Path:
    """Folder of the documents' copies."""
    return workspace / "files"


def uploads(workspace: Path) -> Path:
    """Folder of files that came in through the page and wait to be added."""
    return workspace / "uploads"


def sparse_index(workspace: Path, generation: int) -> Path:
    """Folder of one generation of the keyword index."""
    return workspace / "index" / str(generation) / "keywords"


def chroma(workspace: Path) -> Path:
    """Folder of the embedded or served Chroma."""
    return workspace / "index" / "chroma"


def vectors(workspace: Path) -> Path:
    """Folder of the vector store."""
    return workspace / "vectors"


@contextmanager
def write_lock(workspace: Path) -> Iterator[None]:
    """Nothing; only one process at a time writes in a workspace, and a second is told which one does."""
    workspace.mkdir(parents=True, exist_ok=True)
    lock, owner = FileLock(workspace / "write.lock"), workspace / "writer.json"
    try:
        lock.acquire(timeout=0)
    except Timeout:
        holder = json.loads(owner.read_text(encoding="utf-8")) if owner.exists() else {}
        raise WorkspaceError(
            f"Workspace {workspace} is being written by process {holder.get('process', '?')} "
            f"since {holder.get('since', '?')}.",
            help="Wait until it is done, or stop it.",
            retryable=True,
        ) from None
    try:
        owner.write_text(json.dumps({"process": os.getpid(), "since": time.strftime("%H:%M:%S")}), encoding="utf-8")
        yield
    finally:
        owner.unlink(missing_ok=True)
        lock.release()


@contextmanager
def work_lock(workspace: Path) -> Iterator[bool]:
    """Whether this process is the workspace's one worker."""
    workspace.mkdir(parents=True, exist_ok=True)
    lock = FileLock(workspace / "worker.lock")
    try:
        lock.acquire(timeout=0)
    except Timeout:
        yield False
        return
    try:
        yield True
    finally:
        lock.release()


def announce(workspace: Path, serving: Serving) -> None:
    """Nothing; tells other commands on this workspace where the servers are."""
    workspace.mkdir(parents=True, exist_ok=True)
    temporary = workspace / "serving.json.new"
    temporary.write_text(json.dumps(asdict(serving)), encoding="utf-8")
    temporary.replace(workspace / "serving.json")


def withdraw(workspace: Path) -> None:
    """Nothing; the servers of this workspace are no more."""
    (workspace / "serving.json").unlink(missing_ok=True)


def find_serving(workspace: Path) -> Serving | None:
    """The server that runs on this workspace and answers, or None."""
    path = workspace / "serving.json"
    if not path.exists():
        return None
    serving = Serving(**json.loads(path.read_text(encoding="utf-8")))
    return serving if chroma_answers(serving.chroma_url) else None


def chroma_answers(url: str) -> bool:
    """Whether a Chroma server answers at the URL."""
    try:
        return httpx.get(f"{url}/api/v2/heartbeat", timeout=2.0).status_code == 200
    except httpx.HTTPError:
        return False
