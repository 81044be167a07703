"""Records that a person makes, in the workspace: conversations, notebooks, saved searches, a JSON file each."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Generic, Protocol, TypeVar

from filelock import FileLock
from pydantic import AfterValidator, TypeAdapter, ValidationError
from pydantic_core import from_json

from rag_engine.atomic_write import write_atomic
from rag_engine.conversations.person import LOCAL, OwnedRecord, Person, may_read, owns
from rag_engine.errors import InputError, WorkspaceError
from rag_engine.workspace import inside, make_folder

_ID = re.compile(r"[0-9a-f]{32}")
# Records that were read last and are kept: pages ask for the same ones at everything a person does.
_KEPT = 16
# Records of which it is known whose they are: each list is looked through for what is open to one person.
_OWNERS = 4096
# Characters of a name.
LONGEST_NAME = 80


def _as_moment(text: str) -> str:
    datetime.fromisoformat(text)
    return text


# A moment in ISO form. Pages that list records show its day, and none of them could be listed beside one without.
Moment = Annotated[str, AfterValidator(_as_moment)]


class NamedRecord(OwnedRecord, Protocol):
    """A record that a person gave a name."""

    @property
    def name(self) -> str:
        """As it is shown."""


def short_name(name: str) -> str:
    """Return a name with its blanks in order; InputError when it is longer than names may be."""
    wanted = " ".join(name.split())
    if len(wanted) > LONGEST_NAME:
        raise InputError(
            "The name has {length:,} characters; {limit:,} are allowed.",
            help="Give a shorter one.",
            length=len(wanted),
            limit=LONGEST_NAME,
        )
    return wanted


AnyRecord = TypeVar("AnyRecord", bound=OwnedRecord)


@dataclass(frozen=True, slots=True)
class _Ownership:
    """Whose a record is, known without the record."""

    id: str
    owner: str
    shared_by: str


def is_id(id: str) -> bool:
    """Return whether this could be the id of a record, and so part of a file's name."""
    return bool(_ID.fullmatch(id))


def file_state(path: Path) -> tuple[int, int, int]:
    """Return what tells a file from what it was before it was written again: inode, time and size."""
    status = path.stat()
    return status.st_ino, status.st_mtime_ns, status.st_size


