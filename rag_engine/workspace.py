"""The folder that holds a collection: its parts, who may write in it, and whether a server runs on it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from rag_engine.atomic_write import make_private
from rag_engine.errors import WorkspaceError
from rag_engine.messages import Message, load_json


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


def read_json(path: Path) -> dict[str, Any]:
    """Return the content of a small file of the workspace.

    Empty when it is not there or not whole (its writer was killed).
    """
    try:
        stored = load_json(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError, RecursionError):
        return {}
    return stored if isinstance(stored, dict) else {}
