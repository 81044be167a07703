"""Stores of one workspace on the disk or a Chroma server; another vector store goes here."""

from __future__ import annotations

import shutil
import threading

from rag_engine import workspace as paths
from rag_engine.backends.chroma import ChromaIndex, collection_name, open_chroma
from rag_engine.backends.rank_bm25 import PaperSparseIndex
from rag_engine.backends.tantivy import TantivyIndex, open_sparse_index
from rag_engine.config import Config
from rag_engine.errors import BackendError, ServerLostError, WorkspaceError
from rag_engine.protocols import SparseIndex, StorageBackends
from rag_engine.storage.vector_file import VectorStore


class _DiskBackends:
    """Chroma, tantivy and vector files of one workspace, as StorageBackends."""

    def __init__(self, config: Config, workspace_id: str) -> None:
        # The id tells this workspace's collections from those of others on a shared Chroma server.
        self._config, self._id = config, workspace_id
        self._lock = threading.RLock()
        self._dense: tuple[str, ChromaIndex] | None = None
        self._sparse: tuple[int, TantivyIndex] | None = None

    def vectors(self, model: str, dimension: int) -> VectorStore:
        return VectorStore(paths.vectors(self._config.workspace), model, dimension)

    def dense(self, generation: int) -> ChromaIndex:
        with self._lock:
            name, (url, key) = collection_name(self._id, generation), self._chroma()
            if self._dense is None or (self._dense[0], self._dense[1].name) != (f"{url} {key}", name):
                self._close_dense()
                folder, elsewhere = paths.chroma(self._config.workspace), bool(self._config.chroma_url)
                self._dense = f"{url} {key}", open_chroma(folder, name, url=url, key=key, elsewhere=elsewhere)
            return self._dense[1]

    def sparse(self, generation: int, *, writable: bool = False) -> TantivyIndex:
        folder = paths.sparse_index(self._config.workspace, generation)
        if writable:
            return open_sparse_index(folder, writable=True)
        with self._lock:
            if self._sparse is None or self._sparse[0] != generation:
                self._sparse = generation, open_sparse_index(folder, writable=False)
            return self._sparse[1]

    def new_indexes(self, generation: int) -> tuple[ChromaIndex, TantivyIndex]:
        name = collection_name(self._id, generation)
        try:
            dense = self.dense(generation - 1).sibling(name)
        except BackendError:
            if self._chroma()[0]:
                raise
            # An embedded Chroma that cannot even be opened is made anew.
            shutil.rmtree(paths.chroma(self._config.workspace), ignore_errors=True)
            dense = self.dense(generation - 1).sibling(name)
        folder = paths.sparse_index(self._config.workspace, generation)
        shutil.rmtree(folder.parent, ignore_errors=True)
        return dense, open_sparse_index(folder, writable=True)

    def keep_only(self, *generations: int) -> None:
        with self._lock:
            self.dense(generations[0]).keep_only(*(collection_name(self._id, one) for one in generations))
            kept = [paths.sparse_index(self._config.workspace, one).parent for one in generations]
            for folder in kept[0].parent.iterdir():
                if folder.name.isdigit() and folder not in kept:
                    shutil.rmtree(folder)

    def close(self) -> None:
        with self._lock:
            self._close_dense()

    def _close_dense(self) -> None:
        if self._dense is not None:
            self._dense[1].close()
            self._dense = None

    def _chroma(self) -> tuple[str, str]:
        """Return the Chroma server to use and its key: the configured one, else that of a running `sextant serve`.

        Both are empty where the folder is this process's to open. WorkspaceError where it is about to be served: opened
        here, it would keep the server out. ServerLostError where the server is down; `sextant serve` starts it again.
        """
        workspace = self._config.workspace
        if self._config.chroma_url:
            return self._config.chroma_url, ""
        serving = paths.find_serving(workspace)
        if serving is None:
            return "", ""
        if not serving.chroma_url:
            raise WorkspaceError(
                "Chroma of {workspace} starts when the process that writes the collection has ended.",
                help="Wait until it is done.",
                retryable=True,
                workspace=workspace,
            )
        if not paths.chroma_confirms(serving):
            raise ServerLostError(
                "Chroma of {workspace} does not answer at {url}.",
                help="`sextant serve` (process {process}) starts it again; see {log}.",
                retryable=True,
                workspace=workspace,
                url=serving.chroma_url,
                process=serving.process,
                log=workspace / "serving.log",
            )
        return serving.chroma_url, serving.key


def open_backends(config: Config, workspace_id: str) -> StorageBackends:
    """Return the stores that the configuration chooses for a workspace."""
    return _DiskBackends(config, workspace_id)


def paper_keywords() -> SparseIndex:
    """Return an empty keyword index of the paper, in memory: BM25 over the words between spaces."""
    return PaperSparseIndex()
