"""Parents that a page's layout shows: a title with the text below it (spec in progress)."""

from __future__ import annotations

from collections.abc import Sequence

from rag_engine.config import ChunkingConfig
from rag_engine.types import Block, Line, Parent


def paragraph_chunks(
    text: str, language: str, *, blocks: Sequence[Block], lines: Sequence[Line], title: str, config: ChunkingConfig
) -> list[Parent]:
    raise NotImplementedError
