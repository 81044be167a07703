"""Saved searches among the records of the workspace."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import ClassVar

from pydantic import TypeAdapter

from rag_engine.answering_documents import left_documents
from rag_engine.conversations.person import LOCAL, Person
from rag_engine.conversations.record_kinds import Moment, RecordKind
from rag_engine.conversations.store import new_id
from rag_engine.engine import Engine
from rag_engine.errors import InputError
from rag_engine.messages import Message
from rag_engine.passage_search.passage_query import PassageQuery
from rag_engine.passage_search.worded import find_worded
from rag_engine.text.words.key_words import wanted_words
from rag_engine.text.words.search_words import read_search


@dataclass(frozen=True, slots=True)
class SavedSearch:
    """A query under a name.

    `owner` is the key of its person; `looked` is the time of its last run in ISO format.
    """

    id: str
    name: str
    query: PassageQuery
    looked: Moment
    owner: str = ""
    # A search is shared by its address.
    shared_by: ClassVar = ""


_KIND = RecordKind("search", Message("saved search"), TypeAdapter(SavedSearch))


def list_searches(workspace: Path, person: Person = LOCAL) -> list[SavedSearch]:
    """Return a person's saved searches by name; WorkspaceError for a damaged one."""
    found = [_KIND.read(workspace, id, person) for id, _ in _KIND.versions(workspace, person)]
    return sorted((search for search in found if search), key=lambda search: (search.name.casefold(), search.id))


def find_search(workspace: Path, id: str, person: Person = LOCAL) -> SavedSearch:
    """Return the person's saved search with this id; InputError if there is none."""
    found = _KIND.read_own(workspace, id, person)
    if found is None:
        raise InputError("There is no saved search {id!r}.", help="It may have been deleted.", id=id)
    return found


def save_search(workspace: Path, name: str, query: PassageQuery, person: Person = LOCAL) -> SavedSearch:
    """Keep a query under a name; InputError for an empty query or a name that cannot be used.

    A name cannot be used if it is empty or belongs to another search.
    """
    if not query:
        raise InputError("There is nothing to save.", help="Enter words or choose a filter first.")
    free = _KIND.free_name(name, list_searches(workspace, person), person.key)
    return _KIND.write(workspace, SavedSearch(new_id(), free, query, _now(), person.key))


def rename_search(workspace: Path, id: str, name: str, person: Person = LOCAL) -> SavedSearch:
    """Give a saved search another name; InputError when another has it."""
    with _KIND.changing(workspace):
        before = find_search(workspace, id, person)
        free = _KIND.free_name(name, list_searches(workspace, person), before.owner, id)
        return _KIND.write(workspace, replace(before, name=free))


def mark_looked(workspace: Path, id: str, person: Person = LOCAL) -> SavedSearch:
    """Note that a saved search was run at this moment."""
    with _KIND.changing(workspace):
        return _KIND.write(workspace, replace(find_search(workspace, id, person), looked=_now()))


def delete_search(workspace: Path, id: str, person: Person = LOCAL) -> SavedSearch:
    """Delete a saved search and return it, for `restore_search`."""
    found = find_search(workspace, id, person)
    _KIND.delete(workspace, id)
    return found


def restore_search(workspace: Path, deleted: SavedSearch) -> None:
    """Keep a deleted search again, as it was."""
    _KIND.write(workspace, deleted)


def count_new_documents(engine: Engine, saved: SavedSearch) -> int:
    """Return how many matching documents were added since the last look.

    They match the filter and hold the words, if there are words. Nearness in meaning does not count.
    """
    snapshot = engine.collection.snapshot()
    allowed = left_documents(saved.query.wanted, snapshot.facets, snapshot.documents)
    new = {key for key in allowed if snapshot.documents[key].added > saved.looked}
    if not new or not saved.query.words:
        return len(new)
    languages = {snapshot.documents[key].metadata.language for key in new}
    language = engine.language_of(read_search(saved.query.words).plain)
    wanted = wanted_words(saved.query.words, language, languages)
    worded, _ = find_worded(engine, wanted, new, snapshot, anywhere=saved.query.anywhere)
    return len({snapshot.owner_of(key) for key in worded.passages})


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
