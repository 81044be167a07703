"""Another vector store, in memory, as small as the protocols allow; keywords stay in tantivy."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path

import numpy as np

from rag_engine.backends.tantivy import open_sparse_index
from rag_engine.protocols import ChildFacets, Keys, SparseIndex, Vectors


class MemoryVectors:
    """A VectorFile: rows in an array that grows."""

    def __init__(self, model: str, dimension: int) -> None:
        self.model = model
        self._rows = np.zeros((0, dimension), np.float32)

    def __len__(self) -> int:
        return len(self._rows)

    def all(self) -> Vectors:
        return self._rows

    def write(self, rows: Keys, vectors: Vectors) -> None:
        missing = max(0, int(rows.max(initial=-1)) + 1 - len(self._rows))
        self._rows = np.vstack([self._rows, np.zeros((missing, self._rows.shape[1]), np.float32)])
        self._rows[rows] = vectors

    def erase(self, rows: Keys) -> None:
        self._rows[rows[rows < len(self._rows)]] = 0

    def damaged(self, rows: Keys) -> Keys:
        return rows[:0]

    def keep_only_this_model(self) -> None:
        pass


class MemoryVectorIndex:
    """A VectorIndex: vectors and documents by key, compared one by one."""

    def __init__(self) -> None:
        self._held: dict[int, tuple[Vectors, int]] = {}

    def upsert(self, keys: Keys, vectors: Vectors, texts: Sequence[str], facets: Sequence[ChildFacets]) -> None:
        del texts
        for key, vector, facet in zip(keys.tolist(), vectors, facets, strict=True):
            self._held[key] = vector, int(str(facet["document"]))

    def delete(self, keys: Keys) -> None:
        for key in keys.tolist():
            self._held.pop(key, None)

    def search(
        self, queries: Vectors, top_k: int, *, allowed: Collection[int] | None = None
    ) -> list[tuple[Keys, Vectors]]:
        chosen = {key: vector for key, (vector, owner) in self._held.items() if allowed is None or owner in allowed}
        found = []
        for query in queries:
            cosines = {key: float(vector @ query) for key, vector in chosen.items()}
            best = sorted(cosines, key=lambda key: (-cosines[key], key))[:top_k]
            found.append((np.array(best, np.int64), np.array([cosines[key] for key in best], np.float32)))
        return found

    def count(self) -> int:
        return len(self._held)

    def keys(self) -> set[int]:
        return set(self._held)

    def held(self, keys: Keys) -> tuple[Keys, Vectors]:
        there = [key for key in keys.tolist() if key in self._held]
        return np.array(there, np.int64), np.array([self._held[key][0] for key in there], np.float32)

    def compact(self, *, at_most: int | None = None) -> bool:
        return True

    def keeps_deleted(self) -> bool:
        return False


class MemoryBackends:
    """StorageBackends whose vectors are forgotten with the process."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._vectors: dict[str, MemoryVectors] = {}
        self._dense: dict[int, MemoryVectorIndex] = {}

    def vectors(self, model: str, dimension: int) -> MemoryVectors:
        return self._vectors.setdefault(model, MemoryVectors(model, dimension))

    def dense(self, generation: int) -> MemoryVectorIndex:
        return self._dense.setdefault(generation, MemoryVectorIndex())

    def sparse(self, generation: int, *, writable: bool = False) -> SparseIndex:
        return open_sparse_index(self._folder / str(generation), writable=writable)

    def new_indexes(self, generation: int) -> tuple[MemoryVectorIndex, SparseIndex]:
        self._dense.pop(generation, None)
        return self.dense(generation), self.sparse(generation, writable=True)

    def keep_only(self, *generations: int) -> None:
        self._dense = {number: held for number, held in self._dense.items() if number in generations}

    def close(self) -> None:
        self._vectors, self._dense = {}, {}
