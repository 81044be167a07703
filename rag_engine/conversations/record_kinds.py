"""Kinds of records that people make: conversations, notebooks, saved searches, test questions, runs."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, Generic, Protocol, TypeVar

import sqlalchemy as sql
from pydantic import AfterValidator, TypeAdapter, ValidationError

from rag_engine.conversations.person import LOCAL, OwnedRecord, Person, may_read, owns
from rag_engine.errors import InputError, WorkspaceError
from rag_engine.storage.catalog import portions
from rag_engine.storage.records import bodies, delete_record, reading, records, values_in, write_record, writing

_ID = re.compile(r"[0-9a-f]{32}")
# Records that were read last and are kept: pages ask for the same ones at everything a person does.
_KEPT = 64
# Every kind, with what its records hold.
KINDS: dict[str, TypeAdapter[Any]] = {}
# Characters of a name.
LONGEST_NAME = 80


# A moment in ISO form. Lists of records show its day; one record without a day would break the whole list.
Moment = Annotated[str, AfterValidator(lambda text: datetime.fromisoformat(text) and text)]


class NamedRecord(OwnedRecord, Protocol):
    """A record that a person gave a name."""

    @property
    def name(self) -> str:
        """As it is shown."""


def short_name(name: str) -> str:
    """Return a name with its blanks in order; InputError when it is longer than names may be.

    >>> short_name("  Sea   walls ")
    'Sea walls'
    """
    wanted = " ".join(name.split())
    if len(wanted) > LONGEST_NAME:
        raise InputError(
            "The name has {length:,} characters; {limit:,} are allowed.",
            help="Give a shorter one.",
            length=len(wanted),
            limit=LONGEST_NAME,
        )
    return wanted


def choice_of(workspace: Path, kind: str, person: Person) -> str:
    """Return a person's choice of a kind, or ""."""
    with reading(workspace) as connection:
        return bodies(connection, kind).get(person.key, "")


def keep_choice(workspace: Path, kind: str, person: Person, choice: str) -> None:
    """Store a person's choice of a kind in place of the choice before."""
    with writing(workspace) as connection:
        write_record(connection, kind, person.key, choice, person.key)


AnyRecord = TypeVar("AnyRecord", bound=OwnedRecord)


def is_id(id: str) -> bool:
    """Return whether this could be the id of a record.

    >>> is_id("../settings.toml")
    False
    """
    return bool(_ID.fullmatch(id))


