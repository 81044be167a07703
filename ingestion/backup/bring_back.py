"""A catalog that was destroyed, brought back from its second copy and the journal; its documents are read again."""

from __future__ import annotations

import os
import shutil
import sqlite3
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from ingestion import workspace as folders
from ingestion.backup.contents import original_name
from rag_engine import workspace as paths
from rag_engine.atomic_write import replacing
from rag_engine.backends.sqlite_copy import find_record_damage
from rag_engine.errors import WorkspaceError
from rag_engine.storage.catalog import READ_SCHEMAS, SCHEMA

_ASIDE, _LOGS = ".damaged-", ("-wal", "-shm", "-journal")
_BACKUP = "Restore the latest backup with `sextant restore ARCHIVE --workspace NEW`"
_ADD = "add the files in its folder `files` to a new workspace with `sextant add`"
# What was being added when it was copied is a document like the others, unless it was to replace one. What was encoded
# for an index that waited is gone with that index.
_AS_ACTIVE = (
    "DELETE FROM documents WHERE status = 'waiting'",
    "UPDATE documents SET status = 'active' WHERE status = 'pending' "
    "AND source NOT IN (SELECT source FROM documents WHERE status = 'active')",
    "DELETE FROM state WHERE name IN ('waiting generation', 'dense index due')",
)

# How the folder of originals that no document names is called, before the date.
_UNKNOWN = "unknown-originals-"
_NAMING = {
    "documents": "SELECT sha256, file FROM documents WHERE status IN ('active', 'deleting')",
    "erasures": "SELECT sha256, file FROM erasures",
}


@dataclass(frozen=True, slots=True)
class CatalogBroughtBack:
    """A catalog as it was at a time, without texts; `aside` is the damaged file, None where there was none.

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
            unknown = _set_unknown_aside(workspace, made)
            aside = _set_catalog_aside(workspace)
            shutil.rmtree(workspace / "index", ignore_errors=True)
        os.sync()
    return CatalogBroughtBack(as_of, aside, unknown)


def catalogs_aside(workspace: Path) -> list[Path]:
    """Return the damaged catalogs that were kept aside, which hold what was erased since as well."""
    catalog = paths.catalog_file(workspace)
    return sorted(path for path in workspace.glob(f"{catalog.name}{_ASIDE}*") if not path.name.endswith(_LOGS))


def originals_aside(workspace: Path, document_id: str) -> list[Path]:
    """Return the folders of this document's original among those that a repair set aside, which can be added again."""
    held = (paths.inside(folder, document_id) for folder in workspace.glob(f"{_UNKNOWN}*"))
    return sorted(path for path in held if path.is_dir())


def _check_copy(copy: Path) -> None:
    if not copy.is_file():
        raise WorkspaceError(f"The catalog has no second copy: there is no {copy}.", help=f"{_BACKUP}, or {_ADD}.")
    if found := find_record_damage(copy.parent):
        raise WorkspaceError(f"The second copy {copy} is damaged as well: {found[0]}.", help=f"{_BACKUP}, or {_ADD}.")
    with closing(sqlite3.connect(f"{copy.absolute().as_uri()}?mode=ro", uri=True)) as connection:
        [schema] = connection.execute("SELECT value FROM state WHERE name = 'schema'").fetchone() or [""]
    # An older one is migrated where it is first opened.
    if schema not in READ_SCHEMAS:
        raise WorkspaceError(
            f"The second copy {copy} was made by a newer Sextant: it has schema {schema}, this one reads {SCHEMA}.",
            help="Repair it with a Sextant at least as new as the one that made it.",
        )


def _set_unknown_aside(workspace: Path, catalog: Path) -> Path | None:
    """Move originals that no document names out of the folder from which the next writer would remove them.

    Those of documents that were being erased stay there, to be removed.
    """
    with closing(sqlite3.connect(f"{catalog.absolute().as_uri()}?mode=ro", uri=True)) as connection:
        tables = [str(name) for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        rows = [row for table, wanted in _NAMING.items() if table in tables for row in connection.execute(wanted)]
    named = {original_name(sha256, file) for sha256, file in rows}
    held = (path for path in paths.files(workspace).glob("*/*") if path.is_file())
    unknown = [path for path in held if path.relative_to(workspace).as_posix() not in named]
    target = workspace / f"{_UNKNOWN}{_today()}"
    for path in unknown:
        place = target / path.relative_to(paths.files(workspace))
        place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.replace(place)
    return target if unknown else None


def _set_catalog_aside(workspace: Path) -> Path | None:
    """Give the damaged catalog and its logs another name; return it, None where there is no such file."""
    catalog = paths.catalog_file(workspace)
    aside = catalog.with_name(f"{catalog.name}{_ASIDE}{_today()}")
    for ending in (*_LOGS, ""):
        path = Path(f"{catalog}{ending}")
        if path.exists():
            path.replace(f"{aside}{ending}")
    return aside if aside.exists() else None


def _today() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H%M%S")