class RecordFiles(Generic[AnyRecord]):
    """The records of one kind, in a folder of the workspace.

    `noun` names one and `cure` says what helps where a file cannot be read. Whoever changes a record by reading and
    writing it holds `changing` meanwhile, since two tabs or processes may do so at the same moment. A record is its
    owner's alone unless it is shared; without a person it is the local one who asks.
    """

    def __init__(self, folder: str, noun: str, codec: TypeAdapter[AnyRecord], cure: str) -> None:
        self._folder, self._noun, self._codec, self._cure = folder, noun, codec, cure
        self._parsed = lru_cache(maxsize=_KEPT)(self._parse)
        self._owned = lru_cache(maxsize=_OWNERS)(self._parse_ownership)

    @contextmanager
    def changing(self, workspace: Path) -> Iterator[None]:
        """Hold the lock of the one that changes records of this kind, in whatever process."""
        make_folder(workspace)
        with FileLock(workspace / f"{self._folder}.lock"):
            yield

    def path(self, workspace: Path, id: str) -> Path:
        """Return the file of a record; WorkspaceError for an id that leads out of their folder."""
        return inside(workspace / self._folder, f"{id}.json")

    def state(self, workspace: Path, id: str) -> tuple[int, int, int] | None:
        """Return what changes when a record is written again, None where there is none; nothing is read."""
        with suppress(FileNotFoundError):
            return file_state(self.path(workspace, id)) if is_id(id) else None
        return None

    def files(self, workspace: Path, person: Person = LOCAL) -> list[Path]:
        """Return the files of the records that are open to a person, each named by its id.

        Those that cannot be read are among them where nobody logs in: then they can be nobody else's.
        """
        return [path for path in self.every_file(workspace) if self._is_open(path, person)]

    def every_file(self, workspace: Path) -> list[Path]:
        """Return the files of all records, whosever they are."""
        return list((workspace / self._folder).glob("*.json"))

    def change_all(self, workspace: Path, naming: str, change: Callable[[AnyRecord], AnyRecord]) -> list[Path]:
        """Store every record whose file has this word in it as `change` returns it, whosever it is.

        Return the files that stay as they are though the word is or may be in them: they cannot be read as records.
        """
        # Whoever was writing a record before has written it, and none that comes later is overlooked.
        with self.changing(workspace):
            pass
        return [path for path in self.every_file(workspace) if not self._change(workspace, path, naming, change)]

    def unread(self, workspace: Path) -> list[Path]:
        """Return the files of records that cannot be read, whosever they are."""
        return [path for path in sorted(self.every_file(workspace)) if not self._is_whole(workspace, path)]

    def _change(self, workspace: Path, path: Path, naming: str, change: Callable[[AnyRecord], AnyRecord]) -> bool:
        """Change a record where its file has the word in it; return False for what cannot be read."""
        try:
            content = path.read_bytes()
            # Parsed as a record only where the word is in it at all: a long one takes half a second.
            if naming.encode() not in content:
                from_json(content)
                return True
            with self.changing(workspace):
                before = self.read_any(workspace, path.stem)
                if before is not None:
                    self.write(workspace, change(before))
        except FileNotFoundError:
            # It was deleted meanwhile.
            return True
        except (OSError, ValueError, WorkspaceError):
            return False
        return before is not None or not path.exists()

    def _is_whole(self, workspace: Path, path: Path) -> bool:
        try:
            if self.read_any(workspace, path.stem) is None:
                # Of another name than a record's, or deleted meanwhile.
                from_json(path.read_bytes())
        except FileNotFoundError:
            return True
        except (OSError, ValueError, WorkspaceError):
            return False
        return True

    def read(self, workspace: Path, id: str, person: Person = LOCAL) -> AnyRecord | None:
        """Return the record, None where there is none of this id or it is somebody else's.

        WorkspaceError for a file that cannot be read.
        """
        found = self.read_any(workspace, id)
        return found if found is not None and may_read(person, found) else None

    def read_any(self, workspace: Path, id: str) -> AnyRecord | None:
        """Return the record, whosever it is, as `read` does."""
        if not is_id(id):
            return None
        path = self.path(workspace, id)
        try:
            return self._parsed(path, *file_state(path))
        except FileNotFoundError:
            return None
        except ValidationError as error:
            # Not the error's own words: they quote what is in the file, to whoever asks for it.
            why = error.errors(include_input=False)[0]["msg"].rstrip(".")
            raise WorkspaceError(
                "The {what} {file} cannot be read: {error}.", help=self._cure, what=self._noun, file=path, error=why
            ) from error

    def read_own(self, workspace: Path, id: str, person: Person = LOCAL) -> AnyRecord | None:
        """Return the record to be changed, None where there is none that the person may see.

        InputError for one that somebody else shares: it can be read and no more.
        """
        found = self.read(workspace, id, person)
        if found is not None and not owns(person, found.owner):
            raise InputError(
                "This is shared by {person}, who alone can change it.",
                help="Make another one.",
                person=found.shared_by,
            )
        return found

    def is_open(self, workspace: Path, id: str, person: Person) -> bool:
        """Return whether there is a record of this id that the person may read."""
        return is_id(id) and self._is_open(self.path(workspace, id), person)

    def _is_open(self, path: Path, person: Person) -> bool:
        try:
            return may_read(person, self._owned(path, *file_state(path)))
        except FileNotFoundError:
            return False
        except ValidationError:
            return not person.key

    def _parse_ownership(self, path: Path, *_: int) -> _Ownership:
        found = self._parse(path)
        return _Ownership(found.id, found.owner, found.shared_by)

    def _parse(self, path: Path, *_: int) -> AnyRecord:
        """Return the record of a file that is known by its inode, time and size."""
        return self._codec.validate_json(path.read_bytes())

    def write(self, workspace: Path, record: AnyRecord) -> AnyRecord:
        """Store a record, in the place of what it was, and return it."""
        path = self.path(workspace, record.id)
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomic(path, self._codec.dump_json(record))
        return record

    def delete(self, workspace: Path, id: str) -> None:
        """Delete a record, where there is one."""
        self.path(workspace, id).unlink(missing_ok=True)

    def free_name(self, name: str, others: Iterable[NamedRecord], owner: str, own: str = "") -> str:
        """Return a name with its blanks in order.

        InputError when it is empty or too long, or another record than `own` of the same owner has it.
        """
        wanted = short_name(name)
        if not wanted:
            raise InputError("The name is empty.", help="Give one.")
        taken = (one.name.casefold() for one in others if one.id != own and one.owner == owner)
        if wanted.casefold() in taken:
            raise InputError("The name {wanted!r} is taken already.", help="Choose another name.", wanted=wanted)
        return wanted
