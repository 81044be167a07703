"""Draft blocks to a document's text: the only place that counts offsets."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from rag_engine.types import Block, BlockKind, Box, Line

Joint = Literal[" ", "", "\n"]

# Symbol fonts put their bullets in the private use area, where nobody can search or read them.
_BULLETS = re.compile("[\uf0a7\uf0a8\uf0b7\uf0d8\uf0fc\uf076\uf02d]")
_UNSEEN = re.compile("[\x00-\x08\x0e-\x1b\x7f\u200b\u2060\ufeff\ufffe\uffff]")
_SURROGATES = re.compile("[\ud800-\udfff]")
# A child holds about 1,200 characters: with its header every 1,000, each part of a long table says what its columns
# are. A header longer than this would be most of every part.
_HEADER_EVERY = 1_000
_LONGEST_HEADER = 400
_LONGEST_NAME = 80
_LATEST_HEADER = 5


@dataclass(frozen=True, slots=True)
class DraftLine:
    """A line as the format gave it; `joint` is between it and the next line of its block.

    `page` is 0 on the page where its block begins.
    """

    text: str
    box: Box | None = None
    joint: Joint = " "
    page: int = 0


@dataclass(frozen=True, slots=True)
class DraftBlock:
    """A paragraph, heading, table or note that has no offsets yet; `header` names the columns of a table."""

    page: int
    kind: BlockKind
    lines: tuple[DraftLine, ...]
    font_size: float | None = None
    header: tuple[DraftLine, ...] = ()


@dataclass(frozen=True, slots=True)
class Draft:
    """A document that has no offsets yet, with the title that it declares; its chapters, slides or sheets are pages."""

    blocks: Sequence[DraftBlock]
    title: str = ""
    pages: int = 1
    warnings: tuple[str, ...] = ()


def one_line(text: str) -> str:
    """Return the text on one line: composed characters, single spaces, nothing invisible, valid Unicode."""
    if not text.isprintable():
        # Surrogates, private use, controls and wide spaces are none of them printable.
        if not text.isascii():
            text = _SURROGATES.sub("\ufffd", _BULLETS.sub("•", text))
        text = _UNSEEN.sub("", text)
    if not text.isascii() and not unicodedata.is_normalized("NFC", text):
        text = unicodedata.normalize("NFC", text)
    return " ".join(text.split())


def paragraph(text: str, page: int = 1, kind: BlockKind = "text") -> DraftBlock:
    """Return a block of one line, for formats without geometry."""
    return DraftBlock(page, kind, (DraftLine(text),))


def table(rows: Iterable[Iterable[str]], page: int = 1, headers: int | None = None) -> DraftBlock:
    """Return a block with one line for each row that says anything, its cells joined by " | ".

    The first `headers` rows name the columns and are repeated every thousand characters; None when the format does
    not say: then the first row does if it reads like names.
    """
    kept = [(index, line) for index, row in enumerate(rows) if (line := " | ".join(map(one_line, row)).rstrip(" |"))]
    lines = [DraftLine(line, joint="\n") for _, line in kept]
    if headers is None:
        # Above its header a sheet may have a title and a date.
        first = next((at for at, (_, line) in enumerate(kept[:_LATEST_HEADER]) if _reads_like_names(line)), 0)
        beyond = first + 1 if kept and _reads_like_names(kept[first][1]) else first
    else:
        first, beyond = 0, sum(index < headers for index, _ in kept)
    header = tuple(lines[first:beyond])
    return DraftBlock(page, "table", (*lines[:first], *with_header(header, lines[beyond:])), header=header)


def _reads_like_names(row: str) -> bool:
    names = row.split(" | ")
    return len(names) > 1 and all(len(name) <= _LONGEST_NAME and not name[:1].isdigit() for name in names)


def with_header(header: Sequence[DraftLine], rows: Sequence[DraftLine]) -> tuple[DraftLine, ...]:
    """Return the lines of a table: its header, and its rows with the header again every thousand characters."""
    length = sum(len(line.text) + 1 for line in header)
    if not header or length > _LONGEST_HEADER:
        return (*header, *rows)
    lines = list(header)
    since = length
    for row in rows:
        if since > length and since + len(row.text) + 1 > _HEADER_EVERY:
            lines += header
            since = length
        lines.append(row)
        since += len(row.text) + 1
    return tuple(lines)


def assemble(drafts: Iterable[DraftBlock]) -> tuple[str, tuple[Line, ...], tuple[Block, ...]]:
    """Return the text, with its lines and blocks, such that text[line.start:line.end] is the text of that line.

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
            text = one_line(line.text)
            if not text:
                continue
            begin = position + len(separator)
            position = begin + len(text)
            parts += (separator, text)
            lines.append(Line(begin, position, line.page or draft.page, line.box))
            start = begin if start is None else start
            separator = line.joint
        if start is not None:
            blocks.append(Block(start, position, draft.page, draft.kind, draft.font_size))
    return "".join(parts), tuple(lines), tuple(blocks)
