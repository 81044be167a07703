"""Archive of a backup: an uncompressed ZIP file with a manifest.

The manifest holds the size and hash of every other member.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import stat
import struct
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from pydantic import TypeAdapter

from ingestion.backup.contents import CATALOG, may_hold
from rag_engine.errors import InputError, WorkspaceError
from rag_engine.messages import Message

# Of archives; another number where an older Sextant could not restore them.
ARCHIVE_FORMAT = 1
_MANIFEST = "manifest.json"
# Of a manifest, which is read whole: that of a million files has less.
_LONGEST_MANIFEST = 2**28
_PORTION = 1 << 20
# The earliest time that a ZIP file can name. Times are in the manifest, to the nanosecond.
_NO_TIME = (1980, 1, 1, 0, 0, 0)
# All that reading a ZIP file raises where its bytes are not as they were written.
_DAMAGED = (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError, ValueError, struct.error, OverflowError)

# What the system says of a name that cannot be that of a file, or is taken by another one of the same archive.
_OF_NAMES = (errno.EEXIST, errno.ENOTDIR, errno.EISDIR, errno.ENAMETOOLONG, errno.EINVAL, errno.EILSEQ)
# Of bytes; above it is no size of anything, and no number that a float can be.
_LARGEST = 2**62

# How many bytes are done of how many, and the file at hand.
Advance = Callable[[int, int, str], None]


@dataclass(frozen=True, slots=True)
class ArchivedFile:
    """A file of a backup, by its path in the workspace; `modified` in nanoseconds."""

    name: str
    size: int
    sha256: str
    modified: int


@dataclass(frozen=True, slots=True)
class ArchiveManifest:
    """Manifest of a backup: its workspace and version, the size of the indexes, and every file."""

    format: int
    schema: int
    made: str
    workspace: str
    documents: int
    passages: int
    index_bytes: int
    files: tuple[ArchivedFile, ...]
    version: str = ""

    @property
    def size(self) -> int:
        """Bytes of all files."""
        return sum(file.size for file in self.files)


_CODEC = TypeAdapter(ArchiveManifest)


@contextmanager
def new_archive(path: Path) -> Iterator[zipfile.ZipFile]:
    """Yield a new archive that its owner alone can read; it is on the disk at the end of the block."""
    with os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600), "w+b") as file:
        with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
            yield archive
        file.flush()
        os.fsync(file.fileno())


def pack(archive: zipfile.ZipFile, name: str, path: Path) -> ArchivedFile:
    """Put a file in under a name."""
    with path.open("rb") as source:
        state = os.fstat(source.fileno())
        with archive.open(_member(name), "w", force_zip64=True) as target:
            packed, sha256 = _copy(source, target)
    return ArchivedFile(name, packed, sha256, state.st_mtime_ns)


def put_manifest(archive: zipfile.ZipFile, manifest: ArchiveManifest) -> None:
    """Put the manifest in, behind all that it names."""
    with archive.open(_member(_MANIFEST), "w") as target:
        target.write(_CODEC.dump_json(manifest))


@contextmanager
def opened_archive(path: Path) -> Iterator[tuple[zipfile.ZipFile, ArchiveManifest]]:
    """Yield an archive with its manifest, after checking that all its members are listed and harmless.

    InputError if the file is no backup, WorkspaceError if it is damaged or was made by a newer Sextant.
    """
    if not path.is_file():
        raise InputError("{file} is no file.", help="Name the one that `sextant backup` made.", file=path)
    with path.open("rb") as file:
        try:
            archive = zipfile.ZipFile(file)
        except (*_DAMAGED, OSError) as error:
            raise InputError(
                "{file} is no backup of Sextant, or its end is cut off: {error}.",
                help="Take another backup.",
                file=path,
                error=error,
            ) from error
        with archive:
            manifest = _read_manifest(archive, path)
            _check_members(archive, manifest, path)
            yield archive, manifest


def unpack(archive: zipfile.ZipFile, file: ArchivedFile, folder: Path) -> None:
    """Write a member into the folder, readable by its owner alone.

    WorkspaceError if the bytes differ from those that were packed.
    """
    path = folder / file.name
    with os.fdopen(_new_file(path, archive, file.name), "wb") as target:
        try:
            with archive.open(file.name) as source:
                size, sha256 = _copy(source, target, file.size)
        except _DAMAGED as error:
            raise damaged(archive, file.name) from error
    if (size, sha256) != (file.size, file.sha256):
        raise damaged(archive, file.name)
    # A time that this disk does not know is none.
    with suppress(OverflowError, OSError):
        os.utime(path, ns=(file.modified, file.modified))


def _new_file(path: Path, archive: zipfile.ZipFile, name: str) -> int:
    """Create the file of a member and return its descriptor.

    WorkspaceError if the disk does not accept the name or has it already.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except OSError as error:
        if error.errno not in _OF_NAMES:
            raise
        raise WorkspaceError(
            "{file} holds {name!r}, which cannot be written here: {error}.",
            help="Nothing was restored; name a folder on another disk with --workspace, or take another backup.",
            file=archive.filename,
            name=name,
            error=Message(error.strerror or ""),
        ) from error


