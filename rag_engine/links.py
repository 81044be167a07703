"""What leads to a passage without a search: a reference from another passage, or an entry of an index.

Both belong to the catalog and are written in the transaction that writes the document's children.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import sqlalchemy as sql
from sqlalchemy.engine import Connection

from rag_engine import catalog as tables
from rag_engine.catalog import Catalog, ParentRecord, mark_changed
from rag_engine.types import Document, DocumentRecord, Linked

_ANCHOR = ("key", "document_key", "parent_key", "child_key", "term", "subterm", "entry", "source", "start", "end")


@dataclass(frozen=True, slots=True)
class Reference:
    """A place [start, end) of a document's text, in its parent `origin`, that refers to its parent `target`.

    Parents are given by index. `label` is what is referred to, as it is cited.
    """

    origin: int
    target: int
    start: int
    end: int
    label: str


@dataclass(frozen=True, slots=True)
class Listed:
    """A place [start, end) of a document's text that an index lists under a term.

    `entry` says so to a person: "listed in the index under “loss and damage, finance for”". `source` is the index:
    the document's own or another file.
    """

    term: str
    subterm: str
    entry: str
    source: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class AnchorRecord:
    """A listed place as the catalog keeps it, with the child that it begins in."""

    key: int
    document_key: int
    parent_key: int
    child_key: int
    term: str
    subterm: str
    entry: str
    source: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class AnchorTerms:
    """The terms of all indexes over visible documents, each with the keys of its anchors; `change` dates them."""

    change: int
    terms: Mapping[tuple[str, str], tuple[int, ...]]


def insert_references(
    connection: Connection, document: int, first_parent: int, references: Sequence[Reference]
) -> None:
    """Nothing; keeps the references of a document whose parents have consecutive keys from `first_parent` on."""
    rows = [
        {"document_key": document, "from_parent": first_parent + one.origin, "to_parent": first_parent + one.target}
        | {"start": one.start, "end": one.end, "label": one.label}
        for one in references
    ]
    if rows:
        connection.execute(sql.insert(tables.references), rows)


def insert_anchors(connection: Connection, document: int, listed: Sequence[Listed]) -> None:
    """Nothing; keeps the listed places of a document whose children are in the catalog, each once."""
    c, p = tables.children.c, tables.parents.c
    spans = sql.select(c.key, c.parent_key, p.start + c.start, p.start + c.end).join(
        tables.parents, p.key == c.parent_key
    )
    found = connection.execute(spans.where(c.document_key == document).order_by(c.key)).all()
    if not found or not listed:
        return
    keys, parent_keys, starts, ends = np.array([tuple(row) for row in found], np.int64).T
    rows = []
    for one in dict.fromkeys(listed):
        # Of the children that hold its beginning the one that holds most of it, else the last that begins before it.
        held = np.where((starts <= one.start) & (one.start < ends), np.minimum(ends, one.end) - one.start, -1)
        place = int(held.argmax()) if held.max() >= 0 else int(np.where(starts <= one.start, starts, -1).argmax())
        rows.append(
            {"document_key": document, "parent_key": int(parent_keys[place]), "child_key": int(keys[place])}
            | {"term": one.term, "subterm": one.subterm, "entry": one.entry, "source": one.source}
            | {"start": one.start, "end": one.end}
        )
    connection.execute(sql.insert(tables.anchors), rows)


def replace_anchors(catalog: Catalog, document: DocumentRecord, source: str, listed: Sequence[Listed]) -> None:
    """Nothing; a document of the collection is listed by an index as given, and no longer as it was before.

    The caller holds the workspace's write lock. `source` is that of everything listed.
    """
    a = tables.anchors
    with catalog.begin() as connection:
        connection.execute(sql.delete(a).where(a.c.document_key == document.key, a.c.source == source))
        insert_anchors(connection, document.key, listed)
        mark_changed(connection)


def listed_places(catalog: Catalog, document_key: int) -> tuple[Listed, ...]:
    """Where a document is listed by any index; holds for its text however that is cut."""
    a = tables.anchors.c
    columns = [a[name] for name in Listed.__dataclass_fields__]
    return tuple(
        Listed(*row) for row in catalog.read(sql.select(*columns).where(a.document_key == document_key).order_by(a.key))
    )


def still_listed(catalog: Catalog, document: Document, without: Collection[str]) -> tuple[Listed, ...]:
    """Where indexes other than those named list the collection's version of a document, if its text is the same."""
    a, d = tables.anchors.c, tables.documents.c
    statement = sql.select(d.key).where(d.source == document.source, d.sha256 == document.sha256, d.status == "active")
    found = catalog.read(statement.where(sql.exists().where(a.document_key == d.key, a.source.not_in(without))))
    return tuple(
        one
        for (key,) in found
        if catalog.text(key) == document.extracted.text
        for one in listed_places(catalog, key)
        if one.source not in without
    )


