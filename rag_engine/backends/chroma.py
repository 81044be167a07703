"""Chroma as the vector store: a folder that one process at a time has open, or a server by URL.

Two processes on one Chroma folder corrupt it without an error (measured with 1.5.9). A process that opens one holds
the lock of the workspace's indexes (`lock_indexes`).
"""

from __future__ import annotations

import ctypes
import platform
import subprocess
import sysconfig
import threading
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import numpy as np
from filelock import FileLock

from rag_engine.backends.sqlite_damage import find_damage
from rag_engine.errors import BackendError, WorkspaceError
from rag_engine.processes.writer_lock import lock_or_name_holder
from rag_engine.protocols import ChildFacets, Keys, Vectors

# Chroma refuses more than 5,461 records in one call, and SQLite more than 32,766 values in one filter.
_BATCH = 5000
_DATABASE = "chroma.sqlite3"
# Bytes of a database that an erasure writes again, in about a quarter of a minute.
_VACUUMED_BYTES = 2**30
_VACUUM_SECONDS = 120
# Chroma's default of 100 finds fewer; benchmarks/retrieval/retrieval_scale.py measures this one at 280,000 children.
_SEARCH_EFFORT = 400
# The facets with several values a passage, and the one with another name here (`stores.dense_facets`).
_SEVERAL = ("hazard", "country")
_NAMES = {"authority": "issuing_authority"}
# Chroma writes unfilled memory to its files as malloc gives it. With this, glibc fills it with one byte, in place of
# words of deleted passages.
_M_PERTURB, _FILLING = -6, 85


class ChromaIndex:
    """One collection of a Chroma client, in cosine space, as a VectorIndex.

    Every call raises BackendError when the server is unavailable, the folder was let go, or Chroma fails.
    """

    def __init__(self, client: Any, name: str) -> None:
        self._client = client
        self._lock = threading.RLock()
        self.name = name
        with self._reported():
            self._collection = client.get_or_create_collection(
                name,
                configuration={"hnsw": {"space": "cosine", "ef_search": _SEARCH_EFFORT}},
                embedding_function=None,
            )

    def __len__(self) -> int:
        with self._reported():
            return int(self._collection.count())

    def add(self, keys: Keys, vectors: Vectors, texts: Sequence[str], facets: Sequence[ChildFacets]) -> None:
        """Add the children, in place of entries with the same keys."""
        for some in _batches(len(keys)):
            with self._reported():
                self._collection.upsert(
                    ids=[str(key) for key in keys[some].tolist()],
                    embeddings=vectors[some],
                    documents=list(texts[some]),
                    # None removes a value that was there before.
                    metadatas=[
                        {name: None if value in ("", []) else value for name, value in facet.items()}
                        for facet in facets[some]
                    ],
                )

    def delete(self, keys: Keys) -> None:
        """Delete the vectors of the keys."""
        for some in _batches(len(keys)):
            with self._reported():
                self._collection.delete(ids=[str(key) for key in keys[some].tolist()])

    def search(
        self,
        queries: Vectors,
        top_k: int,
        *,
        facets: Mapping[str, Sequence[str]] | None = None,
        documents: Collection[int] | None = None,
    ) -> list[tuple[Keys, Vectors]]:
        """Return the nearest keys of each query with their cosines, best first."""
        found: list[dict[int, float]] = [{} for _ in queries]
        for where in _filters(facets or {}, documents):
            with self._reported():
                if not (count := self._collection.count()):
                    break
                near = self._collection.query(
                    query_embeddings=queries, n_results=min(top_k, count), where=where, include=["distances"]
                )
            for held, ids, distances in zip(found, near["ids"], near["distances"], strict=True):
                held.update(zip(map(int, ids), distances, strict=True))
        best = [sorted(held.items(), key=lambda one: one[1])[:top_k] for held in found]
        return [
            (np.array([key for key, _ in one], np.int64), 1 - np.array([distance for _, distance in one], np.float32))
            for one in best
        ]

    def filter(
        self, *, facets: Mapping[str, Sequence[str]] | None = None, documents: Collection[int] | None = None
    ) -> set[int]:
        """Return the keys of the children of the facets and documents."""
        found: set[int] = set()
        for where in _filters(facets or {}, documents):
            offset = 0
            while True:
                with self._reported():
                    ids = self._collection.get(where=where, limit=_BATCH, offset=offset, include=[])["ids"]
                found.update(map(int, ids))
                if len(ids) < _BATCH:
                    break
                offset += _BATCH
        return found

    def sibling(self, name: str) -> ChromaIndex:
        """Return an empty second collection of the same server."""
        with self._reported():
            if name in self._names():
                self._client.delete_collection(name)
        return ChromaIndex(self._client, name)

    def keep_only(self, *names: str) -> None:
        """Remove every other generation: collections whose names differ in the last number alone."""
        family = self.name.rpartition("-")[0] + "-"
        with self._reported():
            for other in self._names():
                if other not in names and other.startswith(family) and other.removeprefix(family).isdigit():
                    self._client.delete_collection(other)

    def _names(self) -> list[str]:
        return [collection.name for collection in self._client.list_collections()]

    def close(self) -> None:
        """Close the client after its running requests."""
        with self._lock:
            self._client.close()

    @contextmanager
    def _reported(self) -> Iterator[None]:
        """Turn errors of Chroma into BackendError, and keep the client open meanwhile."""
        with self._lock, _reported(self.name):
            yield