def damaged(archive: zipfile.ZipFile, name: str) -> WorkspaceError:
    """Return the error of a member that is not as it was packed."""
    return WorkspaceError(
        "{file} is damaged: {name} in it is not as it was backed up.",
        help="Nothing was restored; take another backup.",
        file=archive.filename,
        name=name,
    )


def _member(name: str) -> zipfile.ZipInfo:
    member = zipfile.ZipInfo(name, _NO_TIME)
    member.external_attr = (stat.S_IFREG | 0o600) << 16
    return member


def _copy(source: IO[bytes], target: IO[bytes], most: int | None = None) -> tuple[int, str]:
    """Copy all bytes, or at most `most`; return their number and their hash."""
    size, hashed = 0, hashlib.sha256()
    while portion := source.read(_PORTION if most is None else min(_PORTION, most - size)):
        target.write(portion)
        hashed.update(portion)
        size += len(portion)
    return size, hashed.hexdigest()


def _read_manifest(archive: zipfile.ZipFile, path: Path) -> ArchiveManifest:
    try:
        member = archive.getinfo(_MANIFEST)
    except KeyError:
        raise InputError(
            "{file} is no backup of Sextant.", help="Name a file that `sextant backup` made.", file=path
        ) from None
    _check_member(archive, member, path)
    if member.file_size > _LONGEST_MANIFEST:
        raise damaged(archive, _MANIFEST)
    try:
        content = json.loads(archive.read(member))
        # Before anything else of it is read: what a later format says may be called otherwise.
        format = int(content["format"])
        if format <= ARCHIVE_FORMAT:
            return _checked(_CODEC.validate_python(content))
    except (*_DAMAGED, KeyError, TypeError) as error:
        raise damaged(archive, _MANIFEST) from error
    raise WorkspaceError(
        "{file} was made by a newer Sextant: its format is {format}, this one reads up to {current}.",
        help="Restore it with a Sextant at least as new as the one that made it.",
        file=path,
        format=format,
        current=ARCHIVE_FORMAT,
    )


def _checked(manifest: ArchiveManifest) -> ArchiveManifest:
    """Return the manifest; ValueError if a size in it is none."""
    if not all(0 <= size <= _LARGEST for size in (manifest.index_bytes, *(file.size for file in manifest.files))):
        raise ValueError("a size that is none")
    return manifest


def _check_members(archive: zipfile.ZipFile, manifest: ArchiveManifest, path: Path) -> None:
    """Raise WorkspaceError unless an archive holds exactly the listed files and fits in its size."""
    members = archive.infolist()
    for member in members:
        _check_member(archive, member, path)
    # Members that lie over one another would make much of little.
    if sum(member.file_size for member in members) > path.stat().st_size:
        raise WorkspaceError("{file} says that it holds more than it can.", help="Take another backup.", file=path)
    names = [member.filename for member in members if member.filename != _MANIFEST]
    listed = {file.name: file.size for file in manifest.files}
    strange = next((name for name in names if name not in listed or not may_hold(name)), None)
    if strange is not None or len(set(names)) != len(names) or len(listed) != len(manifest.files):
        raise WorkspaceError(
            f"{path} holds {strange!r}, which no backup of Sextant holds."
            if strange is not None
            else f"{path} holds a file twice.",
            help="Nothing was restored; take another backup.",
        )
    for member in members:
        if member.filename != _MANIFEST and member.file_size != listed[member.filename]:
            raise damaged(archive, member.filename)
    lost = next((name for name in listed if name not in set(names)), None)
    if lost is not None or CATALOG not in listed:
        raise damaged(archive, lost or CATALOG)


def _check_member(archive: zipfile.ZipFile, member: zipfile.ZipInfo, path: Path) -> None:
    """Raise WorkspaceError for a member that is a link, a device, encrypted or compressed."""
    kind, encrypted = stat.S_IFMT(member.external_attr >> 16), member.flag_bits & 1
    if kind not in (0, stat.S_IFREG) or encrypted or member.compress_type != zipfile.ZIP_STORED:
        raise WorkspaceError(
            "{file} holds {filename!r} as no backup of Sextant does: as a link, encrypted or compressed.",
            help="Nothing was restored; take another backup.",
            file=path,
            filename=member.filename,
        )
    if member.file_size != member.compress_size or not 0 <= member.header_offset < path.stat().st_size:
        raise damaged(archive, member.filename)
