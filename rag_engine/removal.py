"""Documents out of every store and off the disk, so that an interruption is finished at the next start."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import sqlalchemy as sql

from rag_engine import catalog as tables
from rag_engine.catalog import Catalog, mark_changed
from rag_engine.protocols import Keys
from rag_engine.stores import Stores, stored_file, stored_name
from rag_engine.types import DocumentRecord


@dataclass(frozen=True, slots=True)
class Erasure:
    """What was removed with a document, and anything that was looked for afterwards and still found."""

    document_id: str
    file: str
    children: int
    vectors: int
    left_behind: tuple[str, ...]


def erase(stores: Stores, record: DocumentRecord) -> Erasure:
    """What was removed; the document is invisible from the first moment on."""
    d = tables.documents
    keys = {child.key for child in stores.catalog.document_children(record.key)}
    with stores.catalog.begin() as connection:
        connection.execute(sql.update(d).where(d.c.key == record.key).values(status="doomed"))
        mark_changed(connection)
    vectors = purge(stores, "doomed")
    left = []
    if keys & stores.dense.keys():
        left.append("entries of the dense index")
    if keys & stores.sparse.keys():
        left.append("entries of the keyword index")
    if stores.catalog.document_children(record.key):
        left.append("rows of the catalog")
    if not _used(stores.catalog, record.sha256) and stored_file(stores.files, record).exists():
        left.append(f"the file {stored_file(stores.files, record).name}")
    return Erasure(record.document_id, record.file, len(keys), vectors, tuple(left))


def recover(stores: Stores) -> int:
    """Number of documents that an interrupted run had left half added or half removed, now undone or finished."""
    d = tables.documents.c
    half = stores.catalog.read(sql.select(d.key).where(d.status != "active"))
    purge(stores, "pending", "doomed")
    stores.vectors.erase(free_rows(stores))
    if stores.files.exists():
        known = {stored_file(stores.files, record).name for record in stores.catalog.active_documents()}
        for path in stores.files.iterdir():
            if path.name not in known:
                path.unlink()
    return len(half)


def purge(stores: Stores, *statuses: str) -> int:
    """Number of vectors removed with every document of these statuses, from all stores and the disk."""
    d = tables.documents.c
    rows = stores.catalog.read(sql.select(d.key).where(d.status.in_(statuses)))
    keys = [int(row[0]) for row in rows]
    if not keys:
        return 0
    stores.sparse.delete_documents(keys)
    stores.sparse.commit()
    return sum(_purge_one(stores, key) for key in keys)


def sweep(stores: Stores) -> int:
    """Number of vectors removed because no child uses them, such as those of a run that was broken off."""
    v, c = tables.vectors, tables.children.c
    used = sql.select(c.vector_row).join(tables.documents, tables.documents.c.key == c.document_key)
    used = used.where(tables.documents.c.model == stores.vectors.model)
    loose = sql.select(v.c.row).where(v.c.model == stores.vectors.model, v.c.row.not_in(used))
    rows = np.array([int(row[0]) for row in stores.catalog.read(loose)], np.int64)
    _forget(stores, rows)
    return len(rows)


def forget_model(stores: Stores) -> None:
    """Nothing; removes every vector of a model that the collection no longer uses."""
    v = tables.vectors
    with stores.catalog.begin() as connection:
        connection.execute(sql.delete(v).where(v.c.model == stores.vectors.model))
    stores.vectors.path.unlink(missing_ok=True)


def free_rows(stores: Stores) -> Keys:
    """Rows of the vector file that the catalog does not name."""
    v = tables.vectors.c
    used = [int(row[0]) for row in stores.catalog.read(sql.select(v.row).where(v.model == stores.vectors.model))]
    return np.setdiff1d(np.arange(len(stores.vectors)), np.array(used, np.int64))


def _purge_one(stores: Stores, key: int) -> int:
    c, d = tables.children.c, tables.documents
    pairs = stores.catalog.read(sql.select(c.key, c.vector_row).where(c.document_key == key))
    held = np.array([tuple(pair) for pair in pairs], np.int64).reshape(-1, 2)
    [(sha256, file, model)] = stores.catalog.read(sql.select(d.c.sha256, d.c.file, d.c.model).where(d.c.key == key))
    stores.dense.delete(held[:, 0])
    rows = held[:0, 1]
    # Rows count within one model's file: those of another model go with that file.
    if model == stores.vectors.model:
        rows = _only_here(stores.catalog, key, model, np.unique(held[:, 1]))
        _forget(stores, rows)
    with stores.catalog.begin() as connection:
        for table in (tables.children, tables.parents, tables.texts):
            connection.execute(sql.delete(table).where(table.c.document_key == key))
        connection.execute(sql.delete(d).where(d.c.key == key))
    if not _used(stores.catalog, sha256):
        stored_name(stores.files, sha256, file).unlink(missing_ok=True)
    return len(rows)


def _forget(stores: Stores, rows: Keys) -> None:
    # The catalog first: a hash must never name a row that has been overwritten.
    v = tables.vectors
    with stores.catalog.begin() as connection:
        for first in range(0, len(rows), 500):
            some = rows[first : first + 500].tolist()
            connection.execute(sql.delete(v).where(v.c.model == stores.vectors.model, v.c.row.in_(some)))
    stores.vectors.erase(rows)


def _only_here(catalog: Catalog, document_key: int, model: str, rows: Keys) -> Keys:
    """Those vector rows that no other document's child uses."""
    c, d = tables.children.c, tables.documents.c
    shared: set[int] = set()
    for first in range(0, len(rows), 500):
        some = rows[first : first + 500].tolist()
        statement = sql.select(c.vector_row).join(tables.documents, d.key == c.document_key)
        statement = statement.where(c.vector_row.in_(some), d.key != document_key, d.model == model)
        shared.update(int(row[0]) for row in catalog.read(statement))
    return np.array([row for row in rows.tolist() if row not in shared], np.int64)


def _used(catalog: Catalog, sha256: str) -> bool:
    d = tables.documents.c
    return bool(catalog.read(sql.select(d.key).where(d.sha256 == sha256)))
