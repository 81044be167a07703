"""What an index remembers of the encoder that made it; an index is only read with the encoder of its note."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from rag_engine.calibration import Calibration, calibrate, calibration_from_dict, read_pairs
from rag_engine.chunking.indexed_text import keyword_text
from rag_engine.errors import WorkspaceError
from rag_engine.protocols import Embedder, SparseIndex, VectorIndex
from rag_engine.storage.catalog import Catalog, ChildRecord
from rag_engine.storage.vector_file import VectorStore
from rag_engine.types import DocumentRecord


@dataclass(frozen=True, slots=True)
class IndexManifest:
    """Model, size and prefixes of an index, and the scale of its cosines."""

    name: str
    dimension: int
    prefixes: tuple[str, str]
    calibration: Calibration

    def to_json(self) -> str:
        """The note as it is kept in the catalog."""
        known = {"name": self.name, "dimension": self.dimension, "prefixes": list(self.prefixes)}
        return json.dumps(known | {"calibration": self.calibration.to_dict()})


def manifest_of(embedder: Embedder) -> IndexManifest:
    """The note of an encoder, whose scale is measured now."""
    calibration = calibrate(embedder, read_pairs())
    return IndexManifest(embedder.name, embedder.dimension, embedder.prefixes, calibration)


def read_manifest(kept: str) -> IndexManifest | None:
    """The note of `to_json`; None for an index that nothing was put into yet."""
    if not kept:
        return None
    values = json.loads(kept)
    query, passage = values["prefixes"]
    calibration = calibration_from_dict(values["calibration"])
    return IndexManifest(values["name"], values["dimension"], (query, passage), calibration)


def check(note: IndexManifest | None, embedder: Embedder, workspace: Path) -> None:
    """Nothing; WorkspaceError where the index was made by another encoder."""
    mine = (embedder.name, embedder.dimension, tuple(embedder.prefixes))
    if note is not None and mine != (note.name, note.dimension, note.prefixes):
        raise WorkspaceError(
            f"Workspace {workspace} was indexed with {note.name} ({note.dimension} dimensions), "
            f"not with {embedder.name} ({embedder.dimension}).",
            help="Set SEXTANT_ENCODER to the first, or run `sextant rebuild --encode` to index it anew.",
        )


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
