"""Where a collection lies: the stores together, and the names of files in the workspace."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from rag_engine.backends.vectors import VectorStore
from rag_engine.catalog import Catalog, ChildRecord
from rag_engine.chunking.indexed_text import keyword_text
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


def keyword_rows(record: DocumentRecord, children: Iterable[ChildRecord]) -> Iterator[tuple[int, int, str, str]]:
    """What the keyword index holds of a document's children: key, document key, language, text.

    The same as when the document was added, so that an index written from the catalog equals the first.
    """
    for child in children:
        yield child.key, record.key, record.metadata.language, keyword_text(record.metadata.title, child, child)
