"""The announcement of the running `sextant serve` of a workspace."""

from __future__ import annotations

import json
import os
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from rag_engine.atomic_write import write_atomic
from rag_engine.processes.alive import is_running, start_of_this_process
from rag_engine.workspace import make_folder, read_json

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
