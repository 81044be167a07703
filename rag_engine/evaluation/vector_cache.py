"""Vector cache of evaluations, in the user's cache folder, so that a second run encodes nothing."""

from __future__ import annotations

import hashlib
import os
import re
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from filelock import FileLock
from numpy.typing import NDArray

from rag_engine.calibration import QUERY_MAP_FILE
from rag_engine.config import cache_folder
from rag_engine.protocols import Embedder, Vectors

_DIGEST = 16
# Encoded and written at a time, so that an interrupted run keeps what it has.
_PORTION = 512
# How far the length of a unit vector may be from 1; a record that a crash left half written is farther.
_ROUNDING = 1e-2


class CachedEmbedder:
    """An Embedder that asks another only for texts whose vectors are not in its file.

    The file is named by model, runtime and size. A record is the hash of prefix and text, then the vector. Records are
    only appended, one process at a time. The unfinished record of a crash is cut off or never matched. `seconds` sums
    the time of the other embedder, `encoded` counts the texts that it was given.
    """

    def __init__(self, embedder: Embedder, folder: Path) -> None:
        self.name, self.dimension = embedder.name, embedder.dimension
        self.prefixes, self.execution = embedder.prefixes, embedder.execution
        self.seconds, self.encoded = 0.0, 0
        self._embedder = embedder
        # A question's vector also depends on the map that comes with Sextant.
        self._asking = hashlib.sha256(QUERY_MAP_FILE.read_bytes()).hexdigest()[:8] + self.prefixes[0]
        self._record = np.dtype([("digest", f"V{_DIGEST}"), ("vector", "<f4", (embedder.dimension,))])
        folder.mkdir(parents=True, exist_ok=True)
        runtime = hashlib.sha256(embedder.execution.encode()).hexdigest()[:8]
        named = re.sub(r"[^A-Za-z0-9._@-]+", "_", embedder.name)
        self.path = folder / f"{named}-{runtime}-{embedder.dimension}.vectors"
        self._lock = FileLock(f"{self.path}.lock")
        self._rows: dict[bytes, int] = {}
        self._read_up_to = 0

    def encode_passages(self, texts: Sequence[str]) -> Vectors:
        """Return unit vectors of shape (len(texts), dimension)."""
        return self._vectors(self.prefixes[1], texts, self._embedder.encode_passages)

    def encode_queries(self, texts: Sequence[str]) -> Vectors:
        """Return unit vectors of shape (len(texts), dimension)."""
        return self._vectors(self._asking, texts, self._embedder.encode_queries)

    def count_tokens(self, text: str) -> int:
        """Count the tokens of the text, special tokens included."""
        return self._embedder.count_tokens(text)

    def _vectors(self, prefix: str, texts: Sequence[str], encode: Callable[[Sequence[str]], Vectors]) -> Vectors:
        if not texts:
            return np.zeros((0, self.dimension), np.float32)
        self._read_new()
        digests = [
            hashlib.sha256((prefix + text).encode("utf-8", "surrogatepass")).digest()[:_DIGEST] for text in texts
        ]
        missing = {digest: text for digest, text in zip(digests, texts, strict=True) if digest not in self._rows}
        wanted = list(missing)
        for first in range(0, len(wanted), _PORTION):
            portion = wanted[first : first + _PORTION]
            started = time.perf_counter()
            vectors = encode([missing[digest] for digest in portion])
            self.seconds += time.perf_counter() - started
            self.encoded += len(portion)
            self._append(portion, vectors)
        rows = np.array([self._rows[digest] for digest in digests])
        return np.array(self._records()["vector"][rows], np.float32)

    def _append(self, digests: Sequence[bytes], vectors: Vectors) -> None:
        records = np.zeros(len(digests), self._record)
        records["digest"] = np.frombuffer(b"".join(digests), f"V{_DIGEST}")
        records["vector"] = vectors
        with self._lock, self.path.open("ab") as file:
            # Another process may have been killed in the middle of a record.
            whole = file.tell() - file.tell() % self._record.itemsize
            os.truncate(self.path, whole)
            file.write(records.tobytes())
        self._read_new()
        first = whole // self._record.itemsize
        # Also vectors that are no unit vectors and are not read again, such as that of a text without a word.
        self._rows |= {digest: first + place for place, digest in enumerate(digests)}

    def _read_new(self) -> None:
        """Read the records that were appended since, by this process or another."""
        records = self._records()
        for first in range(self._read_up_to, len(records), 65_536):
            some = records[first : first + 65_536]
            lengths = np.linalg.norm(some["vector"], axis=1)
            for place, digest in enumerate(some["digest"].tolist()):
                if abs(lengths[place] - 1.0) < _ROUNDING:
                    self._rows[bytes(digest)] = first + place
        self._read_up_to = len(records)

    def _records(self) -> NDArray[np.void]:
        size = self.path.stat().st_size if self.path.exists() else 0
        count = size // self._record.itemsize
        if count == 0:
            return np.zeros(0, self._record)
        return np.memmap(self.path, self._record, "r", shape=(count,))


def vectors_folder() -> Path:
    """Return the folder of the vectors of evaluations, next to the exported models."""
    return cache_folder() / "evaluation"