class RecordKind(Generic[AnyRecord]):
    """The records of one kind; `noun` names one.

    Hold `changing` to change a record by reading and writing it: two tabs or processes may do so at the same moment. A
    record is its owner's alone unless it is shared. Without a person, the local person asks.
    """

    def __init__(self, kind: str, noun: str, codec: TypeAdapter[AnyRecord]) -> None:
        self._kind, self._noun, self._codec = kind, noun, codec
        self._parsed = lru_cache(maxsize=_KEPT)(self._parse)
        KINDS[kind] = codec

    def changing(self, workspace: Path) -> AbstractContextManager[object]:
        """Hold the lock for changing records, in any process."""
        return writing(workspace)

    def version(self, workspace: Path, id: str) -> int | None:
        """Return the version of a record, which changes with every write; None without a record.

        The record itself is not read.
        """
        with reading(workspace) as connection:
            found: int | None = connection.execute(sql.select(records.c.version).where(self._is(id))).scalar()
        return found

    def versions(self, workspace: Path, person: Person | None = None, naming: str = "") -> list[tuple[str, int]]:
        """Return id and version of the records that a person may read, or of all, that have a word in them."""
        wanted = sql.select(records.c.id, records.c.version).where(records.c.kind == self._kind)
        if person is not None:
            owners = {person.key, ""} if person.has_role("admin") else {person.key}
            wanted = wanted.where(sql.or_(records.c.owner.in_(owners), records.c.shared_by != ""))
        if naming:
            # As it stands within a JSON string.
            word = json.dumps(naming, ensure_ascii=False)[1:-1]
            wanted = wanted.where(records.c.body.contains(word, autoescape=True))
        with reading(workspace) as connection:
            return [(str(id), int(version)) for id, version in connection.execute(wanted)]

    def read_all(self, workspace: Path, under: str = "") -> list[AnyRecord]:
        """Return every record of any owner whose id begins so, in the order of writing."""
        with reading(workspace) as connection:
            found = bodies(connection, self._kind, under)
        return [self._validated(id, body) for id, body in found.items()]

    def read_some(self, workspace: Path, ids: Sequence[str]) -> list[AnyRecord]:
        """Return the records of these ids that exist."""
        with reading(workspace) as connection:
            rows = [
                row
                for some in portions(ids)
                for row in connection.execute(
                    sql.select(records.c.id, records.c.body).where(records.c.kind == self._kind, records.c.id.in_(some))
                )
            ]
        return [self._validated(str(id), str(body)) for id, body in rows]

    def values(self, workspace: Path, under: str, *paths: str) -> list[tuple[Any, ...]]:
        """Return the values at JSON paths of the records whose id begins so."""
        with reading(workspace) as connection:
            return values_in(connection, self._kind, under, paths)

    def change_all(self, workspace: Path, naming: str, change: Callable[[AnyRecord], AnyRecord | None]) -> None:
        """Store every record of any owner that has this word, as `change` returns it; None deletes it."""
        with self.changing(workspace):
            for id, _ in self.versions(workspace, naming=naming):
                before = self.read_any(workspace, id)
                after = before and change(before)
                if after is None:
                    self.delete(workspace, id)
                elif after != before:
                    self.write(workspace, after)

    def read(self, workspace: Path, id: str, person: Person = LOCAL) -> AnyRecord | None:
        """Return the record, or None if it does not exist or is somebody else's."""
        found = self.read_any(workspace, id)
        return found if found is not None and may_read(person, found) else None

    def read_any(self, workspace: Path, id: str) -> AnyRecord | None:
        """Return the record of any owner; WorkspaceError if Sextant did not write it."""
        version = self.version(workspace, id)
        return None if version is None else self._parsed(workspace, id, version)

    def read_own(self, workspace: Path, id: str, person: Person = LOCAL) -> AnyRecord | None:
        """Return the record to be changed, or None if the person may see none.

        InputError for a record that somebody else shares: it can only be read.
        """
        found = self.read(workspace, id, person)
        if found is not None and not owns(person, found.owner):
            raise InputError(
                "This is shared by {person}, who alone can change it.",
                help="Make another one.",
                person=found.shared_by,
            )
        return found

    def write(self, workspace: Path, record: AnyRecord) -> AnyRecord:
        """Store a record in place of its former state, and return it."""
        body = self._codec.dump_json(record).decode()
        with writing(workspace) as connection:
            write_record(connection, self._kind, record.id, body, record.owner, record.shared_by)
        return record

    def delete(self, workspace: Path, id: str) -> None:
        """Delete a record, if it exists."""
        with writing(workspace) as connection:
            delete_record(connection, self._kind, id)

    def free_name(self, name: str, others: Iterable[NamedRecord], owner: str, own: str = "") -> str:
        """Return a name with its blanks in order.

        InputError when it is empty or too long, or another record than `own` of the same owner has it.
        """
        wanted = short_name(name)
        if not wanted:
            raise InputError("The name is empty.", help="Give one.")
        taken = (record.name.casefold() for record in others if record.id != own and record.owner == owner)
        if wanted.casefold() in taken:
            raise InputError("The name {wanted!r} is taken already.", help="Choose another name.", wanted=wanted)
        return wanted

    def _is(self, id: str) -> sql.ColumnElement[bool]:
        return sql.and_(records.c.kind == self._kind, records.c.id == id)

    def _parse(self, workspace: Path, id: str, _version: int) -> AnyRecord | None:
        with reading(workspace) as connection:
            body = connection.execute(sql.select(records.c.body).where(self._is(id))).scalar()
        return None if body is None else self._validated(id, body)

    def _validated(self, id: str, body: str) -> AnyRecord:
        try:
            return self._codec.validate_json(body)
        except ValidationError as error:
            # Not the error's own words: they would quote the record to everyone who asks for it.
            why = error.errors(include_input=False)[0]["msg"].rstrip(".")
            raise WorkspaceError(
                "The {what} {id} cannot be read: {error}.",
                help="Delete it, or restore another backup.",
                what=self._noun,
                id=id,
                error=why,
            ) from error
