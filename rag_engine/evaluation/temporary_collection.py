"""Temporary collection of an evaluation: real stores in a workspace that is removed afterwards."""

from __future__ import annotations

import hashlib
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from rag_engine.atomic_write import staging
from rag_engine.config import Config, GenerationConfig
from rag_engine.engine import Engine
from rag_engine.evaluation.datasets import CorpusDocument
from rag_engine.evaluation.vector_cache import CachedEmbedder
from rag_engine.types.document import Block, Document, ExtractedText, Line, Metadata

# Done, of how many, the present item.
MeasuringProgress = Callable[[int, int, str], None]

# Questions of a benchmark may be whole judgments.
_QUESTION_CHARACTERS = 1_000_000


@dataclass(frozen=True, slots=True)
class IndexedCorpus:
    """An engine over indexed documents; `names` gives the id of a document by its key.

    `encode_seconds` is the encoder's part of `index_seconds`. Both are small if vectors were kept from before.
    """

    engine: Engine
    names: Mapping[int, str]
    index_seconds: float
    encode_seconds: float


@contextmanager
def indexed(
    documents: Sequence[tuple[str, Document]], config: Config, embedder: CachedEmbedder, progress: MeasuringProgress
) -> Iterator[IndexedCorpus]:
    """Yield the collection of the documents, and remove it at the end.

    Documents are given with their ids. The settings of `config` count; its workspace is not touched. No language model
    is asked.
    """
    with staging(Path(tempfile.gettempdir(), "evaluation")) as folder:
        separate = replace(
            config,
            workspace=folder / "workspace",
            chroma_url="",
            catalog_url="",
            question_characters=_QUESTION_CHARACTERS,
            generation=GenerationConfig(),
        )
        engine = Engine(separate, embedder=embedder)
        try:
            started, encoded = time.perf_counter(), embedder.seconds
            with engine.indexer() as indexer:
                for done, (id, document) in enumerate(documents):
                    progress(done, len(documents), id)
                    indexer.add(document, document.sha256)
                indexer.finish()
            progress(len(documents), len(documents), "")
            seconds, encoding = time.perf_counter() - started, embedder.seconds - encoded
            ids = {document.source: id for id, document in documents}
            names = {record.key: ids[record.source] for record in engine.collection.documents()}
            yield IndexedCorpus(engine, names, seconds, encoding)
        finally:
            engine.close()


def as_document(document: CorpusDocument) -> Document:
    """Return a corpus document as one of the collection: its title as a heading, a blank line, its text."""
    text, title, body = document.whole, document.title.strip(), document.text.strip()
    blocks = [Block(0, len(title), 1, "heading")] if title else []
    if body:
        blocks.append(Block(len(text) - len(body), len(text), 1, "text"))
    lines = tuple(Line(block.start, block.end, 1, None) for block in blocks)
    extracted = ExtractedText(text, 1, lines, tuple(blocks), "text/plain", title)
    # Two documents may have the same text, and both can be found.
    sha256 = hashlib.sha256(f"{document.id}\n{text}".encode("utf-8", "surrogatepass")).hexdigest()
    metadata = Metadata(title=title, language=document.language)
    return Document(f"dataset:{document.id}", document.id, sha256, metadata, extracted)
