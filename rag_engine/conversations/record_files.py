"""Records that a person makes, in the workspace: conversations, notebooks, saved searches, a JSON file each."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import Generic, Protocol, TypeVar

from pydantic import TypeAdapter, ValidationError

from rag_engine.atomic_write import write_atomic
from rag_engine.errors import InputError, WorkspaceError

_ID = re.compile(r"[0-9a-f]{32}")
# Records that were read last and are kept: pages ask for the same ones at everything a person does.
_KEPT = 16


class IdentifiedRecord(Protocol):
    """A record with the random id that names its file."""

    @property
    def id(self) -> str:
        """32 hexadecimal digits."""


class NamedRecord(IdentifiedRecord, Protocol):
    """A record that a person gave a name."""

    @property
    def name(self) -> str:
        """As it is shown."""


AnyRecord = TypeVar("AnyRecord", bound=IdentifiedRecord)


def is_id(id: str) -> bool:
    """Return whether this could be the id of a record, and so part of a file's name."""
    return bool(_ID.fullmatch(id))


class RecordFiles(Generic[AnyRecord]):
    """The records of one kind, in a folder of the workspace.

    `noun` names one and `cure` says what helps where a file cannot be read. Whoever changes a record by reading and
    writing it holds `changing` meanwhile, since two tabs may do so at the same moment.
    """

    def __init__(self, folder: str, noun: str, codec: TypeAdapter[AnyRecord], cure: str) -> None:
        self._folder, self._noun, self._codec, self._cure = folder, noun, codec, cure
        self.changing = threading.Lock()
        self._parsed = lru_cache(maxsize=_KEPT)(self._parse)

    def path(self, workspace: Path, id: str) -> Path:
        """Return the file of a record."""
        return workspace / self._folder / f"{id}.json"

    def files(self, workspace: Path) -> list[Path]:
        """Return the files of all records, each named by its id."""
        return list((workspace / self._folder).glob("*.json"))

    def read(self, workspace: Path, id: str) -> AnyRecord | None:
        """Return the record, None where there is none of this id; WorkspaceError for a file that cannot be read."""
        if not is_id(id):
            return None
        path = self.path(workspace, id)
        try:
            status = path.stat()
            return self._parsed(path, status.st_ino, status.st_mtime_ns, status.st_size)
        except FileNotFoundError:
            return None
        except ValidationError as error:
            raise WorkspaceError(f"The {self._noun} {path} cannot be read: {error}.", help=self._cure) from error

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

    def free_name(self, name: str, others: Iterable[NamedRecord], own: str = "") -> str:
        """Return a name with its blanks in order; InputError when it is empty or a record other than `own` has it."""
        wanted = " ".join(name.split())
        if not wanted:
            raise InputError(f"The {self._noun.removeprefix('saved ')} has no name.", help="Give it one.")
        if any(one.name.casefold() == wanted.casefold() for one in others if one.id != own):
            raise InputError(f"There is a {self._noun} {wanted!r} already.", help="Choose another name.")
        return wanted
