"""Backup of a workspace in use: catalog, originals, vectors and records in one archive."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from ingestion.backup.archive import (
    ARCHIVE_FORMAT,
    Advance,
    ArchivedFile,
    ArchiveManifest,
    new_archive,
    pack,
    put_manifest,
    today,
)
from ingestion.backup.contents import CATALOG, original_name, other_files, vector_name
from ingestion.backup.copy_stores import CopiedStores, copy_database, copy_stores, read_originals
from rag_engine.atomic_write import staging
from rag_engine.backends.sqlite_damage import RECORDS
from rag_engine.errors import InputError, WorkspaceError
from rag_engine.installation import sextant_version
from rag_engine.messages import Message

# Erasures in a row that may each have the archive begun again.
_TRIES = 3
# What is moved while the files are listed is found when they are listed again.
_LOOKS = 3


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
    size = _size(workspace)
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
        archive, manifest, lost, damaged, without_vectors = made
        _check_place(workspace, file)
        archive.rename(file)
    return BackupMade(
        file,
        file.stat().st_size,
        len(manifest.files),
        manifest.documents,
        manifest.passages,
        lost,
        damaged,
        without_vectors,
    )


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


def _attempt(
    workspace: Path, folder: Path, size: int, progress: Advance
) -> tuple[Path, ArchiveManifest, tuple[str, ...], tuple[str, ...], int] | None:
    """Write the archive into the folder; None if the original of a document was erased meanwhile."""
    path = folder / "archive.zip"
    path.unlink(missing_ok=True)
    done = 0

    def put(name: str, file: Path) -> ArchivedFile:
        nonlocal done
        packed = pack(archive, name, file)
        done += packed.size
        progress(min(done, size), size, name)
        return packed

    stores = copy_stores(workspace, folder, lambda name: progress(0, size, name))
    with new_archive(path) as archive:
        files = [put(CATALOG, stores.catalog), *(put(vector_name(one.name), one) for one in stores.vectors)]
        originals = _pack_originals(workspace, stores, put)
        if originals is None:
            return None
        packed, lost, damaged = originals
        files += [*packed, *_pack_others(workspace, put)]
        if (workspace / RECORDS).is_file():
            copy_database(workspace / RECORDS, folder / RECORDS, lambda name: progress(done, size, name))
            files.append(put(RECORDS, folder / RECORDS))
        manifest = ArchiveManifest(
            ARCHIVE_FORMAT,
            stores.schema,
            today(),
            str(workspace),
            stores.documents,
            stores.passages,
            _bytes(workspace / "index"),
            tuple(files),
            sextant_version(),
        )
        put_manifest(archive, manifest)
    return path, manifest, lost, damaged, stores.without_vectors


_Put = Callable[[str, Path], ArchivedFile]


def _pack_originals(
    workspace: Path, stores: CopiedStores, put: _Put
) -> tuple[list[ArchivedFile], tuple[str, ...], tuple[str, ...]] | None:
    """Return the packed originals with the names of the lost and of the changed ones.

    None if one was erased since the catalog was copied.
    """
    packed: list[ArchivedFile] = []
    lost: list[tuple[str, str]] = []
    damaged: list[str] = []
    for sha256, file in stores.originals:
        name = original_name(sha256, file)
        try:
            packed.append(put(name, workspace / name))
        except FileNotFoundError:
            lost.append((sha256, file))
            continue
        if packed[-1].sha256 != sha256:
            damaged.append(file)
    if lost and not set(lost) <= set(read_originals(workspace / CATALOG)):
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


def _size(workspace: Path) -> int:
    """Return about how many bytes a backup of the workspace takes."""
    others = sum(_bytes(workspace / name) for name in other_files(workspace))
    return others + sum(_bytes(workspace / name) for name in (CATALOG, f"{CATALOG}-wal", RECORDS, "vectors", "files"))


def _bytes(path: Path) -> int:
    """Return the bytes of a file, or of all files in a folder; 0 if it is no longer there."""
    total = 0
    for one in path.rglob("*") if path.is_dir() else (path,):
        with suppress(FileNotFoundError):
            total += one.stat().st_size if one.is_file() else 0
    return total
