"""Vector file: unit vectors of one model in one flat file, found through the catalog's `vectors` table.

Beside it lies a file with the checksum of each row, so that a vector that a disk has changed is not taken for the one
that was written.
"""

from __future__ import annotations

import os
import re
import zlib
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from rag_engine.protocols import Keys, Vectors

# Rows that are looked at together.
_PORTION = 10_000


class VectorStore:
    """Rows of float32 in `folder/MODEL.f32`, as a VectorFile.

    Rows are written before the catalog names them, so a crash leaves at most rows that nothing names, which the next
    writer uses again.
    """

    def __init__(self, folder: Path, model: str, dimension: int) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.path = folder / f"{re.sub(r'[^A-Za-z0-9._-]+', '_', model)}-{dimension}.f32"
        self._checksums = self.path.with_suffix(".crc")
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

    def write(self, rows: Keys, vectors: Vectors) -> None:
        """Write vectors (n, dimension) at the rows with their checksums, growing the files, and sync them to disk."""
        checksums = self._grown_checksums(int(rows.max(initial=-1)) + 1)
        with self.path.open("r+b" if self.path.exists() else "w+b") as file:
            for row, vector in zip(rows.tolist(), np.ascontiguousarray(vectors, np.float32), strict=True):
                os.pwrite(file.fileno(), vector.tobytes(), row * 4 * self.dimension)
                checksums[row] = zlib.crc32(vector.tobytes())
            os.fsync(file.fileno())
        with self._checksums.open("r+b" if self._checksums.exists() else "w+b") as file:
            file.write(checksums.tobytes())
            file.flush()
            os.fsync(file.fileno())

    def damaged(self, rows: Keys) -> Keys:
        """Return those of the rows that are not as they were written, without those beyond the end of the file.

        100,000 rows take a third of a second. A row that has no checksum yet counts as it is, if it is of numbers.
        """
        kept, held = self._read_checksums(), self.all()
        known = rows[rows < len(held)]
        wrong = [row for row in known[known < len(kept)].tolist() if zlib.crc32(held[row]) != kept[row]]
        # What was no number when the checksums were made would have a good one.
        some = np.array_split(known, len(known) // _PORTION + 1)
        strange = [part[~np.isfinite(held[part]).all(axis=1)] for part in some]
        return np.union1d(np.array(wrong, np.int64), np.concatenate(strange))

    def _read_checksums(self) -> NDArray[np.uint32]:
        return np.fromfile(self._checksums, np.uint32) if self._checksums.exists() else np.zeros(0, np.uint32)

    def _grown_checksums(self, rows: int) -> NDArray[np.uint32]:
        """Return the checksums of at least so many rows; of rows that have none, those of what they hold now."""
        kept, held = self._read_checksums(), self.all()
        empty = zlib.crc32(bytes(4 * self.dimension))
        grown = np.full(max(rows, len(held), len(kept)), empty, np.uint32)
        grown[: len(kept)] = kept
        for row in range(len(kept), len(held)):
            grown[row] = zlib.crc32(held[row])
        return grown

    def erase(self, rows: Keys) -> None:
        """Overwrite the rows with zeros; every other row has a checksum from then on."""
        known = rows[rows < len(self)]
        if len(self):
            self.write(known, np.zeros((len(known), self.dimension), np.float32))

    def keep_only_this_model(self) -> None:
        """Remove the files of every other model."""
        for path in self.path.parent.iterdir():
            if path not in (self.path, self._checksums):
                path.unlink()
