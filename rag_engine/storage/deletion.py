"""Documents out of every store and off the disk, so that an interruption is finished at the next start."""

from __future__ import annotations

import shutil
from collections.abc import Collection, Iterator
from dataclasses import dataclass

import numpy as np
import sqlalchemy as sql

from rag_engine.protocols import Keys
from rag_engine.storage import schema as tables
from rag_engine.storage.catalog import Catalog, mark_changed
from rag_engine.storage.collection import Stores, keyword_rows, stored_file, stored_name
from rag_engine.types import DocumentRecord

# Children that an erasure may write again to the keyword index, which takes about half a minute.
_WRITTEN_AGAIN = 20_000


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
    vectors = purge(stores, "doomed") + sweep(stores)
    left = []
    if stores.sparse.compact(lambda keys: _children_of(stores.catalog, keys), at_most=_WRITTEN_AGAIN) is None:
        left.append("words in the files of the keyword index, where no search finds them, until `sextant rebuild`")
    stores.catalog.checkpoint()
    if keys & stores.dense.keys():
        left.append("entries of the dense index")
    if keys & stores.sparse.keys():
        left.append("entries of the keyword index")
    if any(stores.catalog.read(_rows(table, record.key)) for table in tables.OF_DOCUMENT):
        left.append("rows of the catalog")
    if not _used(stores.catalog, record.sha256, record.file) and stored_file(stores.files, record).exists():
        left.append(f"the file {stored_file(stores.files, record).name}")
    return Erasure(record.document_id, record.file, len(keys), vectors, tuple(left))


def recover(stores: Stores) -> int:
    """Number of documents that an interrupted run had left half added or half removed, now undone or finished.

    Vectors of a broken-off addition stay, so that the next one finds them; those of a model that no document uses,
    copies of files that no document names, and names of vectors that are not on the disk go.
    """
    d = tables.documents.c
    half = stores.catalog.read(sql.select(d.key).where(d.status != "active"))
    purge(stores, "doomed")
    purge(stores, "pending", keep_vectors=True)
    _forget_other_models(stores)
    _forget_lost_vectors(stores)
    stores.vectors.erase(free_rows(stores))
    if stores.files.exists():
        known = {stored_file(stores.files, record) for record in stores.catalog.active_documents()}
        for folder in stores.files.iterdir():
            for path in folder.rglob("*"):
                if path.is_file() and path not in known:
                    path.unlink()
            if not any(path.is_file() for path in folder.rglob("*")):
                shutil.rmtree(folder)
    return len(half)


def purge(stores: Stores, *statuses: str, keep_vectors: bool = False) -> int:
    """Number of vectors removed with every document of these statuses, from all stores and the disk."""
    d = tables.documents.c
    rows = stores.catalog.read(sql.select(d.key).where(d.status.in_(statuses)))
    keys = [int(row[0]) for row in rows]
    if not keys:
        return 0
    stores.sparse.delete_documents(keys)
    stores.sparse.commit()
    return sum(_purge_one(stores, key, keep_vectors) for key in keys)


def sweep(stores: Stores) -> int:
    """Number of vectors removed because no child uses them, such as those of a run that was broken off."""
    v = tables.vectors
    used = _rows_of_children(stores)
    loose = sql.select(v.c.row).where(v.c.model == stores.vectors.model, v.c.row.not_in(used))
    rows = np.array([int(row[0]) for row in stores.catalog.read(loose)], np.int64)
    _forget(stores, rows)
    return len(rows)


def free_rows(stores: Stores) -> Keys:
    """Rows of the vector file that neither a hash nor a child names."""
    v = tables.vectors.c
    named = sql.select(v.row).where(v.model == stores.vectors.model).union(_rows_of_children(stores).distinct())
    used = np.array([int(row[0]) for row in stores.catalog.read(named)], np.int64)
    return np.setdiff1d(np.arange(len(stores.vectors)), used)


def beyond_used_rows(stores: Stores) -> int:
    """The first row behind all that children name, which a lost vector file may not reach."""
    [(last,)] = stores.catalog.read(sql.select(sql.func.max(_rows_of_children(stores).subquery().c.vector_row)))
    return 0 if last is None else int(last) + 1


def _rows_of_children(stores: Stores) -> sql.Select[tuple[int]]:
    c, d = tables.children.c, tables.documents.c
    joined = sql.select(c.vector_row).join(tables.documents, d.key == c.document_key)
    return joined.where(d.model == stores.vectors.model)


def _forget_other_models(stores: Stores) -> None:
    v, d = tables.vectors, tables.documents.c
    used = {stores.vectors.model, *(str(row[0]) for row in stores.catalog.read(sql.select(d.model).distinct()))}
    with stores.catalog.begin() as connection:
        connection.execute(sql.delete(v).where(v.c.model.not_in(used)))
    if used == {stores.vectors.model}:
        for path in stores.vectors.path.parent.iterdir():
            if path != stores.vectors.path:
                path.unlink()


def _forget_lost_vectors(stores: Stores) -> None:
    """Names of vectors that are beyond the file's end or zero are of no use: their texts are encoded again."""
    v = tables.vectors
    pairs = stores.catalog.read(sql.select(v.c.row).where(v.c.model == stores.vectors.model))
    rows = np.array([int(row[0]) for row in pairs], np.int64)
    held = stores.vectors.all()
    inside = rows[rows < len(held)]
    empty = [part[~held[part].any(axis=1)] for part in np.array_split(inside, len(inside) // 10_000 + 1)]
    lost = np.concatenate([rows[rows >= len(held)], *empty])
    with stores.catalog.begin() as connection:
        for first in range(0, len(lost), 500):
            some = lost[first : first + 500].tolist()
            connection.execute(sql.delete(v).where(v.c.model == stores.vectors.model, v.c.row.in_(some)))


def _purge_one(stores: Stores, key: int, keep_vectors: bool) -> int:
    c, d = tables.children.c, tables.documents
    pairs = stores.catalog.read(sql.select(c.key, c.vector_row).where(c.document_key == key))
    held = np.array([tuple(pair) for pair in pairs], np.int64).reshape(-1, 2)
    [(sha256, file, model)] = stores.catalog.read(sql.select(d.c.sha256, d.c.file, d.c.model).where(d.c.key == key))
    stores.dense.delete(held[:, 0])
    rows = held[:0, 1]
    # Rows count within one model's file: those of another model go with that file.
    if model == stores.vectors.model and not keep_vectors:
        rows = _only_here(stores.catalog, key, model, np.unique(held[:, 1]))
        _forget(stores, rows)
    with stores.catalog.begin() as connection:
        for table in tables.OF_DOCUMENT:
            connection.execute(sql.delete(table).where(table.c.document_key == key))
        connection.execute(sql.delete(d).where(d.c.key == key))
    if not _used(stores.catalog, sha256, file):
        copy = stored_name(stores.files, sha256, file)
        copy.unlink(missing_ok=True)
        if copy.parent.is_dir() and not any(copy.parent.iterdir()):
            copy.parent.rmdir()
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


def _children_of(catalog: Catalog, document_keys: Collection[int]) -> Iterator[tuple[int, int, str, str]]:
    for record in catalog.active_documents():
        if record.key in document_keys:
            yield from keyword_rows(record, catalog.document_children(record.key))


def _rows(table: sql.Table, document_key: int) -> sql.Select[tuple[int]]:
    return sql.select(table.c.document_key).where(table.c.document_key == document_key).limit(1)


def _used(catalog: Catalog, sha256: str, file: str) -> bool:
    d = tables.documents.c
    return bool(catalog.read(sql.select(d.key).where(d.sha256 == sha256, d.file == file)))
