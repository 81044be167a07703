"""Segments of a document: the result of a strategy of chunking, as a reader sees it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from rag_engine.chunking.chunk import chunk
from rag_engine.config import ChunkingConfig, Strategy
from rag_engine.protocols import Embedder
from rag_engine.storage.catalog import Catalog, ChildRecord
from rag_engine.text.sentences import Span
from rag_engine.types.document import DocumentRecord


@dataclass(frozen=True, slots=True)
class Segment:
    """A parent with its place in the document and the places of its children.

    It has the characters [start, end) of the text.
    """

    start: int
    end: int
    section: str
    headings: tuple[str, ...]
    children: tuple[Span, ...]


def stored_segments(children: Iterable[ChildRecord]) -> tuple[Segment, ...]:
    """Return the segments that the collection searches, from the children of a document in reading order."""
    segments: list[Segment] = []
    for _, group in groupby(children, key=lambda child: child.parent.key):
        those = list(group)
        parent = those[0].parent
        spans = tuple((parent.start + one.start, parent.start + one.end) for one in those)
        segments.append(Segment(parent.start, parent.end, parent.section, parent.headings, spans))
    return tuple(segments)


def cut_document(
    catalog: Catalog,
    document: DocumentRecord,
    strategy: Strategy,
    load_embedder: Callable[[], Embedder],
    config: ChunkingConfig,
) -> tuple[Segment, ...]:
    """Return the segments that a strategy makes of a document.

    The encoder is loaded only for a strategy that needs it.
    """
    extracted = catalog.extracted(document)
    chunked = chunk(
        extracted.text,
        document.metadata.language,
        title=document.metadata.title,
        blocks=extracted.blocks,
        lines=extracted.lines,
        encode=lambda texts: load_embedder().encode_passages(texts),
        config=replace(config, strategy=strategy),
    )
    return tuple(
        Segment(
            parent.start,
            parent.end,
            parent.section,
            parent.headings,
            tuple((parent.start + child.start, parent.start + child.end) for child in parent.children),
        )
        for parent in chunked.parents
    )


def segments_within(segments: Sequence[Segment], span: Span) -> tuple[Segment, ...]:
    """Return the segments that share characters with a span of the text."""
    return tuple(segment for segment in segments if segment.start < span[1] and segment.end > span[0])
