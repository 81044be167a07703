"""A new generation of the indexes, made while the old one answers.

A generation can wait for a decision. It belongs to the collection as it was when it was made. As soon as the collection
changes, it is stale and the next writer removes it. It would lack added documents and bring back erased ones.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from itertools import count

import sqlalchemy as sql
from pydantic import TypeAdapter
from sqlalchemy.engine import Connection

from rag_engine.protocols import SparseIndex, StorageBackends, VectorIndex
from rag_engine.storage import schema as tables
from rag_engine.storage.catalog import Catalog, set_state
from rag_engine.storage.erase_document import LEFT
from rag_engine.storage.index_entries import stored_entries
from rag_engine.storage.indexer import Indexer
from rag_engine.storage.stores import Stores, write_indexes

RebuildProgress = Callable[[int, int, str], None]

# Of documents that were encoded again for it, which take the place of the active ones when it is accepted.
WAITING = "waiting"
_STATE = "waiting generation"


@dataclass(frozen=True, slots=True)
class CandidateBackends:
    """The stores of a generation that does not answer yet, as StorageBackends for reading alone."""

    backends: StorageBackends
    generation: int
    indexes: tuple[VectorIndex, SparseIndex]

    def dense(self, generation: int, *, writable: bool = False) -> VectorIndex:
        """Return the dense index of a generation."""
        if generation == self.generation:
            return self.indexes[0]
        return self.backends.dense(generation, writable=writable)

    def sparse(self, generation: int, *, writable: bool = False) -> SparseIndex:
        """Return the keyword index of a generation."""
        if generation == self.generation:
            return self.indexes[1]
        return self.backends.sparse(generation, writable=writable)

    def new_indexes(self, generation: int) -> tuple[VectorIndex, SparseIndex]:
        """Return two empty indexes for another generation."""
        return self.backends.new_indexes(generation)

    def keep_only(self, *generations: int) -> None:
        """Keep everything: the collection that is being rebuilt removes old generations."""

    def compact_dense(self, generation: int) -> None:
        """Keep everything, for the same reason."""

    def close(self) -> None:
        """Keep everything open, for the same reason."""


def refill(stores: Stores, progress: RebuildProgress) -> None:
    """Fill two empty indexes from the catalog and the vectors."""
    records, done = stores.catalog.active_documents(), count()
    write_indexes(stores, records, lambda record: progress(next(done), len(records), record.file))
    progress(len(records), len(records), "")


def switch_generation(connection: Connection, generation: int, manifest: str = "") -> None:
    """Let the generation answer from this transaction on.

    Its files were made after every erasure. `manifest` names its encoder if the encoder is another one.
    """
    set_state(connection, "generation", str(generation))
    connection.execute(sql.delete(tables.state).where(tables.state.c.name == LEFT))
    if manifest:
        set_state(connection, "encoder", manifest)


def encode_again(old: Stores, indexer: Indexer, progress: RebuildProgress) -> None:
    """Chunk and encode every document from its stored text; all become visible at once."""
    records = old.catalog.fingerprints()
    for done, (record, fingerprint) in enumerate(records):
        progress(done, len(records), record.file)
        listed = stored_entries(old.catalog, record.key)
        indexer.index(replace(record, key=0), old.catalog.extracted(record), fingerprint, listed)
    progress(len(records), len(records), "")


@dataclass(frozen=True, slots=True)
class WaitingGeneration:
    """The number of the generation, when it was made and at which change of the catalog.

    `encoder` is the manifest of its encoder, empty if nothing was encoded again.
    """

    number: int
    made: str
    change: int
    encoder: str = ""


_CODEC = TypeAdapter(WaitingGeneration)


def read_waiting(catalog: Catalog) -> WaitingGeneration | None:
    """Return the generation that waits, or None if there is none.

    A generation that is older than the last change of the collection does not count.
    """
    kept = catalog.state(_STATE)
    waiting = _CODEC.validate_json(kept) if kept else None
    return waiting if waiting and waiting.change == catalog.change() else None


def keep_waiting(connection: Connection, waiting: WaitingGeneration) -> None:
    """Note the generation, and keep the documents that were encoded for it from being undone."""
    d = tables.documents
    set_state(connection, _STATE, json.dumps(asdict(waiting)))
    if waiting.encoder:
        connection.execute(sql.update(d).where(d.c.status == "pending").values(status=WAITING))


def waiting_documents(connection: Connection) -> list[int]:
    """Return the keys of the documents that were encoded for the generation that waits."""
    d = tables.documents.c
    return [int(key) for (key,) in connection.execute(sql.select(d.key).where(d.status == WAITING).order_by(d.key))]


def forget_waiting(connection: Connection) -> None:
    """Note that no generation waits; the next recovery removes its documents."""
    d = tables.documents
    set_state(connection, _STATE, "")
    connection.execute(sql.update(d).where(d.c.status == WAITING).values(status="pending"))