def read_anchor_terms(catalog: Catalog, before: AnchorTerms | None = None) -> AnchorTerms:
    """The terms of all indexes as (term, subterm), as they are printed; `before` itself while nothing has changed."""
    change = catalog.change()
    if before is not None and before.change == change:
        return before
    a, d = tables.anchors.c, tables.documents.c
    statement = sql.select(a.term, a.subterm, a.key).join(tables.documents, d.key == a.document_key)
    terms: dict[tuple[str, str], list[int]] = defaultdict(list)
    for term, subterm, key in catalog.read(statement.where(d.status == "active").order_by(a.key)):
        terms[term, subterm].append(key)
    return AnchorTerms(change, {term: tuple(keys) for term, keys in terms.items()})


def anchors(catalog: Catalog, keys: Iterable[int]) -> list[AnchorRecord]:
    """Anchors by their own keys, in the order of the keys."""
    return sorted(_anchors(catalog, tables.anchors.c.key, keys), key=lambda one: one.key)


def anchors_of_children(catalog: Catalog, child_keys: Iterable[int]) -> dict[int, tuple[AnchorRecord, ...]]:
    """For each of the children that an index lists, its anchors."""
    found: dict[int, list[AnchorRecord]] = defaultdict(list)
    for one in _anchors(catalog, tables.anchors.c.child_key, child_keys):
        found[one.child_key].append(one)
    return {key: tuple(sorted(those, key=lambda one: one.key)) for key, those in found.items()}


def references(catalog: Catalog, parent_keys: Iterable[int]) -> dict[int, tuple[tuple[str, ParentRecord], ...]]:
    """For each of the parents that refer to others, label and parent of what it refers to, in the text's order.

    What is referred to several times is there once, under the first label.
    """
    r = tables.references.c
    rows = [
        row
        for some in _portions(parent_keys)
        for row in catalog.read(
            sql.select(r.from_parent, r.to_parent, r.label).where(r.from_parent.in_(some)).order_by(r.start, r.key)
        )
    ]
    targets = catalog.parents({int(row[1]) for row in rows})
    found: dict[int, dict[int, tuple[str, ParentRecord]]] = defaultdict(dict)
    for origin, target, label in rows:
        if target in targets:
            found[origin].setdefault(target, (label, targets[target]))
    return {origin: tuple(those.values()) for origin, those in found.items()}


def linked_passages(catalog: Catalog, parents: Mapping[int, DocumentRecord]) -> dict[int, tuple[Linked, ...]]:
    """For each of the parents, given by key with their document, the passages that it refers to, if any."""
    return {
        origin: tuple(
            Linked(
                label=label,
                document=parents[origin],
                parent_index=one.index,
                start=one.start,
                end=one.end,
                text=one.text,
                page=one.page,
                last_page=one.last_page,
            )
            for label, one in those
        )
        for origin, those in references(catalog, parents).items()
    }


def _anchors(catalog: Catalog, column: sql.Column[int], keys: Iterable[int]) -> Iterator[AnchorRecord]:
    columns = [tables.anchors.c[name] for name in _ANCHOR]
    for some in _portions(keys):
        yield from (AnchorRecord(*row) for row in catalog.read(sql.select(*columns).where(column.in_(some))))


def _portions(keys: Iterable[int]) -> Iterator[list[int]]:
    """The keys, so many at a time as a database takes in one statement."""
    every = list(keys)
    for first in range(0, len(every), 500):
        yield every[first : first + 500]
