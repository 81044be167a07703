"""The catalog: values come out as they went in."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from rag_engine.storage.catalog import pack_blocks, pack_lines, pack_text, unpack_blocks, unpack_lines, unpack_text
from rag_engine.types import Block, Box, Line

OFFSETS = st.integers(0, 2**31 - 1)
NUMBERS = st.floats(-1e4, 1e4, width=32)
LINES = st.builds(Line, OFFSETS, OFFSETS, OFFSETS, st.none() | st.builds(Box, NUMBERS, NUMBERS, NUMBERS, NUMBERS))
SIZES = st.none() | st.floats(0, 200)
BLOCKS = st.builds(Block, OFFSETS, OFFSETS, OFFSETS, st.sampled_from(["heading", "text", "table", "note"]), SIZES)


@given(st.lists(LINES, max_size=5), st.lists(BLOCKS, max_size=5), st.text())
def test_text_lines_and_blocks_are_kept_to_the_last_digit(lines: list[Line], blocks: list[Block], text: str) -> None:
    assert unpack_lines(pack_lines(lines)) == tuple(lines)
    assert unpack_blocks(pack_blocks(blocks)) == tuple(blocks)
    text = text.encode("utf-8", "replace").decode()
    assert unpack_text(pack_text(text)) == text


def test_ten_thousand_blocks_take_less_room_than_their_text() -> None:
    sizes = np.random.default_rng(0).choice([9.0, 10.5, 14.0], 10_000)
    blocks = [Block(i * 300, i * 300 + 280, i // 10 + 1, "text", float(size)) for i, size in enumerate(sizes)]
    assert len(pack_blocks(blocks)) < 100_000
