"""Notebooks in the workspace, one file each."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from rag_engine.atomic_write import write_atomic
from rag_engine.conversations.store import new_id
from rag_engine.errors import InputError, WorkspaceError
from rag_engine.notebook.notebook import Notebook

# The one that is always there, though its file is not before its first entry.
DEFAULT = Notebook("0" * 32, "Evidence")

# The codec of the stored files; a field that an older one lacks has its default.
CODEC = TypeAdapter(Notebook)

_ID = re.compile(r"[0-9a-f]{32}")

# A notebook is changed by reading it and writing it again, and two tabs may do so at the same moment.
_changing = threading.Lock()


def read_notebook(workspace: Path, id: str) -> Notebook | None:
    """Return the notebook, or None when there is none of this id or the id is not one."""
    if not _ID.fullmatch(id):
        return None
    path = _path(workspace, id)
    try:
        status = path.stat()
        return _parsed(path, status.st_ino, status.st_mtime_ns, status.st_size)
    except FileNotFoundError:
        return DEFAULT if id == DEFAULT.id else None
    except ValidationError as error:
        raise WorkspaceError(
            f"The notebook {path} cannot be read: {error}.", help="Repair that file, or move it away."
        ) from error


@lru_cache(maxsize=16)
def _parsed(path: Path, *_: int) -> Notebook:
    """Return the notebook of a file that is known by its inode, time and size."""
    return CODEC.validate_json(path.read_bytes())


def list_notebooks(workspace: Path) -> list[Notebook]:
    """Return the notebooks, the default one first and the others by name; WorkspaceError for one that is damaged."""
    ids = {DEFAULT.id, *(path.stem for path in _folder(workspace).glob("*.json"))}
    found = [notebook for id in ids if (notebook := read_notebook(workspace, id))]
    return sorted(found, key=lambda one: (one.id != DEFAULT.id, one.name.casefold(), one.id))


def create_notebook(workspace: Path, name: str) -> Notebook:
    """Make an empty notebook; InputError when another has the name."""
    with _changing:
        return _write(workspace, Notebook(new_id(), _free_name(workspace, name)))


def rename_notebook(workspace: Path, id: str, name: str) -> Notebook:
    """Give a notebook another name; InputError when another has it."""
    with _changing:
        before = _require(workspace, id)
        return _write(workspace, Notebook(id, _free_name(workspace, name, id), before.entries))


def change_notebook(workspace: Path, id: str, change: Callable[[Notebook], Notebook]) -> tuple[Notebook, Notebook]:
    """Store a notebook as `change` returns it; return it as it was and as it is now."""
    with _changing:
        before = _require(workspace, id)
        after = change(before)
        return before, before if after == before else _write(workspace, after)


def delete_notebook(workspace: Path, id: str) -> None:
    """Delete a notebook with its entries; the default one is there again, empty."""
    if _ID.fullmatch(id):
        with _changing:
            _path(workspace, id).unlink(missing_ok=True)


def _require(workspace: Path, id: str) -> Notebook:
    found = read_notebook(workspace, id)
    if found is None:
        raise InputError(f"There is no notebook {id!r}.", help="It may have been deleted; choose another one.")
    return found


def _free_name(workspace: Path, name: str, own: str = "") -> str:
    """Return a name with its blanks in order; InputError when it is empty or another notebook has it."""
    wanted = " ".join(name.split())
    if not wanted:
        raise InputError("The notebook has no name.", help="Give it one.")
    if any(one.name.casefold() == wanted.casefold() for one in list_notebooks(workspace) if one.id != own):
        raise InputError(f"There is a notebook {wanted!r} already.", help="Choose another name.")
    return wanted


def _write(workspace: Path, notebook: Notebook) -> Notebook:
    path = _path(workspace, notebook.id)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomic(path, CODEC.dump_json(notebook))
    return notebook


def _folder(workspace: Path) -> Path:
    return workspace / "notebooks"


def _path(workspace: Path, id: str) -> Path:
    return _folder(workspace) / f"{id}.json"
