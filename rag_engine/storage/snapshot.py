"""The collection as a reader sees it at one moment: which children exist, whose they are, where their vectors lie."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass

import numpy as np
import sqlalchemy as sql
from numpy.typing import NDArray

from rag_engine.filters import facets_of
from rag_engine.protocols import Keys, Vectors
from rag_engine.storage import schema as tables
from rag_engine.storage.catalog import Catalog
from rag_engine.types import DocumentRecord

# Gathering scattered rows costs about four times as much a row as reading the file from end to end.
_GATHER_BELOW = 0.25
_BLOCK = 2048
_SAMPLE = 4096


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Arrays over the visible children, ascending by key.

    `keys`, `owners` (document keys), `parents` and `rows` (of the vector store) have one entry a child. `facets` maps
    name -> value -> documents.
    """

    change: int
    documents: Mapping[int, DocumentRecord]
    facets: Mapping[str, Mapping[str, frozenset[int]]]
    keys: Keys
    owners: Keys
    parents: Keys
    rows: Keys

    def __len__(self) -> int:
        return len(self.keys)

    def positions(self, keys: Keys) -> NDArray[np.intp]:
        """Where the given child keys stand in the arrays; keys that are not visible are left out."""
        if len(self.keys) == 0:
            return np.zeros(0, np.intp)
        places = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        found: NDArray[np.intp] = places[self.keys[places] == keys]
        return found

    def parents_of(self, keys: Keys) -> Keys:
        """The parents' keys of visible children, in the order given."""
        return self.parents[np.searchsorted(self.keys, keys)]

    def allowed(self, documents: Collection[int]) -> NDArray[np.intp]:
        """Where the children of the given documents stand in the arrays."""
        if len(self.keys) == 0:
            return np.zeros(0, np.intp)
        table = np.zeros(int(self.owners.max()) + 1, bool)
        listed = np.fromiter(documents, np.int64, len(documents))
        table[listed[listed < len(table)]] = True
        return np.flatnonzero(table[self.owners])


@dataclass(frozen=True, slots=True)
class Statistics:
    """Figures of a collection; languages by their number of documents."""

    documents: int
    parents: int
    children: int
    pages: int
    languages: Mapping[str, int]


def statistics(snapshot: Snapshot) -> Statistics:
    """Figures of the collection."""
    records = snapshot.documents.values()
    return Statistics(
        documents=len(records),
        parents=sum(record.parents for record in records),
        children=len(snapshot),
        pages=sum(record.pages for record in records),
        languages={value: len(keys) for value, keys in snapshot.facets.get("language", {}).items()},
    )


def missing(snapshot: Snapshot, vectors: Vectors) -> int:
    """Number of visible children whose vector is not in the store (rows, dimension)."""
    held = snapshot.rows[snapshot.rows < len(vectors)]
    empty = sum(int((~vectors[held[i : i + 10_000]].any(axis=1)).sum()) for i in range(0, len(held), 10_000))
    return len(snapshot.rows) - len(held) + empty


def read_snapshot(catalog: Catalog, previous: Snapshot | None = None) -> Snapshot:
    """The present collection; what `previous` already holds is not read again."""
    change = catalog.change()
    if previous is not None and previous.change == change:
        return previous
    documents = {record.key: record for record in catalog.active_documents()}
    known = set(previous.documents) if previous else set()
    fresh = [key for key in documents if key not in known]
    columns = [_read_children(catalog, fresh)]
    if previous is not None:
        kept = np.isin(previous.owners, np.fromiter(documents, np.int64, len(documents)))
        columns.append(
            np.stack([previous.keys[kept], previous.owners[kept], previous.parents[kept], previous.rows[kept]])
        )
    merged = np.concatenate(columns, axis=1)
    merged = merged[:, np.argsort(merged[0], kind="stable")]
    return Snapshot(change, documents, _facets(documents.values()), *merged)


def nearest(
    snapshot: Snapshot, vectors: Vectors, queries: Vectors, top_k: int, allowed: Collection[int] | None
) -> list[tuple[Keys, Vectors]]:
    """For each query the keys and cosines of the nearest children of the allowed documents, nearest first, exactly.

    `vectors` is the whole store (rows, dimension), `queries` (n, dimension); None allows every document.
    """
    chosen: NDArray[np.intp] | slice = slice(None) if allowed is None else snapshot.allowed(allowed)
    rows, keys = snapshot.rows[chosen], snapshot.keys[chosen]
    if len(rows) == 0:
        return [(np.zeros(0, np.int64), np.zeros(0, np.float32)) for _ in queries]
    if len(rows) < _GATHER_BELOW * len(vectors):
        scores = _cosines(vectors, queries, rows)
    else:
        scores = _cosines(vectors, queries, None)[:, rows]
    found = []
    for column in scores:
        best = _largest(column, min(top_k, len(rows)))
        best = best[np.lexsort((keys[best], -column[best]))]
        found.append((keys[best], column[best]))
    return found


def _cosines(vectors: Vectors, queries: Vectors, rows: Keys | None) -> Vectors:
    """Cosines of shape (queries, rows), of all rows for None.

    Block by block, so that a block is read from memory once for all queries, which is what the time goes into
    (benchmarks/retrieval_scale.py shows the step).
    """
    total = len(vectors) if rows is None else len(rows)
    scores = np.empty((len(queries), total), np.float32)
    for first in range(0, total, _BLOCK):
        beyond = min(first + _BLOCK, total)
        block = vectors[first:beyond] if rows is None else vectors[rows[first:beyond]]
        for query, row in zip(queries, scores, strict=True):
            np.dot(block, query, out=row[first:beyond])
    return scores


def _largest(values: Vectors, count: int) -> NDArray[np.intp]:
    """Where the `count` largest values stand, in no order.

    A sample tells a value that a few times as many reach, so that only those few are compared with each other.
    """
    sample = values[:: max(1, len(values) // _SAMPLE)]
    rank = 4 * count * len(sample) // len(values) + 10
    if rank < len(sample):
        likely = np.flatnonzero(values >= np.partition(sample, -rank)[-rank])
        if len(likely) >= count:
            return likely[np.argpartition(-values[likely], count - 1)[:count]]
    return np.argpartition(-values, count - 1)[:count]


def _read_children(catalog: Catalog, document_keys: list[int]) -> Keys:
    read = []
    for first in range(0, len(document_keys), 500):
        some = document_keys[first : first + 500]
        c = tables.children.c
        columns = sql.select(c.key, c.document_key, c.parent_key, c.vector_row)
        rows = catalog.read(columns.where(c.document_key.in_(some)))
        read.append(np.array([tuple(row) for row in rows], np.int64).reshape(-1, 4).T)
    return np.concatenate(read, axis=1) if read else np.zeros((4, 0), np.int64)


def _facets(documents: Collection[DocumentRecord]) -> dict[str, dict[str, frozenset[int]]]:
    gathered: dict[str, dict[str, set[int]]] = defaultdict(lambda: defaultdict(set))
    for record in documents:
        for name, values in facets_of(record.metadata).items():
            for value in values:
                gathered[name][value].add(record.key)
    return {name: {value: frozenset(keys) for value, keys in values.items()} for name, values in gathered.items()}
