"""Saved searches in the workspace, one file each."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from rag_engine.atomic_write import write_atomic
from rag_engine.conversations.store import new_id
from rag_engine.engine import Engine
from rag_engine.errors import InputError, WorkspaceError
from rag_engine.filters import left_documents
from rag_engine.passage_search.query import PassageQuery
from rag_engine.text.key_words import wanted_words

_ID = re.compile(r"[0-9a-f]{32}")


@dataclass(frozen=True, slots=True)
class SavedSearch:
    """A query under a name; `looked` is when it was run last, as an ISO time."""

    id: str
    name: str
    query: PassageQuery
    looked: str


_CODEC = TypeAdapter(SavedSearch)


def list_searches(workspace: Path) -> list[SavedSearch]:
    """Return the saved searches by name; WorkspaceError for a file that cannot be read."""
    found = [_read(path) for path in _folder(workspace).glob("*.json")]
    return sorted((one for one in found if one), key=lambda one: (one.name.casefold(), one.id))


def find_search(workspace: Path, id: str) -> SavedSearch:
    """Return the saved search with this id; InputError where there is none."""
    found = _read(_path(workspace, id)) if _ID.fullmatch(id) else None
    if found is None:
        raise InputError(f"There is no saved search {id!r}.", help="It may have been deleted.")
    return found


def save_search(workspace: Path, name: str, query: PassageQuery) -> SavedSearch:
    """Keep a query under a name; InputError for one that is empty, or a name that is or that another search has."""
    if not query:
        raise InputError("There is nothing to save.", help="Enter words or choose a filter first.")
    return _write(workspace, SavedSearch(new_id(), _free_name(workspace, name), query, _now()))


def rename_search(workspace: Path, id: str, name: str) -> SavedSearch:
    """Give a saved search another name; InputError when another has it."""
    before = find_search(workspace, id)
    return _write(workspace, replace(before, name=_free_name(workspace, name, id)))


def mark_looked(workspace: Path, id: str) -> SavedSearch:
    """Note that a saved search was run at this moment."""
    return _write(workspace, replace(find_search(workspace, id), looked=_now()))


def delete_search(workspace: Path, id: str) -> SavedSearch:
    """Delete a saved search and return what it was, for `restore_search`."""
    found = find_search(workspace, id)
    _path(workspace, id).unlink(missing_ok=True)
    return found


def restore_search(workspace: Path, deleted: SavedSearch) -> None:
    """Keep a deleted search again, as it was."""
    _write(workspace, deleted)


def count_new_documents(engine: Engine, saved: SavedSearch) -> int:
    """Return how many documents that were added since the last look match: the filter, and the words where there are.

    A document that only is near in meaning is not counted.
    """
    snapshot = engine.collection.snapshot()
    allowed = left_documents(saved.query.wanted, snapshot.facets, snapshot.documents)
    new = {key for key in allowed if snapshot.documents[key].added > saved.looked}
    if not new or not saved.query.words:
        return len(new)
    languages = {snapshot.documents[key].metadata.language for key in new}
    wanted = wanted_words(saved.query.words, engine.language_of(saved.query.words), languages)
    found = engine.collection.sparse().holding(wanted, allowed=new)
    return len({snapshot.owner_of(key) for key, _ in found} & new)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def _read(path: Path) -> SavedSearch | None:
    try:
        return _CODEC.validate_json(path.read_bytes())
    except FileNotFoundError:
        return None
    except ValidationError as error:
        raise WorkspaceError(
            f"The saved search {path} cannot be read: {error}.", help="Repair that file, or move it away."
        ) from error


def _free_name(workspace: Path, name: str, own: str = "") -> str:
    """Return a name with its blanks in order; InputError when it is empty or another search has it."""
    wanted = " ".join(name.split())
    if not wanted:
        raise InputError("The search has no name.", help="Give it one.")
    if any(one.name.casefold() == wanted.casefold() for one in list_searches(workspace) if one.id != own):
        raise InputError(f"There is a saved search {wanted!r} already.", help="Choose another name.")
    return wanted


def _write(workspace: Path, saved: SavedSearch) -> SavedSearch:
    path = _path(workspace, saved.id)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomic(path, _CODEC.dump_json(saved))
    return saved


def _folder(workspace: Path) -> Path:
    return workspace / "searches"


def _path(workspace: Path, id: str) -> Path:
    return _folder(workspace) / f"{id}.json"