def _filters(facets: Mapping[str, Sequence[str]], documents: Collection[int] | None) -> Iterator[dict[str, Any] | None]:
    """Yield the Chroma filters by facets and documents, one for each batch of documents.

    Nothing is yielded if a facet has no values or no document is allowed.
    """
    if not all(facets.values()):
        return
    parts: list[dict[str, Any]] = []
    for name, values in facets.items():
        if name == "language":
            # A document in several languages has a list of them.
            told = [{name: {"$in": list(values)}}, *({name: {"$contains": value}} for value in values)]
            parts.append({"$or": told})
        elif name in _SEVERAL:
            each: list[dict[str, Any]] = [{name: {"$contains": value}} for value in values]
            parts.append(each[0] if len(each) == 1 else {"$or": each})
        else:
            parts.append({_NAMES.get(name, name): {"$in": list(map(int, values)) if name == "year" else list(values)}})
    if documents is None:
        yield _all_of(parts)
        return
    named = sorted(documents)
    for some in _batches(len(named)):
        yield _all_of([*parts, {"document": {"$in": named[some]}}])


def _all_of(parts: Sequence[dict[str, Any]]) -> dict[str, Any] | None:
    return {"$and": list(parts)} if len(parts) > 1 else next(iter(parts), None)


def collection_name(workspace: str, generation: int) -> str:
    """Return the name of the collection of a workspace's generation."""
    return f"policy_documents-{workspace}-{generation}"


def open_chroma(folder: Path, name: str) -> ChromaIndex:
    """Return the collection `name` of a folder that no other process has open."""
    import chromadb
    from chromadb.api.shared_system_client import SharedSystemClient
    from chromadb.config import Settings

    check_database(folder)
    if platform.libc_ver()[0] == "glibc":
        ctypes.CDLL(None).mallopt(_M_PERTURB, _FILLING)
    try:
        with _reported(name):
            client = chromadb.PersistentClient(str(folder), settings=Settings(anonymized_telemetry=False))
        return ChromaIndex(client, name)
    except BackendError:
        # Chroma would hand out the client that could not be opened again.
        SharedSystemClient.clear_system_cache()
        raise


def connect_chroma(url: str, name: str) -> ChromaIndex:
    """Return the collection `name` of the server at a URL."""
    import chromadb
    from chromadb.config import Settings

    address = urlsplit(url)
    if not address.hostname:
        raise WorkspaceError("The Chroma URL {url!r} has no host.", help="Give it as http://HOST:PORT.", url=url)
    with _reported(name):
        client = chromadb.HttpClient(
            address.hostname,
            port=address.port or 8000,
            ssl=address.scheme == "https",
            settings=Settings(anonymized_telemetry=False),
        )
    return ChromaIndex(client, name)


def vacuum(folder: Path) -> None:
    """Shrink the database of a closed folder with Chroma's own program.

    A database that is too large or that fails stays as it is until its folder is rebuilt.
    """
    database = folder / _DATABASE
    if database.is_file() and database.stat().st_size <= _VACUUMED_BYTES:
        command = [f"{sysconfig.get_path('scripts')}/chroma", "vacuum", "--path", str(folder), "--force"]
        with suppress(OSError, subprocess.TimeoutExpired):
            subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=_VACUUM_SECONDS, check=False)


def check_database(folder: Path) -> None:
    """Raise BackendError where the database of a Chroma folder is damaged.

    Chroma itself may end the whole process on it.
    """
    database = folder / _DATABASE
    found = find_damage(database) if database.is_file() else []
    if found:
        raise BackendError(
            "The database of Chroma {database} is damaged: {found}.",
            help="`sextant rebuild` makes it from the catalog; nothing is encoded again.",
            database=database,
            found=found[0],
        )


def lock_indexes(folder: Path, seconds: float = 0) -> FileLock:
    """Return the exclusive lock on a workspace's Chroma folders.

    It is held until it is released or the process ends. WorkspaceError if another process holds it.
    """
    lock = FileLock(folder / "owner.lock")

    def held(process: str, since: str) -> WorkspaceError:
        return WorkspaceError(
            "Chroma folder {folder} is in use by process {process} since {since}.",
            help="Stop it, wait for it, or set SEXTANT_CHROMA_URL to a shared server.",
            retryable=True,
            folder=folder,
            process=process,
            since=since,
        )

    lock_or_name_holder(lock, folder / "owner.json", held, seconds)
    return lock


@contextmanager
def _reported(name: str) -> Iterator[None]:
    """Turn errors of Chroma into BackendError."""
    from chromadb.errors import ChromaError

    try:
        yield
    except (ChromaError, httpx.HTTPError, ValueError, RuntimeError, OSError) as error:
        # If it cannot be reached at first, Chroma raises a ValueError.
        if any(isinstance(one, httpx.TransportError) for one in (error, error.__context__)):
            raise BackendError(
                "Chroma does not answer: {error}.", help="Start its server again.", retryable=True, error=error
            ) from error
        raise BackendError(
            "Chroma failed at the collection {name}: {error}.",
            help="See that its disk has room, start its server again, or run `sextant rebuild` if it is damaged.",
            retryable=True,
            name=name,
            error=error,
        ) from error


def _batches(total: int) -> Iterator[slice]:
    for first in range(0, total, _BATCH):
        yield slice(first, first + _BATCH)


def chroma_answers(url: str) -> bool:
    """Return whether a Chroma server answers at the URL."""
    try:
        return httpx.get(f"{url}/api/v2/heartbeat", timeout=2.0).status_code == 200
    except httpx.HTTPError:
        return False
