"""Generations of the indexes: made, checked, accepted or discarded."""

from __future__ import annotations

import sys
from collections.abc import Callable
from datetime import UTC, datetime

import numpy as np

from rag_engine.config import ChunkingConfig
from rag_engine.errors import SextantError, WorkspaceError
from rag_engine.processes.writer_lock import write_lock
from rag_engine.protocols import Embedder, SparseIndex, VectorIndex
from rag_engine.storage.collection import Collection
from rag_engine.storage.collection_writer import CollectionWriter
from rag_engine.storage.indexer import Indexer, IndexingStopped, activate
from rag_engine.storage.manifest import manifest_of
from rag_engine.storage.rebuild import (
    CandidateBackends,
    RebuildProgress,
    WaitingGeneration,
    encode_again,
    forget_waiting,
    keep_waiting,
    refill,
    switch_generation,
    waiting_documents,
)
from rag_engine.storage.recovery import recover
from rag_engine.storage.stores import (
    Stores,
)
from rag_engine.storage.vector_rows import forget_damaged_sentences, sweep


class Generations:
    """Makes new generations of the indexes of one workspace, while the old one answers."""

    def __init__(self, writer: CollectionWriter) -> None:
        self._writer = writer
        self._collection = writer.collection
        self._backends = writer.collection.backends

    def rebuild(
        self,
        progress: RebuildProgress = lambda *_: None,
        *,
        embedder: Embedder | None = None,
        chunking: ChunkingConfig | None = None,
        check: Callable[[Collection], bool] = lambda _: True,
    ) -> int:
        """Make a new generation of both indexes, while the old one answers, and return the number of children.

        It is made from the catalog and the vectors; with an embedder the documents are also chunked and encoded again.
        The old indexes are not read, so that damaged ones are repaired. `check` gets the collection as it will be,
        before it answers:

        - If it returns False, the new generation waits, in place of the one that waited before.
        - If it raises a SextantError, the new generation is removed.

        In both cases the old generation stays.
        """
        manifest = self._collection.require_manifest()
        with write_lock(self._collection.workspace):
            file = self._collection.vectors_of(manifest.name, manifest.dimension)
            if embedder is None and len(damaged := file.damaged(np.unique(self._collection.snapshot().rows))):
                # Indexes made of them would hold them, and no longer say so.
                raise self._collection.damaged_error(len(damaged))
            self._writer.forget_waiting()
            generation = self._collection.generation() + 1
            indexes = self._backends.new_indexes(generation)
            old = self._writer.stores(manifest.name, manifest.dimension, indexes)
            recover(old)
            if embedder is None:
                refill(old, progress)
                if self._check(check, generation, indexes, old):
                    with self._collection.catalog.begin() as connection:
                        switch_generation(connection, generation)
                self._writer.repair(old)
            else:
                stores = self._writer.stores(embedder.name, embedder.dimension, indexes)
                indexer = Indexer(stores, embedder, chunking or ChunkingConfig(), whole=True)
                made_by = manifest_of(embedder).to_json()
                forget_damaged_sentences(stores)
                encode_again(old, indexer, progress)
                indexer.prepare()
                if self._check(check, generation, indexes, old, made_by):
                    indexer.flush(lambda connection: switch_generation(connection, generation, made_by))
                    self._writer.repair(stores)
                    sweep(stores)
                else:
                    self._writer.repair(old)
        return len(self._collection.snapshot())

    def renew_files(self, goes_on: Callable[[], bool]) -> bool:
        """Rebuild indexes in whose files erasures left something; return whether it stopped before its end."""

        def progress(*_: object) -> None:
            if not goes_on():
                raise IndexingStopped

        try:
            # One that waits to be accepted was made after them.
            if self._collection.left_by_erasures() and self._collection.waiting() is None:
                self.rebuild(progress)
        except IndexingStopped:
            return True
        except SextantError as error:
            sys.stderr.write(f"{error}\n")
        return False

    def accept_waiting(self) -> int:
        """Let the generation that waits answer, and return its number of children.

        WorkspaceError if none waits.
        """
        with write_lock(self._collection.workspace):
            waiting = self._require_waiting()
            with self._collection.catalog.begin() as connection:
                activate(connection, waiting_documents(connection))
                forget_waiting(connection)
                switch_generation(connection, waiting.number, waiting.encoder)
            manifest = self._collection.require_manifest()
            stores = self._writer.stores(manifest.name, manifest.dimension)
            self._writer.repair(stores)
            sweep(stores)
        return len(self._collection.snapshot())

    def discard_waiting(self) -> None:
        """Remove the generation that waits; WorkspaceError if none does."""
        manifest = self._collection.require_manifest()
        with write_lock(self._collection.workspace):
            self._require_waiting()
            self._writer.forget_waiting()
            self._writer.repair(self._writer.stores(manifest.name, manifest.dimension))

    def _require_waiting(self) -> WaitingGeneration:
        waiting = self._collection.waiting()
        if waiting is None:
            raise WorkspaceError(
                "No index waits to be accepted; one that did was removed when the collection changed.",
                help="Make a new one with `sextant rebuild`.",
            )
        return waiting

    def _check(
        self,
        check: Callable[[Collection], bool],
        generation: int,
        indexes: tuple[VectorIndex, SparseIndex],
        old: Stores,
        made_by: str = "",
    ) -> bool:
        """Return whether a new generation may answer; if not, it waits.

        If the check ends with an error, the generation is removed. `made_by` is a new encoder's manifest.
        """
        values = {"generation": str(generation)} | ({"encoder": made_by} if made_by else {})
        # Documents that are encoded again are pending until the generation answers.
        catalog = self._collection.catalog.candidate("pending" if made_by else "active", values)
        backends = CandidateBackends(self._backends, generation, indexes)
        try:
            good = check(Collection(self._collection.workspace, catalog, backends))
        except SextantError:
            self._writer.repair(old)
            raise
        if not good:
            made = datetime.now(UTC).isoformat(timespec="seconds")
            with self._collection.catalog.begin() as connection:
                keep_waiting(
                    connection, WaitingGeneration(generation, made, self._collection.catalog.change(), made_by)
                )
        return good
