"""Properties of the parents and children of every strategy, and texts to try them on."""

import re
import zlib
from collections.abc import Sequence

import numpy as np
from hypothesis import strategies as st

from rag_engine.config import ChunkSizes
from rag_engine.protocols import Vectors
from rag_engine.types.document import Block, BlockKind
from rag_engine.types.passage import Parent

DEFAULT = ChunkSizes()
SMALL = ChunkSizes(
    parent_size=400, parent_overlap=40, child_size=200, child_overlap=30, child_minimum=20, fixed_words=30,
    minimum_gap=2, window=2, fixed_overlap=5, maximum_words=12, minimum_words=6, overlap_words=4,
)  # fmt: skip
Piece = tuple[str, BlockKind, float | None, int]
CONFIGS = st.sampled_from([DEFAULT, SMALL])

_ALPHABETS = st.sampled_from(
    [
        "abcdeé. ",
        "Дж. Ж\n",
        "字水洪。、",
        "नमस्ते। \n",
        "عربي؟. ",
        "ab. \r\n",
        "•-12.;( )\n",
        "x",
        " \n\t\u00a0",
        "aB.     \n\n\n",
        "1. A)",
    ]
)
_PIECES = _ALPHABETS.flatmap(lambda letters: st.text(alphabet=letters, min_size=1, max_size=60))
TEXTS = st.lists(st.tuples(_PIECES, st.integers(1, 120)), max_size=5).map(
    lambda parts: "".join(piece * times for piece, times in parts)
)


def hash_encoder(texts: Sequence[str]) -> Vectors:
    """Bags of hashed words."""
    vectors = np.zeros((len(texts), 64), dtype=np.float32)
    for row, text in enumerate(texts):
        for word in re.findall(r"\w+", text.lower()):
            vectors[row, zlib.crc32(word.encode()) % 64] += 1
    return vectors


def check(text: str, parents: Sequence[Parent], config: ChunkSizes) -> None:
    """Fail where the parents or children leave out a character, are not of the text, or not in order."""
    assert [parent.index for parent in parents] == list(range(len(parents)))
    assert not uncovered(text, [(parent.start, parent.end) for parent in parents]).strip()
    assert [parent.start for parent in parents] == sorted(parent.start for parent in parents)
    for parent in parents:
        assert parent.text == text[parent.start : parent.end] == parent.text.strip() != ""
        assert [child.index for child in parent.children] == list(range(len(parent.children)))
        assert not uncovered(parent.text, [(child.start, child.end) for child in parent.children]).strip()
        for child in parent.children:
            assert child.text == parent.text[child.start : child.end]
            assert len(child.text) <= config.child_size + config.child_minimum


def uncovered(text: str, spans: Sequence[tuple[int, int]]) -> str:
    """Return what of the text lies in none of the ordered spans."""
    left, covered = [], 0
    for start, end in spans:
        left.append(text[covered:start])
        covered = max(covered, end)
    return "".join([*left, text[covered:]])


def laid_out(*pieces: Piece) -> tuple[str, list[Block]]:
    """Return a text and its blocks, of (words, kind, type size in points, page)."""
    text, blocks = "", []
    for words, kind, size, page in pieces:
        start = len(text) + 2 if text else 0
        text = f"{text}\n\n{words}" if text else words
        blocks.append(Block(start, len(text), page, kind, size))
    return text, blocks
