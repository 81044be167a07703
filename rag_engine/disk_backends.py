"""Stores of one workspace on the disk or a Chroma server; another vector store goes here."""

from __future__ import annotations

import shutil
import threading

from filelock import FileLock

from rag_engine import workspace as paths
from rag_engine.backends.chroma import (
    ChromaIndex,
    collection_name,
    connect_chroma,
    lock_indexes,
    open_chroma,
    vacuum,
)
from rag_engine.backends.rank_bm25 import PaperSparseIndex
from rag_engine.backends.tantivy import TantivyIndex, open_sparse_index
from rag_engine.config import Config
from rag_engine.processes.writer_lock import find_writer
from rag_engine.protocols import SparseIndex, StorageBackends

# How long a writer waits for readers of Chroma's folders, and how soon the readers notice.
_WRITER_SECONDS = 30.0
_LOOK_SECONDS = 0.2


class _DiskBackends:
    """Chroma and tantivy of one workspace, as StorageBackends.

    This process has Chroma's folders open, and their lock, from their first use until another process writes.
    """

    def __init__(self, config: Config, workspace_id: str) -> None:
        # The id tells this workspace's collections from those of others on a shared Chroma server.
        self._config, self._id = config, workspace_id
        self._lock = threading.RLock()
        self._owner: FileLock | None = None
        self._closed = threading.Event()
        self._dense: dict[int, ChromaIndex] = {}
        self._sparse: tuple[int, TantivyIndex] | None = None

    def dense(self, generation: int, *, writable: bool = False) -> ChromaIndex:
        with self._lock:
            if generation not in self._dense:
                name, workspace = collection_name(self._id, generation), self._config.workspace
                if self._config.chroma_url:
                    self._dense[generation] = connect_chroma(self._config.chroma_url, name)
                else:
                    self._own_folders(_WRITER_SECONDS if writable else 0)
                    self._dense[generation] = open_chroma(paths.chroma(workspace, generation), name)
            return self._dense[generation]

    def sparse(self, generation: int, *, writable: bool = False) -> TantivyIndex:
        folder = paths.sparse_index(self._config.workspace, generation)
        if writable:
            return open_sparse_index(folder, writable=True)
        with self._lock:
            if self._sparse is None or self._sparse[0] != generation:
                self._sparse = generation, open_sparse_index(folder, writable=False)
            return self._sparse[1]

    def new_indexes(self, generation: int) -> tuple[ChromaIndex, TantivyIndex]:
        with self._lock:
            if not self._config.chroma_url:
                self._own_folders(_WRITER_SECONDS)
            self._remove(generation)
            dense = self.dense(generation, writable=True)
            if self._config.chroma_url:
                dense = self._dense[generation] = dense.sibling(dense.name)
            return dense, self.sparse(generation, writable=True)

    def keep_only(self, *generations: int) -> None:
        with self._lock:
            if self._config.chroma_url:
                kept = (collection_name(self._id, generation) for generation in generations)
                self.dense(generations[0], writable=True).keep_only(*kept)
            for folder in paths.index(self._config.workspace).iterdir():
                if folder.name.isdigit() and int(folder.name) not in generations:
                    self._remove(int(folder.name))

    def compact_dense(self, generation: int) -> None:
        with self._lock:
            if (index := self._dense.pop(generation, None)) is not None:
                index.close()
            if not self._config.chroma_url:
                vacuum(paths.chroma(self._config.workspace, generation))

    def close(self) -> None:
        with self._lock:
            while self._dense:
                self._dense.popitem()[1].close()
            self._closed.set()
            if self._owner is not None:
                self._owner.release()
                self._owner = None

    def _remove(self, generation: int) -> None:
        if (index := self._dense.pop(generation, None)) is not None:
            index.close()
        shutil.rmtree(paths.index(self._config.workspace) / str(generation), ignore_errors=True)

    def _own_folders(self, seconds: float) -> None:
        """Lock Chroma's folders for this process, until another one writes."""
        if self._owner is None:
            self._owner = lock_indexes(paths.index(self._config.workspace), seconds)
            self._closed = closed = threading.Event()
            threading.Thread(target=self._let_go, args=(closed,), daemon=True).start()

    def _let_go(self, closed: threading.Event) -> None:
        while not closed.wait(_LOOK_SECONDS):
            if find_writer(self._config.workspace) is not None:
                self.close()


def open_backends(config: Config, workspace_id: str) -> StorageBackends:
    """Return the stores that the configuration chooses for a workspace."""
    return _DiskBackends(config, workspace_id)


def paper_keywords() -> SparseIndex:
    """Return an empty keyword index of the paper, in memory: BM25 over the words between spaces."""
    return PaperSparseIndex()
