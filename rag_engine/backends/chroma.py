"""Chroma as the dense index: served over loopback, by URL, or embedded under an exclusive lock.

Two processes on one Chroma folder corrupt it without an error (measured with 1.5.9), so an embedded folder
is only ever opened by the one that holds its lock.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import struct
from collections.abc import Collection, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import numpy as np
from filelock import FileLock

from rag_engine.backends.sqlite_damage import find_damage
from rag_engine.errors import BackendError, ServerLostError, WorkspaceError
from rag_engine.protocols import ChildFacets, Keys, Vectors
from rag_engine.workspace import lock_or_name_holder

# Chroma refuses more than 5,461 records in one call.
_BATCH = 5000
# What leaves the words of deleted records out of its database: those that wait to be written to its index of vectors,
# of which only the last of an id counts; the full-text index; free pages.
_WITHOUT_DELETED = (
    "DELETE FROM embeddings_queue WHERE EXISTS (SELECT 1 FROM embeddings_queue AS later WHERE "
    "later.topic = embeddings_queue.topic AND later.id = embeddings_queue.id AND "
    "later.seq_id > embeddings_queue.seq_id AND later.operation IN (2, 3))",
    "INSERT INTO embedding_fulltext_search(embedding_fulltext_search) VALUES('optimize')",
    "VACUUM",
)
# Its indexes of vectors each have a folder named by their segment; a header gives the vectors of the file beside it.
_SEGMENTS = "SELECT id FROM segments WHERE scope = 'VECTOR'"
_SEGMENTS_OF = (
    "SELECT segments.id FROM segments JOIN collections ON collections.id = segments.collection "
    "WHERE scope = 'VECTOR' AND name = ?"
)
_DATABASE, _HEADER, _VECTORS, _LENGTHS = "chroma.sqlite3", "header.bin", "data_level0.bin", "length.bin"
_LENGTH_BYTES = 4
# The version, then in eight bytes each: where the vectors begin, room for how many, how many there are, bytes of one.
_HEAD = struct.Struct("<i4Q")
_KNOWN_VERSION = 1
# How long Chroma may be busy with its database before it is not compacted.
_COMPACTION_SECONDS = 30
# What SQLite says where the disk is full: there, and where it has no place for its journal.
_NO_ROOM = (sqlite3.SQLITE_FULL, sqlite3.SQLITE_CANTOPEN)
# Chroma's default of 100 finds fewer; what this one finds at 280,000 children: benchmarks/retrieval/retrieval_scale.py.
_SEARCH_EFFORT = 400


class ChromaIndex:
    """One collection of a Chroma client, in cosine space, as a VectorIndex.

    Every call raises BackendError when the server is unavailable or Chroma fails.
    """

    def __init__(self, client: Any, name: str, lock: FileLock | None = None, *, database: Path | None = None) -> None:
        """`database` is the file in which the client, or the server that it asks, keeps texts, where it is known."""
        self._client = client
        self._lock = lock
        self._database = database
        self.name = name
        with _reported(name):
            self._collection = client.get_or_create_collection(
                name,
                configuration={"hnsw": {"space": "cosine", "ef_search": _SEARCH_EFFORT}},
                embedding_function=None,
            )
        self._when_opened = self._times()

    def upsert(self, keys: Keys, vectors: Vectors, texts: Sequence[str], facets: Sequence[ChildFacets]) -> None:
        """Put the children in, instead of those of the same keys."""
        for some in _batches(len(keys)):
            with _reported(self.name):
                self._collection.upsert(
                    ids=[str(key) for key in keys[some].tolist()],
                    embeddings=vectors[some],
                    documents=list(texts[some]),
                    metadatas=[dict(one) for one in facets[some]],
                )

    def delete(self, keys: Keys) -> None:
        """Delete the vectors of the keys."""
        for some in _batches(len(keys)):
            with _reported(self.name):
                self._collection.delete(ids=[str(key) for key in keys[some].tolist()])

    def search(
        self, queries: Vectors, top_k: int, *, allowed: Collection[int] | None = None
    ) -> list[tuple[Keys, Vectors]]:
        """Return the nearest keys of each query with their cosines, best first."""
        with _reported(self.name):
            count = self._collection.count()
            # Chroma refuses an empty list.
            if count == 0 or (allowed is not None and not allowed):
                return [(np.zeros(0, np.int64), np.zeros(0, np.float32)) for _ in queries]
            where = None if allowed is None else {"document": {"$in": sorted(allowed)}}
            found = self._collection.query(
                query_embeddings=queries, n_results=min(top_k, count), where=where, include=["distances"]
            )
        return [
            (np.array([int(id) for id in ids], np.int64), 1 - np.array(distances, np.float32))
            for ids, distances in zip(found["ids"], found["distances"], strict=True)
        ]

    def count(self) -> int:
        """Return the number of vectors."""
        with _reported(self.name):
            return int(self._collection.count())

    def keys(self) -> set[int]:
        """Return the keys of all vectors."""
        found: set[int] = set()
        with _reported(self.name):
            for first in range(0, self._collection.count(), _BATCH):
                found.update(int(id) for id in self._collection.get(limit=_BATCH, offset=first, include=[])["ids"])
        return found

    def held(self, keys: Keys) -> tuple[Keys, Vectors]:
        """Return those of the keys that it has, in any order, with the vector of each as its files hold it."""
        with _reported(self.name):
            found = self._collection.get(ids=[str(key) for key in keys.tolist()], include=["embeddings"])
        return np.array([int(id) for id in found["ids"]], np.int64), np.array(found["embeddings"], np.float32)

    def compact(self, *, at_most: int | None = None) -> bool:
        """Write Chroma's database anew, without the words of what was deleted; False where it is not here or larger.

        SQLite lets two programs do so. Of Chroma's own files those of deleted collections go, and of the others what is
        behind the last vector, which is memory of a process as it happened to be; False also where these files are laid
        out in a way that is not known. `at_most` is in bytes.
        """
        if self._database is None or (at_most is not None and self._database.stat().st_size > at_most):
            return False
        try:
            with closing(sqlite3.connect(self._database, timeout=_COMPACTION_SECONDS)) as connection:
                for statement in _WITHOUT_DELETED:
                    connection.execute(statement)
                    connection.commit()
                used = {str(id) for (id,) in connection.execute(_SEGMENTS)}
        except sqlite3.Error as error:
            if getattr(error, "sqlite_errorcode", 0) in _NO_ROOM:
                raise _no_room(self._database, error) from error
            return False
        cleared = True
        for folder in self._folders():
            if folder.name in used:
                cleared = clear_unused(folder) and cleared
            else:
                # Chroma leaves behind the files of a collection that it deletes.
                shutil.rmtree(folder, ignore_errors=True)
        return cleared

    def keeps_deleted(self) -> bool:
        """Return whether vectors that were deleted are in its files, which alone a collection made anew leaves out."""
        if self._database is None:
            return False
        with closing(sqlite3.connect(self._database, timeout=_COMPACTION_SECONDS)) as connection:
            mine = {str(id) for (id,) in connection.execute(_SEGMENTS_OF, (self.name,))}
        return any(folder.name in mine and _written(folder) for folder in self._folders())

    def _folders(self) -> list[Path]:
        """Return the folders in which Chroma keeps its indexes of vectors."""
        return [] if self._database is None else [one.parent for one in self._database.parent.glob(f"*/{_HEADER}")]

    def sibling(self, name: str) -> ChromaIndex:
        """Return an empty collection of the same client beside this one."""
        with _reported(name):
            if name in self._names():
                self._client.delete_collection(name)
        return ChromaIndex(self._client, name, database=self._database)

    def keep_only(self, *names: str) -> None:
        """Remove every other generation of this collection: those named alike but for the number at the end."""
        family = self.name.rpartition("-")[0] + "-"
        with _reported(self.name):
            for other in self._names():
                if other not in names and other.startswith(family) and other.removeprefix(family).isdigit():
                    self._client.delete_collection(other)
        self.compact()

    def _names(self) -> list[str]:
        return [collection.name for collection in self._client.list_collections()]

    def close(self) -> None:
        """Close the client and give the folder free, without memory of this process in the files that it wrote."""
        self._client.close()
        # What a client of a server, and the one inside it, leave open stays so until it is collected.
        for client in (self._client, getattr(self._client, "_admin_client", None)):
            if session := getattr(getattr(client, "_server", None), "_session", None):
                session.close()
        if self._lock is not None:
            for folder, time in self._times().items():
                # An index that holds few vectors is written anew by whoever only reads it.
                if self._when_opened.get(folder) != time:
                    clear_unused(folder)
            self._lock.release()

    def _times(self) -> dict[Path, int]:
        """Return when the files of vectors were written, by their folders."""
        return {one: (one / _VECTORS).stat().st_mtime_ns for one in self._folders() if (one / _VECTORS).is_file()}


def _written(folder: Path) -> int:
    """Return how many vectors an index of Chroma has written to its files, deleted ones among them.

    Where the files are laid out in a way that is not known there may be some.
    """
    layout = _layout(folder)
    return 1 if layout is None else layout[0]


def clear_unused(folder: Path) -> bool:
    """Overwrite with zeros what is behind the last vector in files of Chroma; False where their layout is not known."""
    layout = _layout(folder)
    if layout is None:
        return False
    count, end = layout
    for name, used in ((_VECTORS, end), (_LENGTHS, count * _LENGTH_BYTES)):
        with (folder / name).open("r+b") as file:
            beyond = file.seek(0, os.SEEK_END) - used
            file.seek(used)
            file.write(bytes(beyond))
    return True


def _layout(folder: Path) -> tuple[int, int] | None:
    """Return how many vectors a folder of Chroma holds and where the last one ends in its file.

    None where header and file do not agree as in the version that is known: to write there could cost vectors.
    """
    head, vectors = (folder / _HEADER).read_bytes()[: _HEAD.size], folder / _VECTORS
    lengths = folder / _LENGTHS
    if len(head) < _HEAD.size or not vectors.is_file() or not lengths.is_file():
        return None
    version, begin, room, count, size = _HEAD.unpack(head)
    end, most = begin + count * size, begin + room * size
    known = version == _KNOWN_VERSION and count <= room and end <= vectors.stat().st_size <= most
    known = known and count * _LENGTH_BYTES <= lengths.stat().st_size <= room * _LENGTH_BYTES
    return (count, end) if known else None


def collection_name(workspace: str, generation: int) -> str:
    """Name of the collection of a workspace's generation."""
    return f"policy_documents-{workspace}-{generation}"


