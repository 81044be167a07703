"""Parents, with their children, of spans that some strategy has chosen."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence

from rag_engine.chunking.semantic import cut_children
from rag_engine.config import ChunkingConfig
from rag_engine.sentences import Span
from rag_engine.types import Parent


def parents_of(text: str, spans: Iterable[Span], sentences: Sequence[Span], config: ChunkingConfig) -> list[Parent]:
    """A parent for each span [start, end) that holds anything but white space, in order, with its children.

    `sentences` are those of the whole text; what lies beyond a span of one that crosses its edge is left out.
    """
    starts, ends = [start for start, _ in sentences], [end for _, end in sentences]
    parents: list[Parent] = []
    for span in spans:
        start, end = stripped(text, *span)
        if start == end:
            continue
        inside = sentences[bisect_right(ends, start) : bisect_left(starts, end)]
        clipped = [(max(first, start) - start, min(beyond, end) - start) for first, beyond in inside]
        parents.append(
            Parent(len(parents), start, end, text[start:end], cut_children(text[start:end], clipped, config))
        )
    return parents


def stripped(text: str, start: int, end: int) -> Span:
    """The span without white space at its ends."""
    piece = text[start:end]
    first = start + len(piece) - len(piece.lstrip())
    return first, first + len(piece.strip())
