"""The stores that hold a collection, and the names under which they keep a document."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import repeat
from pathlib import Path

import numpy as np
import sqlalchemy as sql
from sqlalchemy.engine import Connection

from rag_engine.chunking.indexed_text import child_id, keyword_text
from rag_engine.protocols import ChildFacets, SparseIndex, VectorIndex
from rag_engine.storage import schema as tables
from rag_engine.storage.catalog import Catalog, ChildRecord, set_state
from rag_engine.storage.vector_file import VectorFile
from rag_engine.types.document import DocumentRecord
from rag_engine.workspace import inside

# Named value of the workspace: keys of the documents that the indexes describe as before.
_DUE = "descriptions due"
# Children that are put into the dense index at once; a call costs 20 ms however little it is given.
_TOGETHER = 1_000
# As in Buriasco 2026; a section may be longer.
_PARENT_CHARACTERS = 2000


@dataclass(frozen=True, slots=True)
class Stores:
    """Everything that holds a collection for its one writer."""

    catalog: Catalog
    vectors: VectorFile
    dense: VectorIndex
    sparse: SparseIndex
    files: Path
    drawings: Path


def stored_name(files: Path, sha256: str, file: str) -> Path:
    """Return the path of a file's copy: under its own name, in a folder for its content."""
    return inside(files, sha256[:12], file)


def stored_file(files: Path, record: DocumentRecord) -> Path:
    """Return the path of a document's copy."""
    return stored_name(files, record.sha256, record.file)


def keyword_rows(record: DocumentRecord, children: Iterable[ChildRecord]) -> Iterator[tuple[int, int, str, str]]:
    """Yield the keyword index's rows of a document: key, document key, language, text.

    The same as when the document was added, so that an index written from the catalog equals the first.
    """
    for child in children:
        text = keyword_text(record.metadata.title, child.parent, child)
        yield child.key, record.key, record.metadata.language, text


def fill_keywords(sparse: SparseIndex, catalog: Catalog) -> None:
    """Have the keyword index hold the visible documents that it lacks, as one does whose files were lost."""
    for record in _lacking(catalog, sparse.count(), sparse.keys):
        sparse.delete_documents([record.key])
        sparse.add(keyword_rows(record, catalog.document_children(record.key)))
    sparse.commit()


def fill_dense(stores: Stores) -> None:
    """Have the dense index hold the visible documents that it lacks, as far as their vectors are whole."""
    put_dense(stores, _lacking(stores.catalog, len(stores.dense), stores.dense.filter))


def _lacking(catalog: Catalog, count: int, keys: Callable[[], set[int]]) -> list[DocumentRecord]:
    """Return the visible documents that lack children in an index.

    `count` is the number of children in the index; `keys` is called only if it is too small.
    """
    records = catalog.active_documents()
    if count >= sum(record.children for record in records):
        return []
    held, c = keys(), tables.children.c
    owners = {owner for key, owner in catalog.read(sql.select(c.key, c.document_key)) if key not in held}
    return [record for record in records if record.key in owners]


def note_due(connection: Connection, keys: Iterable[int]) -> None:
    """Note documents that the indexes describe as before; the next writer brings them up to date."""
    set_state(connection, _DUE, " ".join(map(str, sorted({*_due(connection), *keys}))))


def put_due(stores: Stores) -> None:
    """Have both indexes describe the noted documents as the catalog does; nothing is encoded."""
    with stores.catalog.begin() as connection:
        due = _due(connection)
    if not due:
        return
    records = [record for record in stores.catalog.active_documents() if record.key in due]
    write_indexes(stores, records)
    with stores.catalog.begin() as connection:
        set_state(connection, _DUE, " ".join(map(str, sorted(_due(connection) - due))))


def _due(connection: Connection) -> set[int]:
    kept = connection.execute(sql.select(tables.state.c.value).where(tables.state.c.name == _DUE)).scalar()
    return set(map(int, str(kept or "").split()))


def dense_facets(record: DocumentRecord, child: ChildRecord) -> ChildFacets:
    """Return the metadata of a child in the dense index, for any Chroma client.

    The names are from Buriasco 2026, section 5.2.2, if it has one.
    """
    m, parent = record.metadata, child.parent
    return {
        "document": child.document_key,
        "document_id": record.document_id,
        "content_hash": record.sha256,
        "policy_title": m.title,
        "issuing_authority": m.authority,
        "hazard": list(m.hazards),
        "geographical_level": m.geographical_level,
        "country": list(m.countries),
        "document_type": m.document_type,
        "language": [m.language, *m.other_languages] if m.other_languages else m.language,
        "year": m.year,
        "licence": m.licence,
        "quality_score": m.quality_score,
        "child_id": child_id(record.sha256, parent.index, child.index),
        "parent_idx": parent.index,
        "child_idx": child.index,
        "parent_text": parent.text[:_PARENT_CHARACTERS],
        "page": child.page,
        "act": parent.act,
        "section": parent.section,
    }


def write_indexes(
    stores: Stores, records: Iterable[DocumentRecord], progress: Callable[[DocumentRecord], None] = lambda _: None
) -> None:
    """Have both indexes hold documents as the catalog describes them; nothing is encoded."""

    def write_keywords(record: DocumentRecord, children: list[ChildRecord]) -> None:
        progress(record)
        stores.sparse.delete_documents([record.key])
        stores.sparse.add(keyword_rows(record, children))

    put_dense(stores, records, write_keywords)
    stores.sparse.commit()


def put_dense(
    stores: Stores,
    records: Iterable[DocumentRecord],
    each: Callable[[DocumentRecord, list[ChildRecord]], None] = lambda *_: None,
) -> None:
    """Put the children of documents into the dense index.

    A child whose vector is lost or damaged is left out: the index would hold it and hide the damage. `each` gets a
    document with its children.
    """
    c = tables.children.c
    waiting: list[tuple[DocumentRecord, ChildRecord, int]] = []
    for record in records:
        children = stores.catalog.document_children(record.key)
        held = sql.select(c.vector_row).where(c.document_key == record.key).order_by(c.key)
        rows = (int(row) for (row,) in stores.catalog.read(held))
        waiting += zip(repeat(record), children, rows)
        each(record, children)
        if len(waiting) >= _TOGETHER:
            _add(stores, waiting)
            waiting = []
    _add(stores, waiting)


def _add(stores: Stores, waiting: Sequence[tuple[DocumentRecord, ChildRecord, int]]) -> None:
    rows = np.array([row for _, _, row in waiting], np.int64)
    whole = (rows < len(stores.vectors)) & ~np.isin(rows, stores.vectors.damaged(rows))
    put = [(record, child) for (record, child, _), good in zip(waiting, whole.tolist(), strict=True) if good]
    if put:
        keys = np.array([child.key for _, child in put], np.int64)
        vectors, texts = np.array(stores.vectors.all()[rows[whole]]), [child.text for _, child in put]
        stores.dense.add(keys, vectors, texts, [dense_facets(record, child) for record, child in put])
