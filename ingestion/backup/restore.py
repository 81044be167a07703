"""Restoring of a backup into a new workspace, which is there as a whole or not at all."""

from __future__ import annotations

import json
import os
import secrets
import sqlite3
from collections.abc import Callable, Container, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

import sqlalchemy as sql

from ingestion.backup.archive import Advance, ArchiveManifest, opened_archive, unpack
from ingestion.backup.backup import require_space
from ingestion.backup.check_catalog import check_foreign_paths, check_foreign_values
from ingestion.backup.contents import CATALOG
from ingestion.backup.copy_catalog import NO_OTHER, copy_catalog, no_catalog
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
_IN_WORKSPACE = (
    ("sources", "UPDATE sources SET path = :new || substr(path, :length) WHERE substr(path, 1, :last) = :old"),
    (
        "jobs",
        f"UPDATE jobs SET arguments = replace(arguments, :quoted, :requoted) WHERE {_UNENDED}",  # noqa: S608 - fixed
    ),
)


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


@dataclass(frozen=True, slots=True)
class _Made:
    documents: int
    passages: int
    cancelled_jobs: tuple[str, ...]


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
        beside = max(manifest.index_bytes, next(one.size for one in manifest.files if one.name == CATALOG))
        require_space(workspace.parent, manifest.size + beside, Message("The restored workspace"))
        with staging(workspace) as folder:
            made = folder / "workspace"
            made.mkdir(mode=0o700)
            done = 0
            for one in manifest.files:
                unpack(opened, one, made)
                done += one.size
                progress(done, manifest.size, one.name)
            own = _make_own(made / CATALOG, known, manifest, workspace, archive)
            if (made / RECORDS).is_file():
                _make_own_records(made / RECORDS, archive, manifest.workspace, workspace)
            restored = Restored(
                workspace,
                manifest.made,
                manifest.workspace,
                len(manifest.files),
                own.documents,
                own.passages,
                cancelled_jobs=own.cancelled_jobs,
            )
            restored = finish(made, restored)
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
    catalog: Path, known: Sequence[sql.MetaData], manifest: ArchiveManifest, workspace: Path, archive: Path
) -> _Made:
    """Make our catalog of the unpacked one, with another id and with paths in this workspace.

    A Chroma server tells the collections of workspaces apart by the id. With the former id, the restored workspace
    would change the index of the workspace that was backed up. Jobs that had not ended were asked for elsewhere,
    perhaps by somebody else: no worker is to carry them out here.
    """
    foreign = catalog.rename(catalog.parent.with_name("foreign.sqlite"))
    try:
        held = copy_catalog(foreign, catalog, known, archive)
        foreign.unlink()
        with closing(sqlite3.connect(catalog, isolation_level=None)) as connection:
            [schema] = connection.execute("SELECT value FROM state WHERE name = 'schema'").fetchone() or [""]
            if not schema:
                raise no_catalog(archive, "no schema")
            _check_version(archive, schema)
            check_foreign_values(connection, held, archive)
            connection.execute("BEGIN IMMEDIATE")
            connection.execute("UPDATE state SET value = ? WHERE name = 'workspace'", (secrets.token_hex(4),))
            _move_paths(connection, held, manifest.workspace, workspace)
            check_foreign_paths(connection, held, workspace, archive)
            cancelled = _end_jobs(connection) if "jobs" in held else ()
            documents, passages = connection.execute(_COUNT).fetchone()
            connection.execute("COMMIT")
    except (sqlite3.Error, ValueError) as error:
        raise WorkspaceError(
            f"{archive} is damaged: its catalog is not one of Sextant ({error}).", help=NO_OTHER
        ) from error
    return _Made(int(documents), int(passages), cancelled)


def _make_own_records(records: Path, archive: Path, former: str, workspace: Path) -> None:
    """Make our records of the unpacked ones, with the places of sources in this workspace."""
    foreign = records.rename(records.parent.with_name("foreign.sqlite"))
    try:
        copy_catalog(foreign, records, (RECORD_TABLES,), archive, ("records", "log"))
        with closing(sqlite3.connect(records)) as connection:
            connection.execute(_MOVED_SOURCES, (_quoted(former.rstrip("/") + "/"), _quoted(f"{workspace}/")))
            connection.commit()
    except sqlite3.Error as error:
        raise WorkspaceError(
            f"{archive} is damaged: its records are not those of Sextant ({error}).", help=NO_OTHER
        ) from error
    foreign.unlink()


def _move_paths(connection: sqlite3.Connection, held: Container[str], former: str, workspace: Path) -> None:
    """Give files of the former workspace their places in this one."""
    old, new = former.rstrip("/") + "/", f"{workspace}/"
    values = {"old": old, "new": new, "last": len(old), "length": len(old) + 1}
    values |= {"quoted": _quoted(old), "requoted": _quoted(new)}
    for table, statement in _IN_WORKSPACE:
        if table in held:
            connection.execute(statement, values)


def _end_jobs(connection: sqlite3.Connection) -> tuple[str, ...]:
    """End every job that had not ended, and return what those were that are cancelled.

    A backup that the worker made holds the job that made it, which is done.
    """
    connection.execute(f"UPDATE jobs SET status = 'done' WHERE kind = 'backup' AND {_UNENDED}")  # noqa: S608 - fixed
    cancelled = connection.execute(f"SELECT kind FROM jobs WHERE {_UNENDED} ORDER BY id").fetchall()  # noqa: S608
    connection.execute(f"UPDATE jobs SET status = 'cancelled', message = ? WHERE {_UNENDED}", (_CANCELLED,))  # noqa: S608
    return tuple(str(kind) for (kind,) in cancelled)


def _quoted(path: str) -> str:
    """Return a path as it stands within a JSON string."""
    return json.dumps(path)[1:-1]
