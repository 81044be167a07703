"""Collection: the stores of one workspace as they are read."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Literal, TypeVar

import numpy as np

from rag_engine import workspace as paths
from rag_engine.answering_documents import listed_documents
from rag_engine.errors import SextantError, WorkspaceError
from rag_engine.filters import Facets, Filter
from rag_engine.messages import Message
from rag_engine.protocols import SparseIndex, StorageBackends, VectorIndex
from rag_engine.storage.catalog import Catalog
from rag_engine.storage.erase_document import ERASING, LEFT
from rag_engine.storage.manifest import IndexManifest, read_manifest
from rag_engine.storage.rebuild import (
    WaitingGeneration,
    read_waiting,
)
from rag_engine.storage.snapshot import (
    ENCODE,
    CollectionView,
    Snapshot,
    Statistics,
    missing_vectors,
    read_snapshot,
    statistics,
)
from rag_engine.storage.stores import (
    stored_file,
)
from rag_engine.storage.vector_file import VectorFile
from rag_engine.storage.vector_rows import rows_of_damaged_sentences
from rag_engine.types.document import DocumentRecord
from rag_engine.types.finding import Finding, some_of

# Names of what is checked, by which a repair goes.
CONTENTS, VECTORS = "Contents", "Vectors"
DENSE, KEYWORDS = "Dense index (Chroma)", "Keyword index (tantivy)"
_FILL = "Run `sextant rebuild`, or add a document: the next change fills it."
_Index = TypeVar("_Index", VectorIndex, SparseIndex)
_LEFT = Message(
    "words and vectors in the files of the indexes, where no search finds them, until the worker rebuilds them"
)


class Collection:
    """The stores of one workspace, as they are read; safe from several threads."""

    def __init__(self, workspace: Path, catalog: Catalog, backends: StorageBackends) -> None:
        self.workspace = workspace
        self.catalog = catalog
        self.backends = backends
        self._lock = threading.RLock()
        # Of a workspace that cannot be written, for the time of this process.
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
        allowed = listed_documents(wanted or {}, snapshot.facets, snapshot.documents)
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

    def view(self) -> CollectionView:
        """Return the collection as a search reads it at this moment.

        WorkspaceError if it is empty or damaged.
        """
        manifest, snapshot = self.require_manifest(), self.snapshot()
        with self._lock:
            view = self._view
            if view is None or view.snapshot is not snapshot or view.manifest != manifest:
                # Mapping a large file again costs more than searching it.
                same = view is not None and view.file.model == manifest.name
                file = view.file if view and same else self.vectors_of(manifest.name, manifest.dimension)
                self._view = view = CollectionView(self.catalog, snapshot, file, manifest)
        if int(snapshot.rows.max(initial=-1)) >= len(view.file):
            raise WorkspaceError(
                "Vectors of {workspace} are missing: {present} are on the disk.",
                help=ENCODE,
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
        raise self.damaged_error(len(damaged))

    def damaged_vectors(self) -> list[DocumentRecord]:
        """Return the documents that have a damaged vector of a passage or a sentence."""
        manifest, snapshot = self.require_manifest(), self.snapshot()
        file = self.vectors_of(manifest.name, manifest.dimension)
        rows = np.unique(snapshot.rows)
        damaged = np.union1d(file.damaged(rows), rows_of_damaged_sentences(self.catalog, manifest.name, rows))
        owners = snapshot.owners[np.isin(snapshot.rows, damaged)]
        return [snapshot.documents[key] for key in np.unique(owners).tolist()]

    def damaged_error(self, count: int) -> WorkspaceError:
        """Return the error of a number of damaged vectors."""
        return WorkspaceError(
            "{count} vectors of {workspace} are damaged, or from before vectors had checksums.",
            help=ENCODE,
            count=count,
            workspace=self.workspace,
        )

    def generation(self) -> int:
        """Return the number of the index generation that answers."""
        return int(self.catalog.state("generation", "1"))

    def dense(self) -> VectorIndex:
        """Return the dense index that answers; WorkspaceError if it lacks passages."""
        index = self.backends.dense(self.generation())
        return self._complete(index, lambda: len(index), "vectors")

    def sparse(self) -> SparseIndex:
        """Return the keyword index that answers; WorkspaceError if it lacks passages."""
        index = self.backends.sparse(self.generation())
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
        manifest = self.require_manifest()
        vectors = self.vectors_of(manifest.name, manifest.dimension).all()
        return missing_vectors(self.snapshot(), vectors, [document.key for document in besides])

    def is_erasing(self) -> bool:
        """Return whether an erasure is under way or was broken off; the next writer finishes it."""
        return bool(self.catalog.state(ERASING))

    def left_by_erasures(self) -> tuple[Message, ...]:
        """Return the index files that still hold erased text.

        The worker makes them again as soon as no job waits.
        """
        return (_LEFT,) if self.catalog.state(LEFT) else ()

    def waiting(self) -> WaitingGeneration | None:
        """Return the generation that was held back, or None."""
        return read_waiting(self.catalog)

    def check(self) -> Iterator[Finding]:
        """Yield what is missing or damaged in catalog, indexes and vectors."""
        snapshot = self.snapshot()
        yield Finding("Collection", "good", f"{len(snapshot.documents)} documents, {len(snapshot)} passages")
        if not snapshot.documents:
            return
        waiting = self.waiting()
        if waiting is not None:
            found = f"index {waiting.number} of {waiting.made} was held back"
            remedy = "Run `sextant rebuild --accept` to put it in place, or `--discard` to remove it."
            yield Finding("Waiting index", "note", found, remedy)
        damaged = [record.file for record in self.catalog.damaged_documents()]
        if damaged:
            remedy = "`sextant doctor --repair` reads them again from the workspace's copies of the originals."
            found = f"texts of {len(damaged)} documents are missing or damaged: {some_of(damaged)}"
            yield Finding(CONTENTS, "bad", found, remedy)
        yield self._check_index(DENSE, lambda: self.dense().filter())
        yield self._check_index(KEYWORDS, lambda: self.sparse().keys())
        yield self._check_vectors()

    def _check_index(self, name: str, keys: Callable[[], set[int]]) -> Finding:
        known = set(self.snapshot().keys.tolist())
        try:
            held = keys()
        except SextantError as error:
            return Finding(name, "note" if error.retryable else "bad", str(error))
        missing, extra = len(known - held), len(held - known)
        found = f"{len(held)} entries, {missing} missing, {extra} waiting for removal"
        return Finding(name, "bad" if missing else "good", found, "Run `sextant rebuild`." if missing else "")

    def _check_vectors(self) -> Finding:
        try:
            missing = self.missing_vectors()
            damaged = [record.file for record in self.damaged_vectors()]
        except SextantError as error:
            return Finding(VECTORS, "bad", str(error))
        wanted = len(self.snapshot())
        found = f"{wanted - missing} of {wanted} passages have theirs"
        if damaged:
            found += f"; some of {len(damaged)} documents are not as they were written: {some_of(damaged)}"
        remedy = "Run `sextant rebuild --encode`." if missing or damaged else ""
        return Finding(VECTORS, "bad" if missing or damaged else "good", found, remedy)

    def close(self) -> None:
        """Release every lock and connection."""
        with self._lock:
            self.backends.close()
            self.catalog.close()

    def vectors_of(self, model: str, dimension: int) -> VectorFile:
        """Return the file of the vectors of a model."""
        return VectorFile(paths.vectors(self.workspace), model, dimension)

    def require_manifest(self) -> IndexManifest:
        """Return the manifest; WorkspaceError for an empty collection."""
        manifest = self.manifest()
        if manifest is None:
            raise WorkspaceError("The collection is empty.", help="Add documents with `sextant add PATH`.")
        return manifest
