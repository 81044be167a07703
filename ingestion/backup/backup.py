"""Backup of a workspace in use: catalog, originals, vectors and records in one archive."""

from __future__ import annotations

import shutil
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from ingestion.backup.archive import (
    ARCHIVE_FORMAT,
    Advance,
    ArchivedFile,
    ArchiveManifest,
    new_archive,
    pack,
    put_manifest,
)
from ingestion.backup.contents import CATALOG, original_name, other_files, vector_name
from rag_engine import workspace as paths
from rag_engine.atomic_write import staging
from rag_engine.backends.sqlite_damage import RECORDS, damage_reported, damaged_database, find_damage, reading
from rag_engine.errors import InputError, WorkspaceError
from rag_engine.installation import sextant_version
from rag_engine.messages import Message
from rag_engine.storage.manifest import read_manifest
from rag_engine.storage.vector_file import VectorFile

# Erasures in a row that may each have the archive begun again.
_TRIES = 5
# What is moved while the files are listed is found when they are listed again.
_LOOKS = 3
# Pages of a database that are copied between two looks at how far it is.
_PAGES = 4096
_CHANGED_NAMES = (
    "SELECT 1 FROM (SELECT model, text_hash, row FROM copied.vectors "
    "EXCEPT SELECT model, text_hash, row FROM main.vectors) LIMIT 1"
)
_ROWS = (
    "SELECT vector_row FROM children JOIN documents ON documents.key = children.document_key "
    "WHERE documents.status = 'active'"
)
_COUNT = "SELECT count(*), coalesce(sum(children), 0) FROM documents WHERE status = 'active'"
_ORIGINALS = "SELECT DISTINCT sha256, file FROM documents WHERE status = 'active' ORDER BY key"


@dataclass(frozen=True, slots=True)
class BackupMade:
    """A backup, and the originals that it lacks because they were lost or changed before.

    `without_vectors` counts the passages whose vector was missing or damaged; the backup lacks them too.
    """

    file: Path
    size: int
    files: int
    documents: int
    passages: int
    lost_originals: tuple[str, ...]
    damaged_originals: tuple[str, ...]
    without_vectors: int


def back_up(workspace: Path, file: Path, progress: Advance) -> BackupMade:
    """Write a backup of the workspace to a new file; an interrupted backup leaves nothing behind.

    Other work does not wait for it: a document added or erased meanwhile may or may not be in it. InputError if the
    file is there already.
    """
    file = file.expanduser().absolute()
    _check_place(workspace, file)
    # About how many bytes the backup takes.
    named = (*other_files(workspace), CATALOG, f"{CATALOG}-wal", RECORDS, "vectors", "files")
    size = sum(_bytes(workspace / name) for name in named)
    # Catalog and vectors are copied once more before they are packed.
    require_space(
        file.parent, size + sum(_bytes(workspace / name) for name in (CATALOG, "vectors")), Message("The backup")
    )
    with staging(file) as folder:
        for _ in range(_TRIES):
            made = _attempt(workspace, folder, size, progress)
            if made is not None:
                break
        else:
            raise WorkspaceError(
                "Documents of {workspace} were erased {times} times while the backup was made.",
                help="Make it again when that is done.",
                retryable=True,
                workspace=workspace,
                times=_TRIES,
            )
        _check_place(workspace, file)
        made.file.rename(file)
    return replace(made, file=file)


def require_space(folder: Path, wanted: int, what: str) -> None:
    """Raise WorkspaceError if a folder has less room than is wanted."""
    free = shutil.disk_usage(folder).free
    if free < wanted:
        raise WorkspaceError(
            "{what} takes {wanted:,.0f} MiB, and {folder} has room for {free:,.0f} MiB.",
            help="Free some space, or name another place.",
            what=what,
            wanted=wanted / 2**20,
            folder=folder,
            free=free / 2**20,
        )


def _check_place(workspace: Path, file: Path) -> None:
    if not (workspace / CATALOG).is_file():
        raise InputError(
            "{workspace} holds no workspace: it has no catalog.", help="Name one with --workspace.", workspace=workspace
        )
    if file.exists():
        raise InputError(
            "{file} is there already, and a backup is never written over.", help="Give another name.", file=file
        )
    if not file.parent.is_dir():
        raise InputError(
            "The folder {parent} is not there.", help="Make it first, or name another one.", parent=file.parent
        )
    if file.resolve().is_relative_to(workspace.resolve()):
        raise InputError(
            "{file} lies in the workspace, and would go with it.",
            help="Name a file elsewhere, best on another disk.",
            file=file,
        )


