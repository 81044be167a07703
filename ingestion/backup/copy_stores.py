"""Copy of the catalog and the vectors as they were at one moment, while others read and write them."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ingestion.backup.contents import CATALOG
from rag_engine import workspace as paths
from rag_engine.backends.sqlite_damage import damage_reported, damaged_database, find_damage, reading
from rag_engine.errors import WorkspaceError
from rag_engine.storage.manifest import read_manifest
from rag_engine.storage.vector_file import VectorFile

# Pages of a database that are copied between two looks at how far it is.
_PAGES = 4096
# Erasures in a row that may each have a copy begun again; one takes about a second for a gigabyte.
_TRIES = 5
_CHANGED_NAMES = (
    "SELECT 1 FROM (SELECT model, text_hash, row FROM copied.vectors "
    "EXCEPT SELECT model, text_hash, row FROM main.vectors) LIMIT 1"
)
_ROWS = (
    "SELECT vector_row FROM children JOIN documents ON documents.key = children.document_key "
    "WHERE documents.status = 'active'"
)
_ORIGINALS = "SELECT DISTINCT sha256, file FROM documents WHERE status = 'active' ORDER BY key"


@dataclass(frozen=True, slots=True)
class CopiedStores:
    """A catalog with its files of vectors, and which originals it names: the hash of each and its name.

    `without_vectors` counts the passages whose vector is not there, or not as it was written.
    """

    catalog: Path
    vectors: tuple[Path, ...]
    originals: tuple[tuple[str, str], ...]
    documents: int
    passages: int
    without_vectors: int
    schema: int


def copy_stores(workspace: Path, folder: Path, seen: Callable[[str], None]) -> CopiedStores:
    """Copy catalog and vectors into the folder; `seen` gets the name of each copy.

    Vectors are on the disk before the catalog names them, and the catalog forgets a name before its vector is written
    over. So the vectors are copied after the catalog, and where it has forgotten a name meanwhile, both are copied
    again.
    """
    catalog = folder / CATALOG
    for _ in range(_TRIES):
        copy_database(workspace / CATALOG, catalog, seen)
        seen("vectors")
        vectors = _copy_vectors(workspace, folder)
        if vectors is not None and not _has_forgotten(workspace / CATALOG, catalog):
            return _described(catalog, vectors)
    raise WorkspaceError(
        "Documents of {workspace} were removed {times} times while the backup was made.",
        help="Make it again when that is done.",
        retryable=True,
        workspace=workspace,
        times=_TRIES,
    )


def read_originals(catalog: Path) -> tuple[tuple[str, str], ...]:
    """Return the hash and name of every original of a catalog, in the order of adding."""
    with closing(reading(catalog)) as connection:
        return tuple((str(sha256), str(file)) for sha256, file in connection.execute(_ORIGINALS))


def copy_database(source: Path, target: Path, seen: Callable[[str], None]) -> None:
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
    check_whole(target, source)


def check_whole(catalog: Path, named: Path) -> None:
    """Raise WorkspaceError that names a file where a copy of it is no whole database."""
    if found := find_damage(catalog):
        raise damaged_database(named, found[0])


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


def _described(catalog: Path, vectors: tuple[Path, ...]) -> CopiedStores:
    with closing(reading(catalog)) as connection:
        [(documents, passages)] = connection.execute(
            "SELECT count(*), coalesce(sum(children), 0) FROM documents WHERE status = 'active'"
        )
        kept = dict(connection.execute("SELECT name, value FROM state WHERE name IN ('schema', 'encoder')"))
        rows = np.array([int(row) for (row,) in connection.execute(_ROWS)], np.int64)
    manifest = read_manifest(kept.get("encoder", ""))
    whole = np.zeros(len(rows), bool)
    if manifest is not None and vectors:
        file = VectorFile(vectors[0].parent, manifest.name, manifest.dimension)
        whole = (rows < len(file)) & ~np.isin(rows, file.damaged(np.unique(rows)))
    without = int((~whole).sum())
    return CopiedStores(catalog, vectors, read_originals(catalog), documents, passages, without, int(kept["schema"]))
