"""Small stand-ins: encoders of counted words, a source made of a text."""

import re
import zlib
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from ingestion.add_files import add_paths
from rag_engine.config import Config, read_config
from rag_engine.disk_backends import open_backends
from rag_engine.engine import Engine
from rag_engine.errors import BackendError
from rag_engine.protocols import StorageBackends, Vectors
from rag_engine.storage.catalog import open_catalog
from rag_engine.storage.stores import Stores
from rag_engine.storage.vector_file import VectorFile
from rag_engine.types.document import DocumentRecord, Metadata
from rag_engine.types.evidence import Evidence, QueryPlan
from rag_engine.types.passage import Hit, Source


class CountingEmbedder:
    """Vectors of counted words: texts that share words are near. Counts what it encodes."""

    name = "counting"
    dimension = 256
    prefixes = ("", "")
    execution = "test"

    def __init__(self) -> None:
        self.encoded = 0

    def encode_passages(self, texts: Sequence[str]) -> Vectors:
        self.encoded += len(texts)
        vectors = np.zeros((len(texts), self.dimension), dtype=np.float32)
        for row, text in enumerate(texts):
            for word in re.findall(r"\w+", text.casefold()):
                vectors[row, zlib.crc32(word[:5].encode()) % self.dimension] += 1
        scaled: Vectors = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
        return scaled

    def encode_queries(self, texts: Sequence[str]) -> Vectors:
        return self.encode_passages(texts)

    def count_tokens(self, text: str) -> int:
        return len(text) // 4 + 2


class OtherEmbedder(CountingEmbedder):
    """The same vectors under another name."""

    name = "another"


class AwayEmbedder(CountingEmbedder):
    """An encoder whose questions fail."""

    def encode_queries(self, texts: Sequence[str]) -> Vectors:
        raise BackendError("The encoder is away.", retryable=True)


def unread(workspace: Path) -> Config:
    """Return settings under which no model reads what a search finds, which takes it a second."""
    config = read_config(workspace)
    return replace(config, reader="none", retrieval=replace(config.retrieval, rerank=False))


@pytest.fixture(scope="session")
def counted_workspace(small_documents: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a workspace with the three plans and an encoder of counted words, which no test changes."""
    workspace = tmp_path_factory.mktemp("counted") / "workspace"
    with closing(Engine(read_config(workspace), embedder=CountingEmbedder())) as engine:
        add_paths([small_documents], engine)
    return workspace


@pytest.fixture
def embedder() -> CountingEmbedder:
    return CountingEmbedder()


@pytest.fixture
def backends(tmp_path: Path) -> Iterator[StorageBackends]:
    """Yield the real stores of a workspace without documents."""
    opened = open_backends(read_config(tmp_path), "test")
    yield opened
    opened.close()


@pytest.fixture
def stores(tmp_path: Path, embedder: CountingEmbedder, backends: StorageBackends) -> Iterator[Stores]:
    """Everything that holds the collection of an empty workspace."""
    catalog = open_catalog(tmp_path)
    vectors = VectorFile(tmp_path / "vectors", embedder.name, embedder.dimension)
    indexes = backends.dense(1), backends.sparse(1, writable=True)
    yield Stores(catalog, vectors, *indexes, tmp_path / "files", tmp_path / "drawings")
    catalog.close()


def make_source(
    n: int,
    text: str,
    *,
    hits: Sequence[tuple[int, int]] = (),
    start: int = 1000,
    title: str = "",
    authority: str = "Ministry",
    language: str = "en",
) -> Source:
    """Return a source of one document, with hits at these places of its text, else the whole text."""
    document = DocumentRecord(
        key=n, document_id=f"{n:012x}", source=f"/in/{n}.pdf", file=f"{n}.pdf", sha256=f"{n:064x}",
        media_type="application/pdf", pages=9, ocr_pages=0, parents=1, children=1, characters=len(text),
        added="2026-11-01",
        metadata=Metadata(title or f"Report {n}", language, authority=authority, hazards=("Flood",), year=2019 + n),
    )  # fmt: skip
    found = tuple(
        Hit(
            child_id=f"{n:012x}_p0_c{index}", document=document, start=start + first, end=start + last,
            text=text[first:last], page=1, last_page=1, cosine=0.8, similarity=0.8, tier="strong",
            dense_rank=index + 1, bm25=None, sparse_rank=None, fused=0.5,
        )
        for index, (first, last) in enumerate(hits or [(0, len(text))])
    )  # fmt: skip
    return Source(n, document, start, start + len(text), text, 1, 1, found)


def make_evidence(
    question: str, sources: Sequence[Source], *, language: str = "en", instructions: str = ""
) -> Evidence:
    """Return what was found for a question: the sources and their hits."""
    plan = QueryPlan(question, language, (question,), output_instructions=instructions)
    return Evidence(plan, tuple(hit for source in sources for hit in source.hits), tuple(sources))
