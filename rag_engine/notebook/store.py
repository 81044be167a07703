"""Notebooks among the records of the workspace."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from pydantic import TypeAdapter

from rag_engine.conversations.erased_documents import erased_since
from rag_engine.conversations.person import LOCAL, Person
from rag_engine.conversations.record_kinds import RecordKind
from rag_engine.conversations.store import new_id
from rag_engine.errors import InputError
from rag_engine.messages import Message
from rag_engine.notebook.notebook import Notebook, without_document

# The local person's, of which there is always one though it is no record before its first entry.
DEFAULT = Notebook("0" * 32, "Evidence")

CODEC = TypeAdapter(Notebook)

NOTEBOOKS = RecordKind("notebook", Message("notebook"), CODEC)


def default_notebook(person: Person) -> Notebook:
    """Return the empty notebook that a person always has."""
    return replace(DEFAULT, id=_default_id(person.key), owner=person.key)


def is_unnamed(notebook: Notebook) -> bool:
    """Return whether this is a default notebook with its first name."""
    return notebook.name == DEFAULT.name and notebook.id == _default_id(notebook.owner)


def _default_id(owner: str) -> str:
    return hashlib.sha256(owner.encode()).hexdigest()[:32] if owner else DEFAULT.id


def read_notebook(workspace: Path, id: str, person: Person = LOCAL) -> Notebook | None:
    """Return the notebook, or None when there is none of this id or it is somebody else's."""
    return NOTEBOOKS.read(workspace, id, person) or _default_of(id, person)


def list_notebooks(workspace: Path, person: Person = LOCAL) -> list[Notebook]:
    """Return a person's notebooks, then the shared ones of others.

    The default notebook is first; the others follow by name. WorkspaceError for a damaged notebook.
    """
    default = default_notebook(person)
    ids = {default.id, *(id for id, _ in NOTEBOOKS.versions(workspace, person))}
    found = [notebook for id in ids if (notebook := read_notebook(workspace, id, person))]
    return sorted(found, key=lambda one: (one.id != default.id, one.owner != person.key, one.name.casefold(), one.id))


def create_notebook(workspace: Path, name: str, person: Person = LOCAL) -> Notebook:
    """Make an empty notebook; InputError when another of the person's has the name."""
    with NOTEBOOKS.changing(workspace):
        free = NOTEBOOKS.free_name(name, list_notebooks(workspace, person), person.key)
        return NOTEBOOKS.write(workspace, Notebook(new_id(), free, owner=person.key))


def rename_notebook(workspace: Path, id: str, name: str, person: Person = LOCAL) -> Notebook:
    """Give a notebook another name; InputError when another has it."""
    with NOTEBOOKS.changing(workspace):
        before = _require(workspace, id, person)
        free = NOTEBOOKS.free_name(name, list_notebooks(workspace, person), before.owner, id)
        return NOTEBOOKS.write(workspace, replace(before, name=free))


def share_notebook(workspace: Path, id: str, person: Person, *, shared: bool) -> None:
    """Share a notebook with everybody under the person's name, or stop sharing it."""
    change_notebook(workspace, id, lambda notebook: replace(notebook, shared_by=person.name if shared else ""), person)


def change_notebook(
    workspace: Path, id: str, change: Callable[[Notebook], Notebook], person: Person = LOCAL
) -> tuple[Notebook, Notebook]:
    """Store a notebook as `change` returns it; return its former and its new state."""
    with NOTEBOOKS.changing(workspace):
        before = _require(workspace, id, person)
        after = _without_erased(workspace, change(before))
        return before, before if after == before else NOTEBOOKS.write(workspace, after)


def delete_notebook(workspace: Path, id: str, person: Person = LOCAL) -> Notebook | None:
    """Delete a notebook with its entries and return it, so that it can be restored; None if there is none.

    A deleted default notebook is replaced by an empty one.
    """
    with NOTEBOOKS.changing(workspace):
        notebook = NOTEBOOKS.read_own(workspace, id, person)
        if notebook is not None:
            NOTEBOOKS.delete(workspace, id)
        return notebook


def restore_notebook(workspace: Path, notebook: Notebook, person: Person = LOCAL) -> Notebook:
    """Store a notebook that was deleted again; InputError when another has its name meanwhile."""
    with NOTEBOOKS.changing(workspace):
        NOTEBOOKS.free_name(notebook.name, list_notebooks(workspace, person), notebook.owner, notebook.id)
        return NOTEBOOKS.write(workspace, _without_erased(workspace, notebook))


def _without_erased(workspace: Path, notebook: Notebook) -> Notebook:
    """Return a notebook without quotes of documents that were erased and redacted since.

    An entry that was removed before the erasure may be restored after it.
    """
    for document in erased_since(workspace, min((entry.asked for entry in notebook.entries), default="")):
        notebook = without_document(notebook, document.document_id, document.when) if document.redact else notebook
    return notebook


def _default_of(id: str, person: Person) -> Notebook | None:
    default = default_notebook(person)
    return default if id == default.id else None


def _require(workspace: Path, id: str, person: Person) -> Notebook:
    found = NOTEBOOKS.read_own(workspace, id, person) or _default_of(id, person)
    if found is None:
        raise InputError("There is no notebook {id!r}.", help="It may have been deleted; choose another one.", id=id)
    return found
