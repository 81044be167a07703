"""Deletion of documents from every store and the disk; an interrupted one is finished by recovery.py."""

from __future__ import annotations

import shutil
from collections.abc import Collection, Iterator
from dataclasses import dataclass

import numpy as np
import sqlalchemy as sql
from sqlalchemy.engine import Connection

from rag_engine.answering_documents import in_force_again
from rag_engine.backends.drawing.page_cache import drawings_of
from rag_engine.messages import Message
from rag_engine.storage import schema as tables
from rag_engine.storage.catalog import Catalog, describe_document, mark_changed, set_state
from rag_engine.storage.stores import Stores, keyword_rows, stored_file, stored_name
from rag_engine.storage.vector_rows import forget_rows, sweep, unshared_rows
from rag_engine.types.document import DocumentRecord

# Named value of the workspace while an erasure has not left every store.
ERASING = "erasing"
# Named value: erasures left something in files of the indexes, until these are made again.
LEFT = "left by erasures"
# Children that an erasure may write again to the keyword index, which takes about half a minute.
_WRITTEN_AGAIN = 20_000


@dataclass(frozen=True, slots=True)
class Erasure:
    """Result of a deletion: the removed things, and anything that was still found afterwards.

    `in_force_again` are the titles of the former versions that stand in the place of the document.
    """

    document_id: str
    file: str
    children: int
    vectors: int
    left_behind: tuple[Message, ...]
    in_force_again: tuple[str, ...] = ()


def erase(stores: Stores, record: DocumentRecord) -> Erasure:
    """Remove a document, invisible from the first moment on, and return the result."""
    d = tables.documents
    keys = {child.key for child in stores.catalog.document_children(record.key)}
    again = in_force_again(record, stores.catalog.active_documents())
    with stores.catalog.begin() as connection:
        connection.execute(sql.update(d).where(d.c.key == record.key).values(status="deleting"))
        for former in again:
            connection.execute(sql.update(d).where(d.c.key == former.key).values(source=former.source))
            describe_document(connection, former.key, former.metadata)
        set_state(connection, ERASING, "yes")
        mark_changed(connection)
    vectors = purge(stores, "deleting") + sweep(stores)
    left = []
    if stores.dense.filter(documents=[record.key]):
        left.append(Message("entries of the dense index"))
    if keys & stores.sparse.keys():
        left.append(Message("entries of the keyword index"))
    of_document = (t.c.document_key for t in tables.OF_DOCUMENT)
    if any(stores.catalog.read(sql.select(c).where(c == record.key).limit(1)) for c in of_document):
        left.append(Message("rows of the catalog"))
    if not _used(stores.catalog, record.sha256, record.file) and stored_file(stores.files, record).exists():
        left.append(Message("the stored original {file}", file=stored_file(stores.files, record).name))
    drawn = drawings_of(stores.drawings, record.sha256)
    if not stored_file(stores.files, record).parent.exists() and drawn.exists():
        left.append(Message("drawn pages in {folder}", folder=drawn))
    titles = tuple(former.shown_title for former in again)
    return Erasure(record.document_id, record.file, len(keys), vectors, tuple(left), titles)


def compact_keywords(stores: Stores) -> bool:
    """Write the parts of the keyword index that hold words of deleted documents again.

    Return False if this would take too long.
    """
    compacted = stores.sparse.compact(lambda keys: _children_of(stores.catalog, keys), at_most=_WRITTEN_AGAIN)
    return compacted is not None


def purge(stores: Stores, *statuses: str, keep_vectors: bool = False) -> int:
    """Remove every document of these statuses from all stores and the disk.

    Return the number of its vectors.
    """
    d = tables.documents.c
    rows = stores.catalog.read(sql.select(d.key).where(d.status.in_(statuses)))
    keys = [int(row[0]) for row in rows]
    if not keys:
        return 0
    stores.sparse.delete_documents(keys)
    stores.sparse.commit()
    return sum(_purge_one(stores, key, keep_vectors) for key in keys)


def _purge_one(stores: Stores, key: int, keep_vectors: bool) -> int:
    c, d = tables.children.c, tables.documents
    pairs = stores.catalog.read(sql.select(c.key, c.vector_row).where(c.document_key == key))
    held = np.array([tuple(pair) for pair in pairs], np.int64).reshape(-1, 2)
    columns = sql.select(d.c.document_id, d.c.sha256, d.c.file, d.c.model)
    [(document_id, sha256, file, model)] = stores.catalog.read(columns.where(d.c.key == key))
    # Before anything is removed: names that lead elsewhere end the deletion.
    copy, drawn = stored_name(stores.files, sha256, file), drawings_of(stores.drawings, sha256)
    stores.dense.delete(held[:, 0])
    rows = held[:0, 1]
    # Rows count within one model's file; rows of another model are removed with its file.
    if model == stores.vectors.model and not keep_vectors:
        rows = unshared_rows(stores.catalog, key, model, np.unique(held[:, 1]))
        forget_rows(stores, rows)
    with stores.catalog.begin() as connection:
        for table in tables.OF_DOCUMENT:
            connection.execute(sql.delete(table).where(table.c.document_key == key))
        connection.execute(sql.delete(d).where(d.c.key == key))
        _forget_groundings(connection, document_id)
    if not _used(stores.catalog, sha256, file):
        copy.unlink(missing_ok=True)
        if copy.parent.is_dir() and not any(copy.parent.iterdir()):
            copy.parent.rmdir()
        if not copy.parent.exists():
            shutil.rmtree(drawn, ignore_errors=True)
    return len(rows)


def _forget_groundings(connection: Connection, document_id: str) -> None:
    """Remove groundings made from a document, unless it has the same words under another key."""
    d, g, quoted = tables.documents.c, tables.groundings, tables.grounded_documents
    if connection.execute(sql.select(d.key).where(d.document_id == document_id).limit(1)).first() is None:
        written = sql.select(quoted.c.grounding).where(quoted.c.document_id == document_id)
        connection.execute(sql.delete(g).where(g.c.id.in_(written)))
        connection.execute(sql.delete(quoted).where(quoted.c.document_id == document_id))


def _children_of(catalog: Catalog, document_keys: Collection[int]) -> Iterator[tuple[int, int, str, str]]:
    for record in catalog.active_documents():
        if record.key in document_keys:
            yield from keyword_rows(record, catalog.document_children(record.key))


def _used(catalog: Catalog, sha256: str, file: str) -> bool:
    d = tables.documents.c
    return bool(catalog.read(sql.select(d.key).where(d.sha256 == sha256, d.file == file)))