def open_chroma(folder: Path, name: str, *, url: str = "", key: str = "", elsewhere: bool = False) -> ChromaIndex:
    """Return the collection `name`: of the server at `url`, else of the folder, locked for this process alone.

    `key` is what a server of ours asks for; `elsewhere` says that the server keeps its files in another folder.
    """
    import chromadb
    from chromadb.api.shared_system_client import SharedSystemClient
    from chromadb.config import Settings

    settings = Settings(anonymized_telemetry=False)
    database = None if elsewhere else folder / _DATABASE
    if url:
        address = urlsplit(url)
        if not address.hostname:
            raise WorkspaceError("The Chroma URL {url!r} has no host.", help="Give it as http://HOST:PORT.", url=url)
        headers = {"Authorization": f"Bearer {key}"} if key else None
        with _reported(name):
            client = chromadb.HttpClient(
                address.hostname,
                port=address.port or 8000,
                ssl=address.scheme == "https",
                headers=headers,
                settings=settings,
            )
        return ChromaIndex(client, name, database=database)
    lock = lock_folder(folder)
    try:
        check_database(folder)
        with _reported(name):
            client = chromadb.PersistentClient(str(folder), settings=settings)
        return ChromaIndex(client, name, lock, database=database)
    except BackendError:
        # Chroma would hand out the client that could not be opened again.
        SharedSystemClient.clear_system_cache()
        lock.release()
        raise


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


def lock_folder(folder: Path) -> FileLock:
    """Return an exclusive lock on a Chroma folder, held until released or the process ends."""
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

    lock_or_name_holder(lock, folder / "owner.json", held)
    return lock


def _no_room(database: Path, error: sqlite3.Error) -> BackendError:
    return BackendError(
        "The database of Chroma {database} cannot be rewritten: {error}.",
        help="Free some space; the next change finishes the work.",
        retryable=True,
        database=database,
        error=error,
    )


@contextmanager
def _reported(name: str) -> Iterator[None]:
    """Raise what Chroma raises as BackendError."""
    from chromadb.errors import ChromaError

    try:
        yield
    except (ChromaError, httpx.HTTPError, ValueError, RuntimeError, OSError) as error:
        # Where it cannot be reached at first, Chroma says so by a ValueError of its own.
        if any(isinstance(one, httpx.TransportError) for one in (error, error.__context__)):
            raise ServerLostError(
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