def _attempt(workspace: Path, folder: Path, size: int, progress: Advance) -> BackupMade | None:
    """Write the archive into the folder; None if a document was erased meanwhile.

    Vectors are on the disk before the catalog names them, and the catalog forgets a name before its vector is written
    over. So the vectors are copied after the catalog, and where it has forgotten a name meanwhile, all is begun again.
    """
    path, catalog = folder / "archive.zip", folder / CATALOG
    path.unlink(missing_ok=True)
    done = 0

    def seen(name: str) -> None:
        progress(min(done, size), size, name)

    def put(name: str, file: Path) -> ArchivedFile:
        nonlocal done
        packed = pack(archive, name, file)
        done += packed.size
        seen(name)
        return packed

    _copy_database(workspace / CATALOG, catalog, seen)
    seen("vectors")
    vectors = _copy_vectors(workspace, folder)
    if vectors is None or _has_forgotten(workspace / CATALOG, catalog):
        return None
    with new_archive(path) as archive:
        files = [put(CATALOG, catalog), *(put(vector_name(vector.name), vector) for vector in vectors)]
        originals = _pack_originals(workspace, catalog, put)
        if originals is None:
            return None
        packed, lost, damaged = originals
        files += [*packed, *_pack_others(workspace, put)]
        if (workspace / RECORDS).is_file():
            _copy_database(workspace / RECORDS, folder / RECORDS, seen)
            files.append(put(RECORDS, folder / RECORDS))
        with closing(reading(catalog)) as connection:
            [(documents, passages)] = connection.execute(_COUNT)
            [(schema,)] = connection.execute("SELECT value FROM state WHERE name = 'schema'")
        manifest = ArchiveManifest(
            ARCHIVE_FORMAT,
            int(schema),
            time.strftime("%Y-%m-%dT%H:%M:%S%z"),
            str(workspace),
            documents,
            passages,
            _bytes(workspace / "index"),
            tuple(files),
            sextant_version(),
        )
        put_manifest(archive, manifest)
    without = _count_without_vectors(catalog, vectors)
    return BackupMade(path, path.stat().st_size, len(files), documents, passages, lost, damaged, without)


_Put = Callable[[str, Path], ArchivedFile]


def _pack_originals(
    workspace: Path, catalog: Path, put: _Put
) -> tuple[list[ArchivedFile], tuple[str, ...], tuple[str, ...]] | None:
    """Return the packed originals with the names of the lost and of the changed ones.

    None if one was erased since the catalog was copied.
    """
    packed: list[ArchivedFile] = []
    lost: list[tuple[str, str]] = []
    damaged: list[str] = []
    for sha256, file in _read_originals(catalog):
        name = original_name(sha256, file)
        try:
            packed.append(put(name, workspace / name))
        except FileNotFoundError:
            lost.append((sha256, file))
            continue
        if packed[-1].sha256 != sha256:
            damaged.append(file)
    if lost and not set(lost) <= set(_read_originals(workspace / CATALOG)):
        return None
    return packed, tuple(file for _, file in lost), tuple(damaged)


def _pack_others(workspace: Path, put: _Put) -> list[ArchivedFile]:
    """Pack every other file of the workspace.

    A file that is removed meanwhile is left out; a file that is moved is found at its new place.
    """
    packed: dict[str, ArchivedFile] = {}
    for _ in range(_LOOKS):
        new = [name for name in other_files(workspace) if name not in packed]
        for name in new:
            with suppress(FileNotFoundError):
                packed[name] = put(name, workspace / name)
        if not new:
            break
    return list(packed.values())


def _bytes(path: Path) -> int:
    """Return the bytes of a file, or of all files in a folder; 0 if it is no longer there."""
    total = 0
    for one in path.rglob("*") if path.is_dir() else (path,):
        with suppress(FileNotFoundError):
            total += one.stat().st_size if one.is_file() else 0
    return total


def _read_originals(catalog: Path) -> tuple[tuple[str, str], ...]:
    """Return the hash and name of every original of a catalog, in the order of adding."""
    with closing(reading(catalog)) as connection:
        return tuple((str(sha256), str(file)) for sha256, file in connection.execute(_ORIGINALS))


def _copy_database(source: Path, target: Path, seen: Callable[[str], None]) -> None:
    """Copy the state of a database at one moment, while others read and write it."""
    target.unlink(missing_ok=True)
    with (
        damage_reported(source),
        closing(reading(source)) as read,
        closing(sqlite3.connect(target)) as written,
    ):
        # Within a transaction that has begun to read, nothing that others write makes the copy begin again.
        read.execute("BEGIN")
        read.execute("SELECT count(*) FROM sqlite_master").fetchone()
        read.backup(
            written,
            pages=_PAGES,
            progress=lambda _, left, pages: seen(f"{source.name}: {pages - left} of {pages} pages"),
        )
        read.rollback()
        # One file, with nothing of it in a log beside.
        written.execute("PRAGMA journal_mode=DELETE")
    if found := find_damage(target):
        raise damaged_database(source, found[0])


def _copy_vectors(workspace: Path, folder: Path) -> tuple[Path, ...] | None:
    """Return the copies of the files of vectors, None if one was removed meanwhile."""
    source, target = paths.vectors(workspace), folder / "vectors"
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(mode=0o700)
    try:
        for path in sorted(source.iterdir()) if source.is_dir() else ():
            shutil.copyfile(path, target / path.name)
    except FileNotFoundError:
        return None
    return tuple(sorted(target.iterdir()))


def _has_forgotten(catalog: Path, copy: Path) -> bool:
    """Return whether the catalog has dropped a vector that the copy still names.

    Its copied bytes may then belong to another passage.
    """
    with closing(reading(catalog)) as connection:
        connection.execute("ATTACH ? AS copied", (f"{copy.absolute().as_uri()}?mode=ro",))
        return connection.execute(_CHANGED_NAMES).fetchone() is not None


def _count_without_vectors(catalog: Path, vectors: tuple[Path, ...]) -> int:
    """Return how many passages of a copied catalog have no vector, or none as it was written."""
    with closing(reading(catalog)) as connection:
        encoder = connection.execute("SELECT value FROM state WHERE name = 'encoder'").fetchone()
        rows = np.array([int(row) for (row,) in connection.execute(_ROWS)], np.int64)
    manifest = read_manifest(encoder[0] if encoder else "")
    if manifest is None or not vectors:
        return len(rows)
    file = VectorFile(vectors[0].parent, manifest.name, manifest.dimension)
    return len(rows) - int(((rows < len(file)) & ~np.isin(rows, file.damaged(np.unique(rows)))).sum())
