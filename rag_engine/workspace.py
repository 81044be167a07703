"""The folder that holds a collection: its parts, who may write in it, and whether a server runs on it."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import psutil  # type: ignore[import-untyped]
from filelock import FileLock, Timeout

from rag_engine.atomic_write import make_private, write_atomic
from rag_engine.errors import WorkspaceError
from rag_engine.messages import Message, load_json

# A process that began so much earlier or later than the announced one only bears its number again. Clocks are corrected
# by seconds while a server runs; a number is not given again so soon.
_CLOCK_SECONDS = 60.0
# Variable by which `sextant serve` has its page ask for a login, even if the settings file is lost meanwhile.
LOGIN_REQUIRED = "SEXTANT_LOGIN_REQUIRED"


@dataclass(frozen=True, slots=True)
class Serving:
    """A running `sextant serve`: its process and the page's address.

    `folder` is the served folder, by path and inode: a copy of the workspace brings the announcement along.
    """

    process: int
    started: float
    folder: str
    address: str
    since: str


def new_serving(workspace: Path, address: str) -> Serving:
    """Return the announcement of a page of this process."""
    since, started = time.strftime("%Y-%m-%d %H:%M:%S"), start_of_this_process()
    return Serving(os.getpid(), started, folder_identity(workspace), address, since)


def folder_identity(workspace: Path) -> str:
    """Return an identity that differs between a folder and its copies."""
    state = workspace.stat()
    return f"{state.st_dev}:{state.st_ino}:{workspace.resolve()}"


def make_folder(workspace: Path) -> None:
    """Make the workspace's folder, private to its owner, if it is missing.

    WorkspaceError if it cannot be a folder. An empty folder becomes private too. A folder with content is left as it
    is, since other people may need it; `sextant doctor` reports it.
    """
    try:
        # Index, manifest and logs are UTF-8, and could not name it.
        str(workspace).encode()
        make_private(workspace)
    except (OSError, UnicodeEncodeError) as error:
        cause = _why_no_folder(error)
        raise WorkspaceError(
            "{workspace} cannot be a workspace: {cause}.",
            help="Name another folder with --workspace.",
            workspace=workspace,
            cause=cause,
        ) from error


def is_writable(workspace: Path) -> bool:
    """Return whether a workspace can be written; False for a disk or folder that is read-only."""
    return not workspace.is_dir() or os.access(workspace, os.W_OK)


def _why_no_folder(error: OSError | UnicodeEncodeError) -> Message:
    if isinstance(error, UnicodeEncodeError):
        return Message("its path is not UTF-8")
    return Message("a file has its name" if isinstance(error, FileExistsError) else str(error.strerror))


def is_inside(folder: Path, path: Path) -> bool:
    """Return whether a path leads to something within a folder, after links are followed.

    The folder itself is not within it.
    """
    if "\0" in str(path):
        return False
    # Of os.path: a link to itself makes Path.resolve raise.
    return Path(os.path.realpath(folder)) in Path(os.path.realpath(path)).parents


def inside(folder: Path, *names: str) -> Path:
    """Return the path of something in a folder; WorkspaceError if its names lead out.

    `..`, a root or a link may lead out. Names from the catalog or a file of the workspace pass through here before
    anything is read or removed by them. A workspace may have been restored from the archive of a stranger.
    """
    path = folder.joinpath(*names)
    if not is_inside(folder, path):
        raise WorkspaceError(
            "The workspace names {name!r}, which does not lie in {folder}.",
            help="Nothing was read or removed there. Sextant writes no such name: use another copy of the workspace.",
            name="/".join(names),
            folder=folder,
        )
    return path


def catalog_file(workspace: Path) -> Path:
    """Return the path of the catalog's SQLite file, which a catalog on a server does not use."""
    return workspace / "catalog.sqlite"


def records_file(workspace: Path) -> Path:
    """Return the path of the database of records."""
    return workspace / "records.sqlite"


def files(workspace: Path) -> Path:
    """Return the folder of the documents' copies."""
    return workspace / "files"


def drawings(workspace: Path) -> Path:
    """Return the folder of the drawn pages, which has a folder for each content."""
    return workspace / "drawings"


def index(workspace: Path) -> Path:
    """Return the folder of the indexes, which has a folder for each generation."""
    return workspace / "index"


def sparse_index(workspace: Path, generation: int) -> Path:
    """Return the folder of one generation of the keyword index."""
    return index(workspace) / str(generation) / "keywords"


def chroma(workspace: Path, generation: int) -> Path:
    """Return the folder of one generation of Chroma."""
    return index(workspace) / str(generation) / "chroma"


def vectors(workspace: Path) -> Path:
    """Return the folder of the vector store."""
    return workspace / "vectors"


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
class CollectionWriter:
    """Process that is writing a collection, by its number, and when it began."""

    process: int
    since: str


def find_writer(workspace: Path) -> CollectionWriter | None:
    """Return the other process that is writing the collection, or None.

    A process that was killed does not count.
    """
    owner = workspace / "writer.json"
    stored = read_json(owner)
    try:
        writer = CollectionWriter(int(stored["process"]), str(stored["since"]))
        began = psutil.Process(writer.process).create_time()
        # A number may have been given to another process since.
        signed = began <= owner.stat().st_mtime + _CLOCK_SECONDS
    except (KeyError, ValueError, OSError, psutil.Error):
        return None
    return writer if signed and writer.process != os.getpid() else None


def announce(workspace: Path, serving: Serving) -> None:
    """Tell other commands of the same user on this workspace where the page is."""
    make_folder(workspace)
    write_atomic(workspace / "serving.json", json.dumps(asdict(serving)).encode(), private=True)


def withdraw(workspace: Path) -> None:
    """Remove the announcement of this process's page."""
    if read_json(workspace / "serving.json").get("process") == os.getpid():
        (workspace / "serving.json").unlink(missing_ok=True)


def find_serving(workspace: Path) -> Serving | None:
    """Return the `sextant serve` that runs on this workspace, or None. Its page may be down for a moment."""
    stored = read_json(workspace / "serving.json")
    if {name: type(value).__name__ for name, value in stored.items()} != Serving.__annotations__:
        # Not as `announce` writes it.
        return None
    serving = Serving(**stored)
    lives = is_running(serving.process, serving.started)
    return serving if lives and serving.folder == folder_identity(workspace) else None


def start_of_this_process() -> float:
    """Return when this process began, in seconds since 1970."""
    return float(psutil.Process().create_time())


def is_running(number: int, started: float) -> bool:
    """Return whether the process with this number that began at this time still runs.

    The time is in seconds since 1970.
    """
    try:
        process = psutil.Process(number)
        same = abs(process.create_time() - started) <= _CLOCK_SECONDS
        return bool(same and process.status() != psutil.STATUS_ZOMBIE)
    except psutil.Error:
        return False


def chroma_answers(url: str) -> bool:
    """Return whether a Chroma server answers at the URL."""
    import httpx

    try:
        return httpx.get(f"{url}/api/v2/heartbeat", timeout=2.0).status_code == 200
    except httpx.HTTPError:
        return False


def is_loopback(host: str) -> bool:
    """Return whether a host of an address, without port, is this machine.

    Of names only localhost counts; others are not looked up.

    >>> is_loopback("127.0.0.1")
    True
    >>> is_loopback("example.org")
    False
    """
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def read_json(path: Path) -> dict[str, Any]:
    """Return the content of a small file of the workspace.

    Empty when it is not there or not whole (its writer was killed).
    """
    try:
        stored = load_json(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError, RecursionError):
        return {}
    return stored if isinstance(stored, dict) else {}
