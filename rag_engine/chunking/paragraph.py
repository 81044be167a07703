"""Paragraph chunks: a title and the text below it are one parent, by the layout of the pages.

After Mazzitelli and Zimeo, "Empowering RAG for complex documents with paragraph-based chunking". Ours keeps the path
of titles above each parent, and neither a page break nor a footnote ends one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from rag_engine.chunking.headings import Title, shared_headings, titles
from rag_engine.chunking.parents import filled, parents_of, solid
from rag_engine.config import ChunkSizes
from rag_engine.text.sentences import Span, sentence_spans
from rag_engine.types.document import Block, Line
from rag_engine.types.passage import Parent

_FEWEST_CONTENTS = 3
_PARAGRAPH = re.compile(r"\S(?:.|\n(?!\s*\n))*")


@dataclass(frozen=True, slots=True)
class _Passage:
    """Characters [start, end) below a title, and the path to it.

    `untold` is true if they are only titles. The titles at its beginning end at `told_from`.
    """

    start: int
    end: int
    path: tuple[str, ...]
    untold: bool = False
    told_from: int = 0


def paragraph_chunks(
    text: str, language: str, *, blocks: Sequence[Block], lines: Sequence[Line], title: str, config: ChunkSizes
) -> list[Parent]:
    """Return parents in reading order: each a title with its text, and its heading path.

    Text before the first title has an empty path, as has a document without titles. A title with nothing below it joins
    the text that follows. So does a passage shorter than `child_minimum`; at the end of a chapter it joins the text
    before. A passage longer than `parent_split * parent_size` is cut where its paragraphs end, into parents of about
    `parent_size`. Parents do not overlap. `title` is the document's, which is on no path. Without blocks, blank lines
    part paragraphs.
    """
    sentences = sentence_spans(text, language)
    blocks = blocks or [Block(*found.span(), 1, "text") for found in _PARAGRAPH.finditer(text)]
    passages = _lengthened(_told(_passages(text, titles(text, blocks, lines, title)), config), config)
    levels = [[block.end for block in blocks], [end for _, end in sentences], range(1, len(text))]
    parts = [
        (part, passage.path) for passage in passages for part in solid(text, _parts(passage, levels, config), config)
    ]
    parents = parents_of(text, [part for part, _ in parts], sentences, config)
    return [
        replace(parent, headings=path, depth=max(0, len(path) - 1))
        for parent, (_, path) in zip(parents, parts, strict=True)
    ]


def _passages(text: str, found: Sequence[Title]) -> Iterator[_Passage]:
    """Yield the text before the first title, then each title with the text before the next."""
    starts = [*(title.start for title in found), len(text)]
    if text[: starts[0]].strip():
        yield _Passage(0, starts[0], ())
    for title, beyond in zip(found, starts[1:], strict=True):
        yield _Passage(
            title.start, beyond, title.path, untold=not text[title.end : beyond].strip(), told_from=title.end
        )


def _told(passages: Iterator[_Passage], config: ChunkSizes) -> Iterator[_Passage]:
    """Yield the passages, each joined by the titles before it that have nothing below them.

    Many titles in a row that do not lead to the passage are a list of contents, which stays by itself.
    """
    held: list[_Passage] = []
    for passage in passages:
        if passage.untold:
            held.append(passage)
            continue
        place = len(held)
        while place and held[place - 1].path == passage.path[: len(held[place - 1].path)]:
            place -= 1
        if place >= _FEWEST_CONTENTS and held[place - 1].end - held[0].start >= config.child_minimum:
            yield _together(held[:place])
            held = held[place:]
        yield replace(passage, start=held[0].start) if held else passage
        held = []
    if held:
        yield _together(held)


def _lengthened(passages: Iterator[_Passage], config: ChunkSizes) -> list[_Passage]:
    """Return the passages, those shorter than `child_minimum` joined to the next.

    At the end of a chapter a short passage joins the one before.
    """
    joined: list[_Passage] = []
    short: _Passage | None = None
    for following in passages:
        passage = following
        if short is not None:
            chapter = short.path[:-1]
            if joined and following.path[: len(chapter)] != chapter:
                joined[-1] = _together([joined[-1], short])
            else:
                leads = following.path[: len(short.path)] == short.path
                passage = replace(following, start=short.start) if leads else _together([short, following])
        short = passage if passage.end - passage.start < config.child_minimum else None
        if short is None:
            joined.append(passage)
    if short is not None:
        joined[-1:] = [_together([*joined[-1:], short])]
    return joined


def _together(passages: Sequence[_Passage]) -> _Passage:
    """Return neighbours as one passage, below the titles that they share."""
    path = shared_headings(*(passage.path for passage in passages))
    return _Passage(passages[0].start, passages[-1].end, path, told_from=passages[0].told_from)


def _parts(passage: _Passage, levels: Sequence[Sequence[int]], config: ChunkSizes) -> list[Span]:
    """Return the passage, or its parts if it is much longer than a parent."""
    if passage.end - passage.start <= config.parent_split * config.parent_size:
        return [(passage.start, passage.end)]
    parts: list[Span] = []
    start = passage.start
    for _, end in filled((passage.start, passage.end), levels, config.parent_size):
        # A title is not cut off from the long text below it.
        if end - start >= config.child_minimum and end > passage.told_from:
            parts.append((start, end))
            start = end
    if start < passage.end:
        # A passage of titles alone is one part.
        parts[-1:] = [(parts[-1][0] if parts else start, passage.end)]
    return parts
