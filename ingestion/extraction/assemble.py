"""Draft blocks to a document's text: the only place that counts offsets."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from rag_engine.types import Block, BlockKind, Box, Line

Joint = Literal[" ", "", "\n"]

# Symbol fonts put their bullets in the private use area, where nobody can search or read them.
_BULLETS = re.compile("[\uf0a7\uf0a8\uf0b7\uf0d8\uf0fc\uf076\uf02d]")
_UNSEEN = re.compile("[\x00-\x08\x0e-\x1b\x7f\u200b\u2060\ufeff\ufffe\uffff]")
_SURROGATES = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class DraftLine:
    """A line as the format gave it; `joint` stands between it and the next line of its block."""

    text: str
    box: Box | None = None
    joint: Joint = " "


@dataclass(frozen=True, slots=True)
class DraftBlock:
    """A paragraph, heading, table or note that has no offsets yet."""

    page: int
    kind: BlockKind
    lines: tuple[DraftLine, ...]
    font_size: float | None = None


def tidy(text: str) -> str:
    """The text on one line: composed characters, single spaces, nothing invisible, valid Unicode."""
    if not text.isascii():
        text = unicodedata.normalize("NFC", _SURROGATES.sub("\ufffd", _BULLETS.sub("•", text)))
    if not text.isprintable():
        text = _UNSEEN.sub("", text)
    return " ".join(text.split())


def paragraph(text: str, page: int = 1, kind: BlockKind = "text") -> DraftBlock:
    """A block of one line, for formats without geometry."""
    return DraftBlock(page, kind, (DraftLine(text),))


def table(rows: Iterable[Iterable[str]], page: int = 1) -> DraftBlock:
    """A block with one line for each row that says anything, its cells joined by " | "."""
    lines = (" | ".join(map(tidy, row)).rstrip(" |") for row in rows)
    return DraftBlock(page, "table", tuple(DraftLine(line, joint="\n") for line in lines if line))


def assemble(drafts: Iterable[DraftBlock]) -> tuple[str, tuple[Line, ...], tuple[Block, ...]]:
    """The text, with its lines and blocks, such that text[line.start:line.end] is what stands on that line.

    Blocks are joined by a blank line; lines and blocks without a visible character vanish.
    """
    parts: list[str] = []
    lines: list[Line] = []
    blocks: list[Block] = []
    position = 0
    for draft in drafts:
        separator = "\n\n" if blocks else ""
        start = None
        for line in draft.lines:
            text = tidy(line.text)
            if not text:
                continue
            begin = position + len(separator)
            position = begin + len(text)
            parts += (separator, text)
            lines.append(Line(begin, position, draft.page, line.box))
            start = begin if start is None else start
            separator = line.joint
        if start is not None:
            blocks.append(Block(start, position, draft.page, draft.kind, draft.font_size))
    return "".join(parts), tuple(lines), tuple(blocks)
