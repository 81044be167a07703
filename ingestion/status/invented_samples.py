"""The invented samples of a new workspace, told from the documents that people add."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from functools import cache

from rag_engine.config import DATA
from rag_engine.types.document import DocumentRecord

SAMPLES = DATA / "sample" / "documents"


def count_samples(documents: Iterable[DocumentRecord]) -> int:
    """Return how many of the documents are invented samples, wherever they were added from."""
    return sum(document.sha256 in _contents() for document in documents)


@cache
def _contents() -> frozenset[str]:
    return frozenset(hashlib.sha256(path.read_bytes()).hexdigest() for path in SAMPLES.iterdir())
