"""Another vector store, in memory, as small as the protocols allow; keywords stay in tantivy."""

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

import numpy as np

from rag_engine.backends.tantivy import open_sparse_index
from rag_engine.protocols import ChildFacets, Keys, SparseIndex, Vectors

_NAMES = {"authority": "issuing_authority"}


class MemoryVectorIndex:
    """A VectorIndex: vectors and facets by key, compared one by one."""

    def __init__(self) -> None:
        self._held: dict[int, tuple[Vectors, ChildFacets]] = {}

    def __len__(self) -> int:
        return len(self._held)

    def add(self, keys: Keys, vectors: Vectors, texts: Sequence[str], facets: Sequence[ChildFacets]) -> None:
        del texts
        self._held.update(zip(keys.tolist(), zip(vectors, facets, strict=True), strict=True))

    def delete(self, keys: Keys) -> None:
        for key in keys.tolist():
            self._held.pop(key, None)

    def search(
        self,
        queries: Vectors,
        top_k: int,
        *,
        facets: Mapping[str, Sequence[str]] | None = None,
        documents: Collection[int] | None = None,
    ) -> list[tuple[Keys, Vectors]]:
        chosen, found = self.filter(facets=facets, documents=documents), []
        for query in queries:
            cosines = {key: float(self._held[key][0] @ query) for key in chosen}
            best = sorted(cosines, key=lambda key: (-cosines[key], key))[:top_k]
            found.append((np.array(best, np.int64), np.array([cosines[key] for key in best], np.float32)))
        return found

    def filter(
        self, *, facets: Mapping[str, Sequence[str]] | None = None, documents: Collection[int] | None = None
    ) -> set[int]:
        return {
            key
            for key, (_, one) in self._held.items()
            if (documents is None or one["document"] in documents)
            and all({*values} & _values(one.get(_NAMES.get(name, name))) for name, values in (facets or {}).items())
        }


def _values(kept: str | float | list[str] | None) -> set[str]:
    return set(kept) if isinstance(kept, list) else {str(kept)}


class MemoryBackends:
    """StorageBackends whose vectors are forgotten with the process."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._dense: dict[int, MemoryVectorIndex] = {}

    def dense(self, generation: int, *, writable: bool = False) -> MemoryVectorIndex:
        del writable
        return self._dense.setdefault(generation, MemoryVectorIndex())

    def sparse(self, generation: int, *, writable: bool = False) -> SparseIndex:
        return open_sparse_index(self._folder / str(generation), writable=writable)

    def new_indexes(self, generation: int) -> tuple[MemoryVectorIndex, SparseIndex]:
        self._dense.pop(generation, None)
        return self.dense(generation), self.sparse(generation, writable=True)

    def keep_only(self, *generations: int) -> None:
        self._dense = {number: held for number, held in self._dense.items() if number in generations}

    def compact_dense(self, generation: int) -> None:
        pass

    def close(self) -> None:
        self._dense = {}
