"""A destroyed catalog, brought back from its second copy and the journal; documents are read again."""

from __future__ import annotations

import os
import shutil
import sqlite3
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from ingestion import workspace as folders
from ingestion.backup.contents import CATALOG, original_name
from rag_engine import workspace as paths
from rag_engine.atomic_write import replacing
from rag_engine.backends.sqlite_copy import find_record_damage
from rag_engine.errors import WorkspaceError
from rag_engine.set_aside import kept_aside, set_aside
from rag_engine.storage.catalog import SCHEMA

_LOGS = "-wal", "-shm", "-journal"
_BACKUP = "Restore the latest backup with `sextant restore ARCHIVE --workspace NEW`"
_ADD = "add the files in its folder `files` to a new workspace with `sextant add`"
# What was being added when it was copied is a document like the others, unless it was to replace one. What was encoded
# for an index that waited is gone with that index.
_AS_ACTIVE = (
    "DELETE FROM documents WHERE status = 'waiting'",
    "UPDATE documents SET status = 'active' WHERE status = 'pending' "
    "AND source NOT IN (SELECT source FROM documents WHERE status = 'active')",
    "DELETE FROM state WHERE name IN ('waiting generation', 'descriptions due')",
)
_NAMING = {
    "documents": "SELECT sha256, file FROM documents WHERE status IN ('active', 'deleting')",
    "erasures": "SELECT sha256, file FROM erasures",
}


@dataclass(frozen=True, slots=True)
class CatalogBroughtBack:
    """A catalog as it was at a time, without texts; `aside` is the damaged file, None if it was missing.

    `unknown` is the folder of the originals that no document of the catalog names, None where each has one.
    """

    as_of: str
    aside: Path | None
    unknown: Path | None


def bring_back_catalog(workspace: Path) -> CatalogBroughtBack:
    """Put the second copy in the place of a destroyed catalog, which is kept aside with its logs.

    The indexes go, for they are of what was destroyed. Broken off, it is begun again. WorkspaceError where there is no
    copy, or it is damaged as well, and while `sextant serve` or a worker is at work.
    """
    copy = paths.second_copy_file(workspace)
    if paths.find_serving(workspace) is not None:
        raise WorkspaceError(f"`sextant serve` runs on {workspace}.", help="End it first.", retryable=True)
    with folders.work_lock(workspace) as free, paths.write_lock(workspace):
        if not free:
            raise WorkspaceError(f"A worker is at work in {workspace}.", help="End it first.", retryable=True)
        _check_copy(copy)
        as_of = datetime.fromtimestamp(copy.stat().st_mtime, UTC).isoformat(timespec="seconds")
        with replacing(paths.catalog_file(workspace), durable=True) as made:
            shutil.copyfile(copy, made)
            made.chmod(0o600)
            with closing(sqlite3.connect(made)) as connection:
                for statement in _AS_ACTIVE:
                    connection.execute(statement)
                connection.commit()
            # The catalog itself comes last: as long as it is there, this is begun again.
            damaged = (Path(f"{paths.catalog_file(workspace)}{ending}") for ending in (*_LOGS, ""))
            folder = set_aside(workspace, (*_unknown_originals(workspace, made), *damaged))
            shutil.rmtree(workspace / "index", ignore_errors=True)
        os.sync()
    held = {path.name: path for path in folder.iterdir()} if folder else {}
    return CatalogBroughtBack(as_of, held.get(CATALOG), held.get(paths.files(workspace).name))


def originals_aside(workspace: Path, document_id: str) -> list[Path]:
    """Return the folders of this document's original among those that a repair set aside."""
    held = (paths.inside(folder, document_id) for folder in kept_aside(workspace, paths.files(workspace).name))
    return sorted(path for path in held if path.is_dir())


def _check_copy(copy: Path) -> None:
    if not copy.is_file():
        raise WorkspaceError(f"The catalog has no second copy: there is no {copy}.", help=f"{_BACKUP}, or {_ADD}.")
    if found := find_record_damage(copy.parent):
        raise WorkspaceError(f"The second copy {copy} is damaged as well: {found[0]}.", help=f"{_BACKUP}, or {_ADD}.")
    with closing(sqlite3.connect(f"{copy.absolute().as_uri()}?mode=ro", uri=True)) as connection:
        [schema] = connection.execute("SELECT value FROM state WHERE name = 'schema'").fetchone() or [""]
    if schema != str(SCHEMA):
        raise WorkspaceError(
            f"The second copy {copy} was made by a newer Sextant: it has schema {schema}, this one reads {SCHEMA}.",
            help="Repair it with a Sextant at least as new as the one that made it.",
        )


def _unknown_originals(workspace: Path, catalog: Path) -> list[Path]:
    """Return originals that no document names, which the next writer would remove.

    Those of documents that were being erased are none of them.
    """
    with closing(sqlite3.connect(f"{catalog.absolute().as_uri()}?mode=ro", uri=True)) as connection:
        tables = [str(name) for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        rows = [row for table, wanted in _NAMING.items() if table in tables for row in connection.execute(wanted)]
    named = {original_name(sha256, file) for sha256, file in rows}
    held = (path for path in paths.files(workspace).glob("*/*") if path.is_file())
    return [path for path in held if path.relative_to(workspace).as_posix() not in named]
