"""What the catalog keeps of a file's text and layout, small enough to be kept for every document."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import get_args

import numpy as np

from rag_engine.types import Block, BlockKind, Box, Line

_KINDS: tuple[BlockKind, ...] = get_args(BlockKind)
_LINE = np.dtype([("start", "<i4"), ("end", "<i4"), ("page", "<i4"), ("box", "<f4", (4,))])
# Sizes in full precision: chunkers compare them, and must find again what they found at first.
_BLOCK = np.dtype([("start", "<i4"), ("end", "<i4"), ("page", "<i4"), ("kind", "u1"), ("font_size", "<f8")])


def pack_text(text: str) -> bytes:
    """The text compressed; lone surrogates cannot occur because extraction refuses them."""
    return zlib.compress(text.encode(), 6)


def unpack_text(packed: bytes) -> str:
    """The text of `pack_text`."""
    return zlib.decompress(packed).decode()


def pack_lines(lines: Sequence[Line]) -> bytes:
    """Lines as a compressed array of (start, end, page, box); a line without a box has NaN."""
    packed = np.zeros(len(lines), _LINE)
    for i, line in enumerate(lines):
        box = line.box
        packed[i] = (line.start, line.end, line.page, (box.x0, box.y0, box.x1, box.y1) if box else (np.nan,) * 4)
    return zlib.compress(packed.tobytes(), 6)


def unpack_lines(packed: bytes) -> tuple[Line, ...]:
    """The lines of `pack_lines`."""
    array = np.frombuffer(zlib.decompress(packed), _LINE)
    return tuple(
        Line(start, end, page, None if np.isnan(box[0]) else Box(*box))
        for start, end, page, box in zip(
            array["start"].tolist(), array["end"].tolist(), array["page"].tolist(), array["box"].tolist(), strict=True
        )
    )


def pack_blocks(blocks: Sequence[Block]) -> bytes:
    """Blocks as a compressed array of (start, end, page, kind, font size); an unknown size is NaN."""
    packed = np.zeros(len(blocks), _BLOCK)
    for i, block in enumerate(blocks):
        size = np.nan if block.font_size is None else block.font_size
        packed[i] = (block.start, block.end, block.page, _KINDS.index(block.kind), size)
    return zlib.compress(packed.tobytes(), 6)


def unpack_blocks(packed: bytes) -> tuple[Block, ...]:
    """The blocks of `pack_blocks`."""
    array = np.frombuffer(zlib.decompress(packed), _BLOCK)
    columns = (array[name].tolist() for name in ("start", "end", "page", "kind", "font_size"))
    return tuple(
        Block(start, end, page, _KINDS[kind], None if np.isnan(size) else size)
        for start, end, page, kind, size in zip(*columns, strict=True)
    )
