"""Vector file: unit vectors of one model in one flat file, found by the catalog's `vectors` table.

A second file has the checksum of each row, so that a vector that a disk has changed is noticed.
"""

from __future__ import annotations

import os
import re
import zlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from rag_engine.protocols import Keys, Vectors

# Rows that are looked at together.
_PORTION = 10_000
_CHECKSUM_BYTES = 4


class VectorFile:
    """Rows of float32 in `folder/MODEL.f32`; the catalog knows which text each belongs to.

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
        """Write vectors (n, dimension) and their checksums at the rows, and sync the files to disk.

        The files grow as needed.
        """
        written = [vector.tobytes() for vector in np.ascontiguousarray(vectors, np.float32)]
        _write_at(self.path, rows, written)
        _write_at(self._checksums, rows, [checksum(vector) for vector in written])

    def damaged(self, rows: Keys) -> Keys:
        """Return the rows that differ from their checksum.

        A row without a checksum is damaged; a row beyond the end of the file is left out. 100,000 rows take a third of
        a second.
        """
        kept = self._checksums.read_bytes() if self._checksums.exists() else b""
        held = self.all()
        known = rows[rows < len(held)]
        wrong = [row for row in known.tolist() if checksum(held[row].tobytes()) != _piece(kept, row)]
        return np.unique(np.array(wrong, np.int64))

    def erase(self, rows: Keys) -> None:
        """Overwrite the rows with zeros; rows of zeros are not written again."""
        held = self.all()
        some = np.array_split(rows[rows < len(held)], len(rows) // _PORTION + 1)
        filled = np.concatenate([part[held[part].any(axis=1)] for part in some])
        if len(filled):
            self.write(filled, np.zeros((len(filled), self.dimension), np.float32))

    def keep_only_this_model(self) -> None:
        """Remove the files of every other model."""
        for path in self.path.parent.iterdir():
            if path not in (self.path, self._checksums):
                path.unlink()


def checksum(written: bytes) -> bytes:
    """Return the checksum of a vector, or of several, as they are on the disk."""
    return zlib.crc32(written).to_bytes(_CHECKSUM_BYTES, "little")


def sealed(vectors: bytes) -> bytes:
    """Return vectors that are kept together with their checksum."""
    return vectors + checksum(vectors)


def unsealed(kept: bytes) -> bytes | None:
    """Return the vectors of `sealed`, or None if they differ from their checksum or have none.

    >>> unsealed(sealed(b"vectors"))
    b'vectors'
    """
    vectors = kept[:-_CHECKSUM_BYTES]
    return vectors if kept == sealed(vectors) else None


def _piece(checksums: bytes, row: int) -> bytes:
    """Return the checksum of a row, or b""."""
    return checksums[row * _CHECKSUM_BYTES : (row + 1) * _CHECKSUM_BYTES]


def _write_at(path: Path, rows: Keys, written: Sequence[bytes]) -> None:
    """Write pieces of one length at their rows of a file, growing it, and sync it to disk."""
    with path.open("r+b" if path.exists() else "w+b") as file:
        for row, piece in zip(rows.tolist(), written, strict=True):
            os.pwrite(file.fileno(), piece, row * len(piece))
        os.fsync(file.fileno())
