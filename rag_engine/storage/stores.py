"""The stores that hold a collection, and the names under which they keep a document."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from rag_engine.chunking.indexed_text import keyword_text
from rag_engine.protocols import SparseIndex, VectorFile, VectorIndex
from rag_engine.storage.catalog import Catalog, ChildRecord
from rag_engine.types import DocumentRecord


@dataclass(frozen=True, slots=True)
class Stores:
    """Everything that holds a collection for its one writer."""

    catalog: Catalog
    vectors: VectorFile
    dense: VectorIndex
    sparse: SparseIndex
    files: Path


def stored_name(files: Path, sha256: str, file: str) -> Path:
    """Return the path of a file's copy: under its own name, in a folder for its content."""
    return files / sha256[:12] / file


def stored_file(files: Path, record: DocumentRecord) -> Path:
    """Return the path of a document's copy."""
    return stored_name(files, record.sha256, record.file)


def keyword_rows(record: DocumentRecord, children: Iterable[ChildRecord]) -> Iterator[tuple[int, int, str, str]]:
    """Yield what the keyword index holds of a document's children: key, document key, language, text.

    The same as when the document was added, so that an index written from the catalog equals the first.
    """
    for child in children:
        yield child.key, record.key, record.metadata.language, keyword_text(record.metadata.title, child, child)
