"""Where a collection lies: the stores together, and the names of files in the workspace."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from rag_engine.backends.vectors import VectorStore
from rag_engine.catalog import Catalog
from rag_engine.protocols import SparseIndex, VectorIndex
from rag_engine.types import DocumentRecord


@dataclass(frozen=True, slots=True)
class Stores:
    """Everything that holds a collection for its one writer."""

    catalog: Catalog
    vectors: VectorStore
    dense: VectorIndex
    sparse: SparseIndex
    files: Path


def stored_name(files: Path, sha256: str, file: str) -> Path:
    """Where the copy of a file lies: under its own name, in a folder for its content."""
    return files / sha256[:12] / file


def stored_file(files: Path, record: DocumentRecord) -> Path:
    """Where the copy of a document lies."""
    return stored_name(files, record.sha256, record.file)
