"""Vector file: unit vectors of one model in one flat file, found through the catalog's `vectors` table."""

from __future__ import annotations

import os
import re
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from rag_engine.protocols import Vectors


class VectorStore:
    """Rows of float32 in `folder/MODEL.f32`, as a VectorFile.

    Rows are written before the catalog names them, so a crash leaves at most rows that nothing names, which the next
    writer uses again.
    """

    def __init__(self, folder: Path, model: str, dimension: int) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.path = folder / f"{re.sub(r'[^A-Za-z0-9._-]+', '_', model)}-{dimension}.f32"
        self.model = model
        self.dimension = dimension
        self._mapped: Vectors | None = None

    def __len__(self) -> int:
        return self.path.stat().st_size // (4 * self.dimension) if self.path.exists() else 0

    def all(self) -> Vectors:
        """Return every row, mapped read-only from disk: shape (rows, dimension)."""
        rows = len(self)
        if rows == 0:
            return np.zeros((0, self.dimension), np.float32)
        if self._mapped is None or len(self._mapped) != rows:
            self._mapped = np.memmap(self.path, np.float32, "r", shape=(rows, self.dimension))
        return self._mapped

    def write(self, rows: NDArray[np.int64], vectors: Vectors) -> None:
        """Write vectors (n, dimension) at the rows, growing the file as needed, and sync it to disk."""
        with self.path.open("r+b" if self.path.exists() else "w+b") as file:
            for row, vector in zip(rows.tolist(), np.ascontiguousarray(vectors, np.float32), strict=True):
                os.pwrite(file.fileno(), vector.tobytes(), row * 4 * self.dimension)
            os.fsync(file.fileno())

    def erase(self, rows: NDArray[np.int64]) -> None:
        """Overwrite the rows with zeros."""
        known = rows[rows < len(self)]
        if len(known):
            self.write(known, np.zeros((len(known), self.dimension), np.float32))

    def keep_only_this_model(self) -> None:
        """Remove the files of every other model."""
        for path in self.path.parent.iterdir():
            if path != self.path:
                path.unlink()
