"""Rows of the vector file: which are used, and which can be given to another text."""

from __future__ import annotations

from typing import Any

import numpy as np
import sqlalchemy as sql

from rag_engine.protocols import Keys
from rag_engine.storage import schema as tables
from rag_engine.storage.catalog import Catalog, portions
from rag_engine.storage.stores import Stores
from rag_engine.storage.vector_file import unsealed


def sweep(stores: Stores) -> int:
    """Remove vectors that no child uses, for example of an interrupted run, and return their number."""
    v = tables.vectors
    used = _rows_of_children(stores)
    unused = sql.select(v.c.row).where(v.c.model == stores.vectors.model, v.c.row.not_in(used))
    rows = _rows_of(stores, unused)
    forget_rows(stores, rows)
    return len(rows)


def free_rows(stores: Stores) -> Keys:
    """Return the rows of the vector file that neither a hash nor a child names."""
    v = tables.vectors.c
    named = sql.select(v.row).where(v.model == stores.vectors.model).union(_rows_of_children(stores).distinct())
    return np.setdiff1d(np.arange(len(stores.vectors)), _rows_of(stores, named))


def beyond_used_rows(stores: Stores) -> int:
    """Return the first row after all that children name, which may be beyond the end of a truncated file."""
    [(last,)] = stores.catalog.read(sql.select(sql.func.max(_rows_of_children(stores).subquery().c.vector_row)))
    return 0 if last is None else int(last) + 1


def unshared_rows(catalog: Catalog, document_key: int, model: str, rows: Keys) -> Keys:
    """Return the rows that no child of another document uses."""
    c, d = tables.children.c, tables.documents.c
    statement = sql.select(c.vector_row).join(tables.documents, d.key == c.document_key)
    statement = statement.where(d.key != document_key, d.model == model)
    shared = [row for (row,) in catalog.read_in(statement, c.vector_row, rows.tolist())]
    return np.setdiff1d(rows, np.array(shared, np.int64))


def forget_rows(stores: Stores, rows: Keys) -> None:
    """Remove the rows from the catalog, then from the vector file."""
    # The catalog first: a hash must never name a row that has been overwritten.
    _forget_names(stores, rows)
    stores.vectors.erase(rows)


def forget_missing_vectors(stores: Stores) -> None:
    """Remove the names of vectors that are lost or damaged, so that their texts are encoded again."""
    rows = _named_rows(stores)
    lost = rows[rows >= len(stores.vectors)]
    _forget_names(stores, np.concatenate([lost, stores.vectors.damaged(rows)]))


def rows_of_damaged_sentences(catalog: Catalog, model: str, rows: Keys) -> Keys:
    """Return the rows of passages whose sentence vectors are missing or damaged.

    All sentence vectors are read, which takes ten times as long as the passages' vectors. A search checks only its
    candidates.
    """
    v = tables.vectors.c
    kept = catalog.read_in(sql.select(v.row, v.sentences).where(v.model == model), v.row, rows.tolist())
    whole = [int(row) for row, sentences in kept if unsealed(sentences) is not None]
    return np.setdiff1d(rows, np.array(whole, np.int64))


def forget_damaged_sentences(stores: Stores) -> None:
    """Remove the names of vectors whose sentences are damaged, so that their texts are encoded again."""
    damaged = rows_of_damaged_sentences(stores.catalog, stores.vectors.model, _named_rows(stores))
    _forget_names(stores, damaged)


def forget_unused_models(stores: Stores) -> None:
    """Remove the vectors of models that no document uses."""
    v, d = tables.vectors, tables.documents.c
    used = {stores.vectors.model, *(str(row[0]) for row in stores.catalog.read(sql.select(d.model).distinct()))}
    with stores.catalog.begin() as connection:
        connection.execute(sql.delete(v).where(v.c.model.not_in(used)))
    if used == {stores.vectors.model}:
        stores.vectors.keep_only_this_model()


def _forget_names(stores: Stores, rows: Keys) -> None:
    v = tables.vectors
    with stores.catalog.begin() as connection:
        for some in portions(rows.tolist()):
            connection.execute(sql.delete(v).where(v.c.model == stores.vectors.model, v.c.row.in_(some)))


def _named_rows(stores: Stores) -> Keys:
    v = tables.vectors.c
    return _rows_of(stores, sql.select(v.row).where(v.model == stores.vectors.model))


def _rows_of(stores: Stores, statement: sql.Select[Any] | sql.CompoundSelect[Any]) -> Keys:
    return np.array([row for (row,) in stores.catalog.read(statement)], np.int64)


def _rows_of_children(stores: Stores) -> sql.Select[tuple[int]]:
    c, d = tables.children.c, tables.documents.c
    joined = sql.select(c.vector_row).join(tables.documents, d.key == c.document_key)
    return joined.where(d.model == stores.vectors.model)
