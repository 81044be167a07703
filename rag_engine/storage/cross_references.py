"""Cross-references: edges between the parents of one document, as the catalog keeps them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import sqlalchemy as sql
from sqlalchemy.engine import Connection

from rag_engine.chunking.section.references import Edge
from rag_engine.storage import schema as tables
from rag_engine.storage.catalog import Catalog, ParentRecord
from rag_engine.types.document import DocumentRecord
from rag_engine.types.passage import Linked


def insert_references(connection: Connection, document: int, first_parent: int, edges: Sequence[Edge]) -> None:
    """Store the edges of a document whose parents have consecutive keys from `first_parent` on."""
    rows = [
        {"document_key": document, "from_parent": first_parent + edge.origin, "to_parent": first_parent + edge.target}
        | {"start": edge.start, "end": edge.end, "label": edge.label}
        for edge in edges
    ]
    if rows:
        connection.execute(sql.insert(tables.references), rows)


def references(catalog: Catalog, parent_keys: Iterable[int]) -> dict[int, tuple[tuple[str, ParentRecord], ...]]:
    """Return for each parent the labels and targets of its references, in the text's order.

    Parents without references are left out. A target that is mentioned several times is there once, under its first
    label. The label is the text of the reference if it names the section ("Article 13, paragraph 2"). Else it is the
    section's label ("10" of "Articles 9 and 10").
    """
    r = tables.references.c
    statement = sql.select(r.from_parent, r.to_parent, r.label).order_by(r.start, r.key)
    rows = list(catalog.read_in(statement, r.from_parent, parent_keys))
    targets = catalog.parents({int(row[1]) for row in rows})
    found: dict[int, dict[int, tuple[str, ParentRecord]]] = defaultdict(dict)
    for origin, target, label in rows:
        if target in targets:
            section = targets[target].section
            found[origin].setdefault(target, (label if section in label else section, targets[target]))
    return {origin: tuple(those.values()) for origin, those in found.items()}


@dataclass(frozen=True, slots=True)
class PlacedReference:
    """Characters [start, end) of a document's text that refer to a section of it, and its place."""

    start: int
    end: int
    label: str
    target_start: int
    target_end: int
    target_page: int


def placed_references(catalog: Catalog, document: DocumentRecord) -> tuple[PlacedReference, ...]:
    """Return the references in a document's text, in its order."""
    r, p = tables.references.c, tables.parents.c
    columns = sql.select(r.start, r.end, r.label, p.start, p.end, p.page).join(tables.parents, p.key == r.to_parent)
    rows = catalog.read(columns.where(r.document_key == document.key).order_by(r.start, r.key))
    return tuple(PlacedReference(*row) for row in rows)


def linked_passages(catalog: Catalog, parents: Mapping[int, DocumentRecord]) -> dict[int, tuple[Linked, ...]]:
    """Return for each parent, given by key with its document, the passages that it refers to."""
    return {
        origin: tuple(
            Linked(
                label=label,
                document=parents[origin],
                start=parent.start,
                end=parent.end,
                text=parent.text,
                page=parent.page,
                last_page=parent.last_page,
            )
            for label, parent in those
        )
        for origin, those in references(catalog, parents).items()
    }
