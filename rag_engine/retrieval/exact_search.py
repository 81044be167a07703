"""Exact nearest neighbours: the cosine of every allowed child, block by block."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
from numpy.typing import NDArray

from rag_engine.protocols import Keys, Vectors
from rag_engine.storage.snapshot import Snapshot

# Gathering scattered rows costs about four times as much a row as reading the file from end to end.
_GATHER_BELOW = 0.25
_BLOCK = 2048
_SAMPLE = 4096


def nearest(
    snapshot: Snapshot, vectors: Vectors, queries: Vectors, top_k: int, allowed: Collection[int] | None
) -> list[tuple[Keys, Vectors]]:
    """Return for each query the keys and cosines of the nearest allowed children, nearest first, exactly.

    `vectors` is the whole store (rows, dimension), `queries` (n, dimension). `allowed` has the keys of the allowed
    documents; None allows every document.
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
    """Return cosines of shape (queries, rows), of all rows for None.

    A block is read from memory once for all queries, since reading takes most of the time
    (benchmarks/retrieval/retrieval_scale.py shows the step).
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
    """Return the places of the `count` largest values, in no order.

    A sample tells a value that a few times as many reach, so that only those few are compared with each other.
    """
    sample = values[:: max(1, len(values) // _SAMPLE)]
    rank = 4 * count * len(sample) // len(values) + 10
    if rank < len(sample):
        likely = np.flatnonzero(values >= np.partition(sample, -rank)[-rank])
        if len(likely) >= count:
            return likely[np.argpartition(-values[likely], count - 1)[:count]]
    return np.argpartition(-values, count - 1)[:count]
