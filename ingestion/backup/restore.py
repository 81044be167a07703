"""Restoring of a backup into a new workspace, which is there as a whole or not at all."""

from __future__ import annotations

import json
import os
import secrets
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import sqlalchemy as sql

from ingestion.backup.archive import Advance, ArchiveManifest, opened_archive, unpack
from ingestion.backup.backup import require_space
from ingestion.backup.contents import CATALOG
from ingestion.backup.copy_catalog import NO_OTHER, check_foreign_paths, check_foreign_values, copy_catalog, no_catalog
from rag_engine.atomic_write import staging
from rag_engine.backends.sqlite_damage import RECORDS
from rag_engine.errors import InputError, WorkspaceError
from rag_engine.messages import Message
from rag_engine.storage.catalog import SCHEMA
from rag_engine.storage.records import TABLES as RECORD_TABLES

_UNENDED = "status NOT IN ('done', 'failed', 'cancelled')"
_CANCELLED = Message("It had not ended when the workspace was backed up, and was not carried out here.")
_COUNT = "SELECT count(*), coalesce(sum(children), 0) FROM documents WHERE status = 'active'"
_MOVED_SOURCES = "UPDATE log SET said = replace(said, ?, ?) WHERE kind = 'source'"
_MOVED_FILES = "UPDATE sources SET path = :new || substr(path, :length) WHERE substr(path, 1, :last) = :old"
_MOVED_JOBS = f"UPDATE jobs SET arguments = replace(arguments, ?, ?) WHERE {_UNENDED}"  # noqa: S608 - fixed


@dataclass(frozen=True, slots=True)
class Restored:
    """A workspace that was restored, from which other workspace and when that was backed up.

    Not restored are `dropped_settings`, which name servers, each with its value; `cancelled_jobs` had not ended, and
    end there. `admins` are the people who may do everything in the workspace.
    """

    workspace: Path
    made: str
    former: str
    files: int
    documents: int
    passages: int
    without_vectors: int = 0
    dropped_settings: Mapping[str, str] = field(default_factory=dict)
    cancelled_jobs: tuple[str, ...] = ()
    admins: tuple[str, ...] = ()


def restore_files(
    archive: Path,
    workspace: Path,
    known: Sequence[sql.MetaData],
    progress: Advance,
    finish: Callable[[Path, Restored], Restored],
) -> Restored:
    """Make the workspace that an archive holds; an interrupted restore leaves nothing behind.

    Of its catalog the rows of the `known` tables are taken over. Every file is checked before the first is in place.
    `finish` gets the complete folder before it is put in place, and what was restored; it returns a remark for the
    user.
    """
    workspace = workspace.expanduser().absolute()
    _check_place(workspace)
    with opened_archive(archive) as (opened, manifest):
        _check_version(archive, str(manifest.schema))
        workspace.parent.mkdir(parents=True, exist_ok=True)
        # While the catalog is copied there are no indexes yet.
        beside = max(manifest.index_bytes, next(file.size for file in manifest.files if file.name == CATALOG))
        require_space(workspace.parent, manifest.size + beside, Message("The restored workspace"))
        with staging(workspace) as folder:
            made = folder / "workspace"
            made.mkdir(mode=0o700)
            done = 0
            for file in manifest.files:
                unpack(opened, file, made)
                done += file.size
                progress(done, manifest.size, file.name)
            restored = finish(made, _make_own(made, known, manifest, workspace, archive))
            # On the disk before it has its name.
            os.sync()
            _check_place(workspace)
            made.rename(workspace)
    return restored


def _check_place(workspace: Path) -> None:
    if workspace.exists() and (not workspace.is_dir() or any(workspace.iterdir())):
        raise InputError(
            f"{workspace} is not empty, and a backup is restored over nothing.",
            help="Name a new folder with --workspace.",
        )
    # Found out when everything is restored, the system would say so of a name that nobody knows.
    if workspace.is_symlink() or workspace.is_mount():
        raise InputError(
            f"{workspace} is a {'link' if workspace.is_symlink() else 'disk of its own'}, and a backup is restored as "
            "a new folder.",
            help="Name a folder in it with --workspace.",
        )


