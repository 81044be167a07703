"""Index entries in the catalog, each with the passage it points to.

Places are offsets in a document's text, so that they outlive another way of cutting it into passages.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import sqlalchemy as sql
from sqlalchemy.engine import Connection

from rag_engine.book_index.anchors import Anchor, IndexRecord
from rag_engine.book_index.matching import IndexedPassage, IndexTerms
from rag_engine.storage import schema as tables
from rag_engine.storage.catalog import Catalog, mark_changed
from rag_engine.types.document import Document, DocumentRecord

_COLUMNS = [tables.anchors.c[name] for name in ("term", "subterm", "source", "page", "start", "end", "see")]
# The sources of an index and of a glossary that a document carries itself.
OWN_INDEX, OWN_GLOSSARY = "own", "own glossary"
OWN_SOURCES = (OWN_INDEX, OWN_GLOSSARY)


@dataclass(frozen=True, slots=True)
class IndexedEntry:
    """One entry of an index and the place [start, end) of a document's text, on a page, that it leads to.

    `source` is the index: one of OWN_SOURCES or the name of another file. `see` are the entries that this one refers
    to. An entry that only refers has page 0 and no place.
    """

    term: str
    subterm: str
    source: str
    page: int = 0
    start: int = 0
    end: int = 0
    see: tuple[str, ...] = ()


def entries_at(records: Sequence[IndexRecord], found: Sequence[Anchor], source: str) -> Iterator[IndexedEntry]:
    """Yield the entries of the index `source` for a document, given the anchors of its records.

    There is one for each record and page, and one for each record that only refers to others. A definition in a
    document's own index belongs to its glossary.
    """
    explained = {(one.term, one.subterm, page) for one in records if one.definition for page in one.pages}
    see: defaultdict[tuple[str, str], tuple[str, ...]] = defaultdict(tuple)
    for record in records:
        see[record.term, record.subterm] += record.see
    for anchor in found:
        is_glossary = source == OWN_INDEX and (anchor.term, anchor.subterm, anchor.page) in explained
        place = OWN_GLOSSARY if is_glossary else source
        yield IndexedEntry(
            anchor.term, anchor.subterm, place, anchor.page, anchor.start, anchor.end, see[anchor.term, anchor.subterm]
        )
    for record in records:
        if record.see and not record.pages:
            yield IndexedEntry(record.term, record.subterm, source, see=record.see)


def insert_entries(connection: Connection, document: int, listed: Sequence[IndexedEntry]) -> None:
    """Store the index entries of a document with children in the catalog, each entry and place once."""
    child_at = _children(connection, document) if listed else None
    if child_at is None:
        return
    rows: list[dict[str, object]] = [
        {"document_key": document, "child_key": child_at(entry) if entry.page else None}
        | {"term": entry.term, "subterm": entry.subterm, "source": entry.source, "page": entry.page}
        | {"start": entry.start, "end": entry.end, "see": json.dumps(entry.see, ensure_ascii=False)}
        for entry in dict.fromkeys(listed)
    ]
    connection.execute(sql.insert(tables.anchors), rows)


def replace_index(catalog: Catalog, source: str, listed: Mapping[int, Sequence[IndexedEntry]]) -> None:
    """Replace the entries of one index for documents (by key), in one transaction.

    The caller holds the workspace's write lock. `source` is that of everything listed.
    """
    with catalog.begin() as connection:
        connection.execute(sql.delete(tables.anchors).where(tables.anchors.c.source == source))
        for document, places in listed.items():
            insert_entries(connection, document, places)
        mark_changed(connection)


def index_sources(catalog: Catalog) -> dict[str, int]:
    """Return the indexes that list anything of the collection, each with the number of its documents."""
    a, d = tables.anchors.c, tables.documents.c
    counted = sql.select(a.source, sql.func.count(sql.distinct(a.document_key))).join(
        tables.documents, d.key == a.document_key
    )
    rows = catalog.read(counted.where(d.status == "active").group_by(a.source).order_by(a.source))
    return {str(source): int(count) for source, count in rows}


def stored_entries(catalog: Catalog, document_key: int) -> tuple[IndexedEntry, ...]:
    """Return the entries of all indexes for a document; cutting its text in another way keeps them valid."""
    a = tables.anchors.c
    rows = catalog.read(sql.select(*_COLUMNS).where(a.document_key == document_key).order_by(a.key))
    return tuple(
        IndexedEntry(term, subterm, source, page, start, end, tuple(json.loads(see)))
        for term, subterm, source, page, start, end, see in rows
    )


def entries_to_keep(catalog: Catalog, document: Document) -> tuple[IndexedEntry, ...]:
    """Return the entries of other indexes for the version of a document with the same text."""
    a, d = tables.anchors.c, tables.documents.c
    statement = sql.select(d.key).where(d.source == document.source, d.sha256 == document.sha256, d.status == "active")
    found = catalog.read(statement.where(sql.exists().where(a.document_key == d.key, a.source.not_in(OWN_SOURCES))))
    return tuple(
        entry
        for (key,) in found
        if catalog.text(key) == document.extracted.text
        for entry in stored_entries(catalog, key)
        if entry.source not in OWN_SOURCES
    )


@dataclass(frozen=True, slots=True)
class CollectionIndex:
    """The entries of all indexes over visible documents, with children by their keys.

    `on_page` has the children on every page that an index lists, by (document id, page).
    """

    terms: IndexTerms
    on_page: Mapping[tuple[str, int], tuple[int, ...]]


def read_collection_index(catalog: Catalog, documents: Mapping[int, DocumentRecord]) -> CollectionIndex:
    """Return the index entries of the given documents."""
    return CollectionIndex(IndexTerms(indexed_terms(catalog, documents)), _children_on_pages(catalog, documents))


def indexed_terms(catalog: Catalog, documents: Mapping[int, DocumentRecord]) -> list[IndexedPassage]:
    """Return the index entries over the documents, in each document's language.

    They hold the keys of their children.
    """
    a = tables.anchors.c
    rows = catalog.read(
        sql.select(a.document_key, a.child_key, a.term, a.subterm, a.page, a.see, a.start, a.end, a.source).order_by(
            a.document_key, a.key
        )
    )
    return [
        IndexedPassage(
            term=term,
            subterm=subterm,
            language=documents[key].metadata.language,
            document_id=documents[key].document_id,
            child_id="" if child is None else str(child),
            page=page,
            see=tuple(json.loads(see)),
            start=start,
            end=end,
            glossary=source == OWN_GLOSSARY,
        )
        for key, child, term, subterm, page, see, start, end, source in rows
        if key in documents
    ]


def _children_on_pages(
    catalog: Catalog, documents: Mapping[int, DocumentRecord]
) -> dict[tuple[str, int], tuple[int, ...]]:
    a, c = tables.anchors.c, tables.children.c
    pages = sql.select(a.document_key, a.page).where(a.page > 0).distinct().subquery()
    on_page = (c.document_key == pages.c.document_key) & (c.page <= pages.c.page) & (c.last_page >= pages.c.page)
    rows = catalog.read(
        sql.select(pages.c.document_key, pages.c.page, c.key).join(tables.children, on_page).order_by(c.key)
    )
    found: defaultdict[tuple[str, int], list[int]] = defaultdict(list)
    for key, page, child in rows:
        if key in documents:
            found[documents[key].document_id, page].append(child)
    return {page: tuple(dict.fromkeys(keys)) for page, keys in found.items()}


def _children(connection: Connection, document: int) -> Callable[[IndexedEntry], int] | None:
    """Return a function from an entry to the key of the child that holds it.

    None for a document without children: a file may hold nothing but white space.
    """
    c, p = tables.children.c, tables.parents.c
    spans = sql.select(c.key, p.start + c.start, p.start + c.end).join(tables.parents, p.key == c.parent_key)
    found = connection.execute(spans.where(c.document_key == document).order_by(c.key)).all()
    if not found:
        return None
    keys, starts, ends = np.array([tuple(row) for row in found], np.int64).T

    def child_at(entry: IndexedEntry) -> int:
        # Of the children that hold its beginning the one that holds most of it, else the last that begins before it.
        held = np.where((starts <= entry.start) & (entry.start < ends), np.minimum(ends, entry.end) - entry.start, -1)
        place = held.argmax() if held.max() >= 0 else np.where(starts <= entry.start, starts, -1).argmax()
        return int(keys[place])

    return child_at
