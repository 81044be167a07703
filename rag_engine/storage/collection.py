"""Collection: the stores of one workspace, opened, locked, kept in generations, rebuilt and repaired."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Literal, TypeVar

import numpy as np
import sqlalchemy as sql

from rag_engine import workspace as paths
from rag_engine.config import ChunkingConfig
from rag_engine.errors import SextantError, WorkspaceError
from rag_engine.filters import Facets, Filter, allowed_documents
from rag_engine.messages import Message
from rag_engine.protocols import Embedder, SparseIndex, StorageBackends, VectorIndex, Vectors
from rag_engine.storage import schema as tables
from rag_engine.storage.catalog import Catalog, set_state
from rag_engine.storage.erase_document import ERASING, LEFT, Erasure, compact_keywords, erase
from rag_engine.storage.index_entries import CollectionIndex, read_collection_index
from rag_engine.storage.indexer import Indexer, IndexingStopped, activate
from rag_engine.storage.log import log_documents
from rag_engine.storage.manifest import IndexManifest, check_encoder, manifest_of, read_manifest
from rag_engine.storage.rebuild import (
    CandidateBackends,
    RebuildProgress,
    WaitingGeneration,
    encode_again,
    forget_waiting,
    keep_waiting,
    read_waiting,
    refill,
    switch_generation,
    waiting_documents,
)
from rag_engine.storage.recovery import recover
from rag_engine.storage.section_index import Act, read_acts
from rag_engine.storage.snapshot import (
    LanguageSamples,
    Snapshot,
    Statistics,
    draw_samples,
    missing_vectors,
    read_snapshot,
    statistics,
)
from rag_engine.storage.stores import (
    Stores,
    fill_dense,
    fill_keywords,
    put_due,
    stored_file,
)
from rag_engine.storage.vector_file import VectorFile, unsealed
from rag_engine.storage.vector_rows import forget_damaged_sentences, rows_of_damaged_sentences, sweep
from rag_engine.types.document import DocumentRecord
from rag_engine.writer_lock import write_lock

_ENCODE = "Run `sextant rebuild --encode`: only texts whose vectors are missing or damaged are encoded again."
_FILL = "Run `sextant rebuild`, or add a document: the next change fills it."
_Index = TypeVar("_Index", VectorIndex, SparseIndex)
# The most passages for which an erasure makes both indexes again at once, within a second.
_MADE_ANEW = 1_000
_LEFT = Message(
    "words and vectors in the files of the indexes, where no search finds them, until the worker rebuilds them"
)


@dataclass(frozen=True, eq=False)
class CollectionView:
    """The collection at one moment, as a search reads it.

    Derived values are computed once, at their first use.
    """

    catalog: Catalog
    snapshot: Snapshot
    file: VectorFile
    manifest: IndexManifest

    @property
    def vectors(self) -> Vectors:
        """Every vector of the model, of shape (rows, dimension)."""
        return self.file.all()

    @cached_property
    def samples(self) -> LanguageSamples:
        """Vectors of some passages of each language."""
        return draw_samples(self.snapshot, self.vectors)

    @cached_property
    def index(self) -> CollectionIndex:
        """The entries of all indexes over the visible documents."""
        return read_collection_index(self.catalog, self.snapshot.documents)

    @cached_property
    def acts(self) -> tuple[Act, ...]:
        """The acts that the visible documents hold, with their sections."""
        return read_acts(self.catalog, self.snapshot.documents)

    def sentences(self, rows: Sequence[int]) -> dict[int, bytes]:
        """Return the packed vectors of the sentences of passages, by the row of the passage's vector.

        WorkspaceError where some are not as they were written.
        """
        kept = self.catalog.sentences(self.manifest.name, rows)
        whole = {row: vectors for row, one in kept.items() if (vectors := unsealed(one)) is not None}
        if lost := self._still_held({*rows} - {*whole}):
            raise WorkspaceError(
                "The vectors of the sentences of {count} passages of {workspace} are missing or damaged, or from "
                "before vectors had checksums.",
                help=_ENCODE,
                count=lost,
                workspace=self.catalog.workspace,
            )
        return whole

    def _still_held(self, rows: set[int]) -> int:
        """Return how many of the rows passages still use; rows erased since this moment are not missing."""
        c = tables.children.c
        return sum(1 for _ in self.catalog.read_in(sql.select(c.vector_row), c.vector_row, sorted(rows)))


class Collection:
    """The stores of one workspace.

    Reading is safe from several threads; writing takes the workspace's write lock.
    """

    def __init__(self, workspace: Path, catalog: Catalog, backends: StorageBackends) -> None:
        self.workspace = workspace
        self.catalog = catalog
        self._backends = backends
        self._lock = threading.RLock()
        # Of a workspace that cannot be written, for the time of this process.
        self._measured: dict[str, int] = {}
        self._snapshot: Snapshot | None = None
        self._view: CollectionView | None = None
        # Rows of the vector file that were held against their checksums.
        self._checked_rows = 0
        # The indexes that are known to hold all of a snapshot: counting their entries takes longer than a search.
        self._complete_for: dict[VectorIndex | SparseIndex, Snapshot] = {}

    def snapshot(self) -> Snapshot:
        """Return the visible documents and children at this moment."""
        with self._lock:
            self._snapshot = read_snapshot(self.catalog, self._snapshot)
            return self._snapshot

    def documents(self, wanted: Filter | None = None) -> list[DocumentRecord]:
        """Return the documents that a filter allows, oldest first."""
        snapshot = self.snapshot()
        allowed = allowed_documents(wanted or {}, snapshot.facets)
        return [record for key, record in snapshot.documents.items() if allowed is None or key in allowed]

    def facets(self) -> Facets:
        """Return for each facet its values with the documents that have them."""
        return self.snapshot().facets

    def statistics(self) -> Statistics:
        """Return the figures of the collection."""
        return statistics(self.snapshot())

    def stored_file(self, document: DocumentRecord) -> Path:
        """Return the path of the workspace's copy of a document."""
        return stored_file(paths.files(self.workspace), document)

    def manifest(self) -> IndexManifest | None:
        """Return the index's manifest of its encoder; None before anything was indexed."""
        return read_manifest(self.catalog.state("encoder"))

    def rerank_depth(self, reranker: str, measure: Callable[[], int]) -> int:
        """Return how many passages a reranker of this name reads, measured at the first call."""
        name = f"rerank depth {reranker}"
        kept = self._measured.get(name) or self.catalog.state(name)
        if kept:
            return int(kept)
        with self._lock:
            depth = measure()
            self._measured[name] = depth
            if paths.is_writable(self.workspace):
                with self.catalog.begin() as connection:
                    set_state(connection, name, str(depth))
        return depth

    def view(self) -> CollectionView:
        """Return the collection as a search reads it at this moment.

        WorkspaceError if it is empty or damaged.
        """
        manifest, snapshot = self._require_manifest(), self.snapshot()
        with self._lock:
            view = self._view
            if view is None or view.snapshot is not snapshot or view.manifest != manifest:
                # Mapping a large file again costs more than searching it.
                same = view is not None and view.file.model == manifest.name
                file = view.file if view and same else self._vectors(manifest.name, manifest.dimension)
                self._view = view = CollectionView(self.catalog, snapshot, file, manifest)
        if int(snapshot.rows.max(initial=-1)) >= len(view.file):
            raise WorkspaceError(
                "Vectors of {workspace} are missing: {present} are on the disk.",
                help=_ENCODE,
                workspace=self.workspace,
                present=len(view.file),
            )
        return view if self._are_whole(view) else self.view()

    def _are_whole(self, view: CollectionView) -> bool:
        """Check the vectors that were not read before; return False if the collection has changed.

        After a change the damaged vectors may belong to a document that was just erased. Else damage raises
        WorkspaceError.
        """
        rows, end = view.snapshot.rows, len(view.file)
        damaged = view.file.damaged(np.unique(rows[rows >= self._checked_rows]))
        if not len(damaged):
            self._checked_rows = end
            return True
        if self.snapshot() is not view.snapshot:
            return False
        raise self._damaged_vectors(len(damaged))

    def damaged_vectors(self) -> list[DocumentRecord]:
        """Return the documents that have a damaged vector of a passage or a sentence."""
        manifest, snapshot = self._require_manifest(), self.snapshot()
        file = self._vectors(manifest.name, manifest.dimension)
        rows = np.unique(snapshot.rows)
        damaged = np.union1d(file.damaged(rows), rows_of_damaged_sentences(self.catalog, manifest.name, rows))
        owners = snapshot.owners[np.isin(snapshot.rows, damaged)]
        return [snapshot.documents[key] for key in np.unique(owners).tolist()]

    def _damaged_vectors(self, count: int) -> WorkspaceError:
        return WorkspaceError(
            "{count} vectors of {workspace} are damaged, or from before vectors had checksums.",
            help=_ENCODE,
            count=count,
            workspace=self.workspace,
        )

    def generation(self) -> int:
        """Return the number of the index generation that answers."""
        return int(self.catalog.state("generation", "1"))

    def dense(self) -> VectorIndex:
        """Return the dense index that answers; WorkspaceError if it lacks passages."""
        index = self._backends.dense(self.generation())
        return self._complete(index, lambda: len(index), "vectors")

    def sparse(self) -> SparseIndex:
        """Return the keyword index that answers; WorkspaceError if it lacks passages."""
        index = self._backends.sparse(self.generation())
        return self._complete(index, index.count, "keywords")

    def _complete(self, index: _Index, count: Callable[[], int], name: Literal["keywords", "vectors"]) -> _Index:
        """Return an index that has at least as many passages as are visible; else raise WorkspaceError."""
        snapshot = self.snapshot()
        if self._complete_for.get(index) is snapshot:
            return index
        lacking = len(snapshot) - count()
        if lacking <= 0:
            self._complete_for[index] = snapshot
            return index
        if self.snapshot() is not snapshot:
            # What was counted may have been erased meanwhile.
            return self._complete(index, count, name)
        raise WorkspaceError(
            "The keyword index of {workspace} lacks {lacking} of {count} passages."
            if name == "keywords"
            else "Chroma of {workspace} lacks {lacking} of {count} passages.",
            help=_FILL,
            workspace=self.workspace,
            lacking=lacking,
            count=len(snapshot),
        )

    def missing_vectors(self, besides: Iterable[DocumentRecord] = ()) -> int:
        """Return the number of visible children whose vector is not on the disk.

        Children of the documents `besides` do not count.
        """
        manifest = self._require_manifest()
        vectors = self._vectors(manifest.name, manifest.dimension).all()
        return missing_vectors(self.snapshot(), vectors, [one.key for one in besides])

    @contextmanager
    def writer(self, load_embedder: Callable[[], Embedder], chunking: ChunkingConfig) -> Iterator[Indexer]:
        """Yield the workspace's writer, after the repair of an interrupted run."""
        with write_lock(self.workspace):
            embedder = load_embedder()
            if self.snapshot().documents:
                check_encoder(self.manifest(), embedder, self.workspace)
            stores = self._stores(embedder.name, embedder.dimension)
            self._repair_and_fill(stores)
            if self.is_erasing():
                self._end_erasure(stores)
                stores = self._stores(embedder.name, embedder.dimension)
            self._store_manifest(embedder)
            waiting = self.waiting()
            yield Indexer(stores, embedder, chunking)
            if waiting != self.waiting():
                # Replaced documents must not stay in an index that can no longer be accepted.
                self._repair(stores)
            log_documents(self.catalog)

    def erase(self, document: DocumentRecord) -> Erasure:
        """Remove a document everywhere and return the result."""
        manifest = self._require_manifest()
        with write_lock(self.workspace):
            stores = self._stores(manifest.name, manifest.dimension)
            # It holds the document as well.
            self._forget_waiting()
            self._repair_and_fill(stores)
            erased = erase(stores, document)
            self._end_erasure(stores)
            log_documents(self.catalog)
            return replace(erased, left_behind=(*erased.left_behind, *self.left_by_erasures()))

    def finish_erasures(self) -> tuple[Message, ...]:
        """Finish interrupted erasures, and return anything that was still found afterwards."""
        manifest = self._require_manifest()
        with write_lock(self.workspace):
            stores = self._stores(manifest.name, manifest.dimension)
            self._repair_and_fill(stores)
            self._end_erasure(stores)
            log_documents(self.catalog)
            return self.left_by_erasures()

    def is_erasing(self) -> bool:
        """Return whether an erasure is under way or was broken off; the next writer finishes it."""
        return bool(self.catalog.state(ERASING))

    def left_by_erasures(self) -> tuple[Message, ...]:
        """Return the index files that still hold erased text.

        The worker makes them again as soon as no job waits.
        """
        return (_LEFT,) if self.catalog.state(LEFT) else ()

    def relabel(self) -> None:
        """Have both indexes describe documents as the catalog does; nothing is encoded."""
        manifest = self._require_manifest()
        with write_lock(self.workspace):
            self._repair_and_fill(self._stores(manifest.name, manifest.dimension))

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
        manifest = self._require_manifest()
        with write_lock(self.workspace):
            file = self._vectors(manifest.name, manifest.dimension)
            if embedder is None and len(damaged := file.damaged(np.unique(self.snapshot().rows))):
                # Indexes made of them would hold them, and no longer say so.
                raise self._damaged_vectors(len(damaged))
            self._forget_waiting()
            generation = self.generation() + 1
            indexes = self._backends.new_indexes(generation)
            old = self._stores(manifest.name, manifest.dimension, indexes)
            recover(old)
            if embedder is None:
                refill(old, progress)
                if self._check(check, generation, indexes, old):
                    with self.catalog.begin() as connection:
                        switch_generation(connection, generation)
                self._repair(old)
            else:
                stores = self._stores(embedder.name, embedder.dimension, indexes)
                indexer = Indexer(stores, embedder, chunking or ChunkingConfig(), whole=True)
                made_by = manifest_of(embedder).to_json()
                forget_damaged_sentences(stores)
                encode_again(old, indexer, progress)
                indexer.prepare()
                if self._check(check, generation, indexes, old, made_by):
                    indexer.flush(lambda connection: switch_generation(connection, generation, made_by))
                    self._repair(stores)
                    sweep(stores)
                else:
                    self._repair(old)
        return len(self.snapshot())

    def renew_files(self, goes_on: Callable[[], bool]) -> bool:
        """Rebuild indexes in whose files erasures left something; return whether it stopped before its end."""

        def progress(*_: object) -> None:
            if not goes_on():
                raise IndexingStopped

        try:
            # One that waits to be accepted was made after them.
            if self.left_by_erasures() and self.waiting() is None:
                self.rebuild(progress)
        except IndexingStopped:
            return True
        except SextantError as error:
            sys.stderr.write(f"{error}\n")
        return False

    def waiting(self) -> WaitingGeneration | None:
        """Return the generation that was held back, or None."""
        return read_waiting(self.catalog)

    def accept_waiting(self) -> int:
        """Let the generation that waits answer, and return its number of children.

        WorkspaceError if none waits.
        """
        with write_lock(self.workspace):
            waiting = self._require_waiting()
            with self.catalog.begin() as connection:
                activate(connection, waiting_documents(connection))
                forget_waiting(connection)
                switch_generation(connection, waiting.number, waiting.encoder)
            manifest = self._require_manifest()
            stores = self._stores(manifest.name, manifest.dimension)
            self._repair(stores)
            sweep(stores)
        return len(self.snapshot())

    def discard_waiting(self) -> None:
        """Remove the generation that waits; WorkspaceError if none does."""
        manifest = self._require_manifest()
        with write_lock(self.workspace):
            self._require_waiting()
            self._forget_waiting()
            self._repair(self._stores(manifest.name, manifest.dimension))

    def _require_waiting(self) -> WaitingGeneration:
        waiting = self.waiting()
        if waiting is None:
            raise WorkspaceError(
                "No index waits to be accepted; one that did was removed when the collection changed.",
                help="Make a new one with `sextant rebuild`.",
            )
        return waiting

    def _forget_waiting(self) -> None:
        """Let no generation wait; the next repair removes it."""
        with self.catalog.begin() as connection:
            forget_waiting(connection)

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
        catalog = self.catalog.candidate("pending" if made_by else "active", values)
        try:
            good = check(Collection(self.workspace, catalog, CandidateBackends(self._backends, generation, indexes)))
        except SextantError:
            self._repair(old)
            raise
        if not good:
            made = datetime.now(UTC).isoformat(timespec="seconds")
            with self.catalog.begin() as connection:
                keep_waiting(connection, WaitingGeneration(generation, made, self.catalog.change(), made_by))
        return good

    def _end_erasure(self, stores: Stores) -> None:
        """Remove erased text from the files of the indexes, which are opened again after it.

        A small collection gets new indexes at once, a larger one when no job waits.
        """
        if not self.is_erasing():
            return
        generation, small = self.generation(), len(self.snapshot()) <= _MADE_ANEW
        if small:
            dense, sparse = self._backends.new_indexes(generation + 1)
            refill(replace(stores, dense=dense, sparse=sparse), lambda *_: None)
        else:
            compact_keywords(stores)
            self._backends.compact_dense(generation)
        with self.catalog.begin() as connection:
            if small:
                switch_generation(connection, generation + 1)
            else:
                set_state(connection, LEFT, "yes")
            set_state(connection, ERASING, "")
        if small:
            self._backends.keep_only(generation + 1)
        self.catalog.checkpoint()

    def close(self) -> None:
        """Release every lock and connection."""
        with self._lock:
            self._backends.close()
            self.catalog.close()

    def _repair(self, stores: Stores) -> None:
        """Finish or undo interrupted changes, and remove generations that neither answer nor wait."""
        waiting = self.waiting()
        if waiting is None:
            self._forget_waiting()
        recover(stores)
        self._backends.keep_only(self.generation(), *([waiting.number] if waiting else []))

    def _repair_and_fill(self, stores: Stores) -> None:
        """Repair, and add missing children to the indexes that answer; the stores must hold these."""
        self._repair(stores)
        fill_keywords(stores.sparse, self.catalog)
        fill_dense(stores)
        put_due(stores)

    def _stores(self, model: str, dimension: int, indexes: tuple[VectorIndex, SparseIndex] | None = None) -> Stores:
        """Return the stores for a writer: with the indexes that answer, unless others are given."""
        generation, backends = self.generation(), self._backends
        if indexes is None:
            indexes = backends.dense(generation, writable=True), backends.sparse(generation, writable=True)
        dense, sparse = indexes
        file = self._vectors(model, dimension)
        folders = paths.files(self.workspace), paths.drawings(self.workspace)
        return Stores(self.catalog, file, dense, sparse, *folders)

    def _vectors(self, model: str, dimension: int) -> VectorFile:
        return VectorFile(paths.vectors(self.workspace), model, dimension)

    def _require_manifest(self) -> IndexManifest:
        manifest = self.manifest()
        if manifest is None:
            raise WorkspaceError("The collection is empty.", help="Add documents with `sextant add PATH`.")
        return manifest

    def _store_manifest(self, embedder: Embedder) -> None:
        manifest = self.manifest()
        if manifest is None or manifest.name != embedder.name:
            with self.catalog.begin() as connection:
                set_state(connection, "encoder", manifest_of(embedder).to_json())
