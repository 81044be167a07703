"""Writer of a collection: adds, erases, relabels, repairs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace

from rag_engine import workspace as paths
from rag_engine.config import ChunkingConfig
from rag_engine.messages import Message
from rag_engine.processes.writer_lock import write_lock
from rag_engine.protocols import Embedder, SparseIndex, VectorIndex
from rag_engine.storage.catalog import set_state
from rag_engine.storage.collection import Collection
from rag_engine.storage.erase_document import ERASING, LEFT, Erasure, compact_keywords, erase
from rag_engine.storage.indexer import Indexer
from rag_engine.storage.log import log_documents
from rag_engine.storage.manifest import check_encoder, manifest_of
from rag_engine.storage.rebuild import (
    forget_waiting,
    refill,
    switch_generation,
)
from rag_engine.storage.recovery import recover
from rag_engine.storage.stores import (
    Stores,
    fill_dense,
    fill_keywords,
    put_due,
)
from rag_engine.types.document import DocumentRecord

# The most passages for which an erasure makes both indexes again at once, within a second.
_MADE_ANEW = 1_000


class CollectionWriter:
    """Writes to the stores of a workspace: each change takes the write lock and repairs them first."""

    def __init__(self, collection: Collection) -> None:
        self.collection = collection
        self._backends = collection.backends

    @contextmanager
    def open_indexer(self, load_embedder: Callable[[], Embedder], chunking: ChunkingConfig) -> Iterator[Indexer]:
        """Yield the workspace's writer, after the repair of an interrupted run."""
        with write_lock(self.collection.workspace):
            embedder = load_embedder()
            if self.collection.snapshot().documents:
                check_encoder(self.collection.manifest(), embedder, self.collection.workspace)
            stores = self.stores(embedder.name, embedder.dimension)
            self._repair_and_fill(stores)
            if self.collection.is_erasing():
                self._end_erasure(stores)
                stores = self.stores(embedder.name, embedder.dimension)
            self._store_manifest(embedder)
            waiting = self.collection.waiting()
            yield Indexer(stores, embedder, chunking)
            if waiting != self.collection.waiting():
                # Replaced documents must not stay in an index that can no longer be accepted.
                self.repair(stores)
            log_documents(self.collection.catalog)

    def erase(self, document: DocumentRecord) -> Erasure:
        """Remove a document everywhere and return the result."""
        manifest = self.collection.require_manifest()
        with write_lock(self.collection.workspace):
            stores = self.stores(manifest.name, manifest.dimension)
            # It holds the document as well.
            self.forget_waiting()
            self._repair_and_fill(stores)
            erased = erase(stores, document)
            self._end_erasure(stores)
            log_documents(self.collection.catalog)
            return replace(erased, left_behind=(*erased.left_behind, *self.collection.left_by_erasures()))

    def finish_erasures(self) -> tuple[Message, ...]:
        """Finish interrupted erasures, and return anything that was still found afterwards."""
        manifest = self.collection.require_manifest()
        with write_lock(self.collection.workspace):
            stores = self.stores(manifest.name, manifest.dimension)
            self._repair_and_fill(stores)
            self._end_erasure(stores)
            log_documents(self.collection.catalog)
            return self.collection.left_by_erasures()

    def relabel(self) -> None:
        """Have both indexes describe documents as the catalog does; nothing is encoded."""
        manifest = self.collection.require_manifest()
        with write_lock(self.collection.workspace):
            self._repair_and_fill(self.stores(manifest.name, manifest.dimension))

    def _end_erasure(self, stores: Stores) -> None:
        """Remove erased text from the files of the indexes, which are opened again after it.

        A small collection gets new indexes at once, a larger one when no job waits.
        """
        if not self.collection.is_erasing():
            return
        generation, small = self.collection.generation(), len(self.collection.snapshot()) <= _MADE_ANEW
        if small:
            dense, sparse = self._backends.new_indexes(generation + 1)
            refill(replace(stores, dense=dense, sparse=sparse), lambda *_: None)
        else:
            compact_keywords(stores)
            self._backends.compact_dense(generation)
        with self.collection.catalog.begin() as connection:
            if small:
                switch_generation(connection, generation + 1)
            else:
                set_state(connection, LEFT, "yes")
            set_state(connection, ERASING, "")
        if small:
            self._backends.keep_only(generation + 1)
        self.collection.catalog.checkpoint()

    def repair(self, stores: Stores) -> None:
        """Finish or undo interrupted changes, and remove generations that neither answer nor wait."""
        waiting = self.collection.waiting()
        if waiting is None:
            self.forget_waiting()
        recover(stores)
        self._backends.keep_only(self.collection.generation(), *([waiting.number] if waiting else []))

    def _repair_and_fill(self, stores: Stores) -> None:
        """Repair, and add missing children to the indexes that answer; the stores must hold these."""
        self.repair(stores)
        fill_keywords(stores.sparse, self.collection.catalog)
        fill_dense(stores)
        put_due(stores)

    def stores(self, model: str, dimension: int, indexes: tuple[VectorIndex, SparseIndex] | None = None) -> Stores:
        """Return the stores for a writer: with the indexes that answer, unless others are given."""
        generation, backends = self.collection.generation(), self._backends
        if indexes is None:
            indexes = backends.dense(generation, writable=True), backends.sparse(generation, writable=True)
        dense, sparse = indexes
        file = self.collection.vectors_of(model, dimension)
        folders = paths.files(self.collection.workspace), paths.drawings(self.collection.workspace)
        return Stores(self.collection.catalog, file, dense, sparse, *folders)

    def _store_manifest(self, embedder: Embedder) -> None:
        manifest = self.collection.manifest()
        if manifest is None or manifest.name != embedder.name:
            with self.collection.catalog.begin() as connection:
                set_state(connection, "encoder", manifest_of(embedder).to_json())

    def forget_waiting(self) -> None:
        """Let no generation wait; the next repair removes it."""
        with self.collection.catalog.begin() as connection:
            forget_waiting(connection)
