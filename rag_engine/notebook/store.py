"""Notebooks in the workspace, one file each."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from pydantic import TypeAdapter

from rag_engine.conversations.record_files import RecordFiles, is_id
from rag_engine.conversations.store import new_id
from rag_engine.errors import InputError
from rag_engine.notebook.notebook import Notebook

# The one that is always there, though its file is not before its first entry.
DEFAULT = Notebook("0" * 32, "Evidence")

# The codec of the stored files; a field that an older one lacks has its default.
CODEC = TypeAdapter(Notebook)

_FILES = RecordFiles("notebooks", "notebook", CODEC, "Repair that file, or move it away.")


def read_notebook(workspace: Path, id: str) -> Notebook | None:
    """Return the notebook, or None when there is none of this id or the id is not one."""
    return _FILES.read(workspace, id) or (DEFAULT if id == DEFAULT.id else None)


def list_notebooks(workspace: Path) -> list[Notebook]:
    """Return the notebooks, the default one first and the others by name; WorkspaceError for one that is damaged."""
    ids = {DEFAULT.id, *(path.stem for path in _FILES.files(workspace))}
    found = [notebook for id in ids if (notebook := read_notebook(workspace, id))]
    return sorted(found, key=lambda one: (one.id != DEFAULT.id, one.name.casefold(), one.id))


def create_notebook(workspace: Path, name: str) -> Notebook:
    """Make an empty notebook; InputError when another has the name."""
    with _FILES.changing:
        return _FILES.write(workspace, Notebook(new_id(), _FILES.free_name(name, list_notebooks(workspace))))


def rename_notebook(workspace: Path, id: str, name: str) -> Notebook:
    """Give a notebook another name; InputError when another has it."""
    with _FILES.changing:
        before = _require(workspace, id)
        return _FILES.write(
            workspace, Notebook(id, _FILES.free_name(name, list_notebooks(workspace), id), before.entries)
        )


def change_notebook(workspace: Path, id: str, change: Callable[[Notebook], Notebook]) -> tuple[Notebook, Notebook]:
    """Store a notebook as `change` returns it; return it as it was and as it is now."""
    with _FILES.changing:
        before = _require(workspace, id)
        after = change(before)
        return before, before if after == before else _FILES.write(workspace, after)


def delete_notebook(workspace: Path, id: str) -> None:
    """Delete a notebook with its entries; the default one is there again, empty."""
    if is_id(id):
        with _FILES.changing:
            _FILES.delete(workspace, id)


def _require(workspace: Path, id: str) -> Notebook:
    found = read_notebook(workspace, id)
    if found is None:
        raise InputError(f"There is no notebook {id!r}.", help="It may have been deleted; choose another one.")
    return found
