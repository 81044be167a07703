"""Parents, with their children, of the spans that a strategy has chosen."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from rag_engine.chunking.semantic import cut_children
from rag_engine.config import ChunkSizes
from rag_engine.text.sentences import Span, stripped
from rag_engine.types.passage import Parent


def parents_of(text: str, spans: Iterable[Span], sentences: Sequence[Span], config: ChunkSizes) -> list[Parent]:
    """Return a parent, with its children, for each of the spans [start, end) as `solid` leaves them.

    `sentences` are those of the whole text. A sentence that crosses the edge of a span is cut there.
    """
    starts, ends = [start for start, _ in sentences], [end for _, end in sentences]
    parents: list[Parent] = []
    for start, end in solid(text, spans, config):
        inside = sentences[bisect_right(ends, start) : bisect_left(starts, end)]
        clipped = [(max(first, start) - start, min(beyond, end) - start) for first, beyond in inside]
        children = cut_children(text[start:end], clipped, config)
        parents.append(Parent(len(parents), start, end, text[start:end], children))
    return parents


def solid(text: str, spans: Iterable[Span], config: ChunkSizes) -> Iterator[Span]:
    """Yield the spans without white space at their ends, parted at wide white space.

    White space wider than a child's minimum parts a span: a child across it would be nearly empty. A span of white
    space alone vanishes.
    """
    gap = re.compile(rf"\s{{{config.child_minimum + 1},}}")
    for start, end in spans:
        first = start
        for found in (*gap.finditer(text, start, end), None):
            piece = stripped(text, first, found.start() if found else end)
            if piece[0] < piece[1]:
                yield piece
            first = found.end() if found else end


def filled(span: Span, levels: Sequence[Sequence[int]], size: int) -> Iterator[Span]:
    """Yield spans of at most `size` characters that together make the span.

    `levels` are sorted places to cut at, the preferred ones first. A span that is too long is cut at the first level, a
    piece that is still too long at the second, and so on. Pieces of one level stay together as far as they fit. The
    last level must be fine enough for the size.

    >>> list(filled((0, 10), [[4, 6]], size=6))
    [(0, 6), (6, 10)]
    """
    start, end = span
    if end - start <= size:
        yield span
        return
    cuts = levels[0][bisect_right(levels[0], start) : bisect_left(levels[0], end)]
    held = start
    for first, beyond in pairwise((start, *cuts, end)):
        if held < first and beyond - held > size:
            yield held, first
            held = first
        if beyond - held > size:
            yield from filled((first, beyond), levels[1:], size)
            held = beyond
    if held < end:
        yield held, end
