"""A new generation of the indexes, made while the old one answers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import sqlalchemy as sql
from sqlalchemy.engine import Connection

from rag_engine.chunking.indexed_text import child_id
from rag_engine.storage import schema as tables
from rag_engine.storage.catalog import ChildRecord, set_state
from rag_engine.storage.index_entries import stored_entries
from rag_engine.storage.indexer import Indexer, facets_of_document
from rag_engine.storage.stores import Stores, keyword_rows
from rag_engine.types import DocumentRecord

RebuildProgress = Callable[[int, int, str], None]


def refill(stores: Stores, progress: RebuildProgress) -> int:
    """Fill two empty indexes from the catalog and the vectors, and return the number of children."""
    records = stores.catalog.active_documents()
    count = 0
    for done, record in enumerate(records):
        progress(done, len(records), record.file)
        children = stores.catalog.document_children(record.key)
        _put(stores, record, children)
        count += len(children)
    stores.sparse.commit()
    progress(len(records), len(records), "")
    return count


def switch_generation(connection: Connection, generation: int, manifest: str = "") -> None:
    """Let the generation answer from this transaction on; `manifest` names its encoder where that is another one."""
    set_state(connection, "generation", str(generation))
    if manifest:
        set_state(connection, "encoder", manifest)


def encode_again(old: Stores, indexer: Indexer, progress: RebuildProgress) -> int:
    """Chunk and encode every document from its stored text, and return their number; all become visible at once."""
    records = old.catalog.fingerprints()
    for done, (record, fingerprint) in enumerate(records):
        progress(done, len(records), record.file)
        listed = stored_entries(old.catalog, record.key)
        indexer.index(replace(record, key=0), old.catalog.extracted(record), fingerprint, listed)
    progress(len(records), len(records), "")
    return len(records)


def _put(stores: Stores, record: DocumentRecord, children: list[ChildRecord]) -> None:
    c = tables.children.c
    pairs = stores.catalog.read(sql.select(c.key, c.vector_row).where(c.document_key == record.key))
    rows = {int(key): int(row) for key, row in pairs}
    keys = np.array([child.key for child in children], np.int64)
    if len(keys) == 0:
        return
    vectors = np.array(stores.vectors.all()[[rows[child.key] for child in children]])
    shared = facets_of_document(record, record.key)
    stores.dense.upsert(
        keys,
        vectors,
        [shared | {"child_id": child_id(record.sha256, child.parent_index, child.index)} for child in children],
    )
    stores.sparse.add(keyword_rows(record, children))
