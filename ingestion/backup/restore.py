"""Restoring of a backup into a new workspace, which is there as a whole or not at all."""

from __future__ import annotations

import json
import os
import secrets
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from ingestion.backup.archive import Advance, ArchiveManifest, opened_archive, unpack
from ingestion.backup.back_up import require_space
from ingestion.backup.contents import CATALOG
from ingestion.backup.copy_stores import check_whole
from rag_engine.atomic_write import staging
from rag_engine.errors import InputError, WorkspaceError
from rag_engine.storage.catalog import READ_SCHEMAS, SCHEMA
from rag_engine.text.templates import kept_sentence

# What runs inside a database when it is used, of which a catalog of ours has none.
_OF_OTHERS = "SELECT name FROM sqlite_master WHERE type IN ('trigger', 'view') OR sql LIKE 'CREATE VIRTUAL%' LIMIT 1"
_IN_WORKSPACE = (
    ("sources", "UPDATE sources SET path = :new || substr(path, :length) WHERE substr(path, 1, :last) = :old"),
    (
        "runs",
        "UPDATE runs SET arguments = replace(arguments, :quoted, :requoted) "
        "WHERE status IN ('queued', 'running', 'paused')",
    ),
)


@dataclass(frozen=True, slots=True)
class Restored:
    """A workspace that was restored, from which other workspace and when that was backed up."""

    workspace: Path
    made: str
    former: str
    files: int
    documents: int
    passages: int
    without_vectors: int = 0


def restore_files(
    archive: Path, workspace: Path, progress: Advance, finish: Callable[[Path, Restored], Restored]
) -> Restored:
    """Make the workspace that an archive holds; nothing is left of one that is broken off.

    Every file is checked before the first is in place. `finish` gets the folder as it is about to be put in place and
    what is restored, and returns what is to be said of it.
    """
    workspace = workspace.expanduser().absolute()
    _check_place(workspace)
    with opened_archive(archive) as (opened, manifest):
        _check_version(archive, manifest)
        workspace.parent.mkdir(parents=True, exist_ok=True)
        require_space(workspace.parent, manifest.size + manifest.index_bytes, kept_sentence("The restored workspace"))
        with staging(workspace) as folder:
            made = folder / "workspace"
            made.mkdir(mode=0o700)
            done = 0
            for one in manifest.files:
                unpack(opened, one, made)
                done += one.size
                progress(done, manifest.size, one.name)
            _make_own(made / CATALOG, manifest, workspace, archive)
            restored = Restored(
                workspace, manifest.made, manifest.workspace, len(manifest.files), manifest.documents, manifest.passages
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


def _check_version(archive: Path, manifest: ArchiveManifest) -> None:
    """Raise WorkspaceError before anything is unpacked where this Sextant cannot read the catalog.

    An older one is migrated where it is first opened, before the workspace has its place.
    """
    if str(manifest.schema) not in READ_SCHEMAS:
        raise WorkspaceError(
            f"{archive} was made by a newer Sextant: its catalog has schema {manifest.schema}, "
            f"this one reads {SCHEMA}.",
            help="Restore it with a Sextant at least as new as the one that made it.",
        )


def _make_own(catalog: Path, manifest: ArchiveManifest, workspace: Path, archive: Path) -> None:
    """Make a catalog that of this workspace: with an id of its own, and with the places of its own files.

    By the id a Chroma server tells the collections of workspaces apart: with that of the former one, the restored
    workspace would change the index of the one that was backed up.
    """
    check_whole(catalog, archive / CATALOG)
    old, new = manifest.workspace.rstrip("/") + "/", f"{workspace}/"
    values = {"old": old, "new": new, "last": len(old), "length": len(old) + 1}
    values |= {"quoted": _quoted(old), "requoted": _quoted(new)}
    with closing(sqlite3.connect(catalog, isolation_level=None)) as connection:
        connection.execute("PRAGMA trusted_schema=OFF")
        found = connection.execute(_OF_OTHERS).fetchone()
        if found is not None:
            raise WorkspaceError(
                f"The catalog in {archive} holds {found[0]!r}, which no catalog of Sextant holds.",
                help="Nothing was restored; take another backup.",
            )
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("UPDATE state SET value = ? WHERE name = 'workspace'", (secrets.token_hex(4),))
        tables = {str(row[0]) for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        for table, statement in _IN_WORKSPACE:
            if table in tables:
                connection.execute(statement, values)
        connection.execute("COMMIT")


def _quoted(path: str) -> str:
    """Return a path as it stands within a JSON string."""
    return json.dumps(path)[1:-1]