def _check_version(archive: Path, schema: str) -> None:
    """Raise WorkspaceError if a catalog has not the tables of this Sextant."""
    if schema != str(SCHEMA):
        raise WorkspaceError(
            f"{archive} was made by a newer Sextant: its catalog has schema {schema}, this one restores {SCHEMA}.",
            help="Restore it with a Sextant at least as new as the one that made it.",
        )


def _make_own(
    folder: Path, known: Sequence[sql.MetaData], manifest: ArchiveManifest, workspace: Path, archive: Path
) -> Restored:
    """Make our databases of the unpacked ones, with another id and with paths in this workspace.

    A Chroma server tells the collections of workspaces apart by the id. With the former id, the restored workspace
    would change the index of the workspace that was backed up. Jobs that had not ended were asked for elsewhere,
    perhaps by somebody else: no worker is to carry them out here.
    """
    old, new = manifest.workspace.rstrip("/") + "/", f"{workspace}/"
    quoted = _quoted(old), _quoted(new)
    with _copied(folder / CATALOG, known, archive, ("state", "documents")) as connection:
        [schema] = connection.execute("SELECT value FROM state WHERE name = 'schema'").fetchone() or [""]
        if not schema:
            raise no_catalog(archive, "no schema")
        _check_version(archive, schema)
        check_foreign_values(connection, archive)
        connection.execute("UPDATE state SET value = ? WHERE name = 'workspace'", (secrets.token_hex(4),))
        connection.execute(_MOVED_FILES, {"old": old, "new": new, "last": len(old), "length": len(old) + 1})
        connection.execute(_MOVED_JOBS, quoted)
        check_foreign_paths(connection, workspace, archive)
        # A backup that the worker made holds the job that made it, which is done.
        connection.execute(f"UPDATE jobs SET status = 'done' WHERE kind = 'backup' AND {_UNENDED}")  # noqa: S608 - fixed
        jobs = connection.execute(f"SELECT kind FROM jobs WHERE {_UNENDED} ORDER BY id").fetchall()  # noqa: S608
        connection.execute(f"UPDATE jobs SET status = 'cancelled', message = ? WHERE {_UNENDED}", (_CANCELLED,))  # noqa: S608
        documents, passages = connection.execute(_COUNT).fetchone()
    if (folder / RECORDS).is_file():
        with _copied(folder / RECORDS, (RECORD_TABLES,), archive, ("records", "log")) as connection:
            connection.execute(_MOVED_SOURCES, quoted)
    cancelled = tuple(str(kind) for (kind,) in jobs)
    made, former, files = manifest.made, manifest.workspace, len(manifest.files)
    return Restored(workspace, made, former, files, int(documents), int(passages), cancelled_jobs=cancelled)


@contextmanager
def _copied(
    database: Path, known: Sequence[sql.MetaData], archive: Path, needed: Sequence[str]
) -> Iterator[sqlite3.Connection]:
    """Put our copy in the place of an unpacked database, and yield a transaction on it."""
    foreign = database.rename(database.parent.with_name("foreign.sqlite"))
    try:
        copy_catalog(foreign, database, known, archive, needed)
        foreign.unlink()
        with closing(sqlite3.connect(database, isolation_level=None)) as connection:
            connection.execute("BEGIN IMMEDIATE")
            yield connection
            connection.execute("COMMIT")
    except (sqlite3.Error, ValueError) as error:
        raise WorkspaceError(
            f"{archive} is damaged: its {database.name} is not one of Sextant ({error}).", help=NO_OTHER
        ) from error


def _quoted(path: str) -> str:
    """Return a path as it stands within a JSON string."""
    return json.dumps(path)[1:-1]
