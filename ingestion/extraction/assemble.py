"""Draft blocks to a document's text: the only place that counts offsets."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Literal, NamedTuple

from ingestion.extraction.layout.letter_spacing import has_spaced_letters, with_joined_letters
from ingestion.extraction.runs import Look, Run, left_out, offset_after, standing
from ingestion.extraction.table_grid import GridCell, TableGrid
from rag_engine.messages import Message
from rag_engine.types.document import Block, BlockKind, Box, Line, StruckText

Joint = Literal[" ", "", "\n", "\n\n"]

# Symbol fonts put their bullets in the private use area, where nobody can search or read them.
_BULLETS = re.compile("[\uf0a7\uf0a8\uf0b7\uf0d8\uf0fc\uf076\uf02d]")
_MOST_NAMED = 20
_UNSEEN = re.compile("[\x00-\x08\x0e-\x1b\x7f\u200b\u2060\ufeff\ufffe\uffff]")
# The mark of an amendment in the law of the United Kingdom, which sticks to the word behind it: "[F1Secretary".
_AMENDED = re.compile(r"\[[CEFIMPX]\d{1,4}(?=[^\W\d_])")
_SURROGATES = re.compile("[\ud800-\udfff]")


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
class PastedPicture:
    """A picture in a package: its part, "" outside the file, and its size in points.

    Width and height are 0 if they are unknown.
    """

    part: str
    width: float = 0.0
    height: float = 0.0


@dataclass(frozen=True, slots=True)
class DraftBlock:
    """A paragraph, heading, table or note that has no offsets yet; a table with its cells.

    Its lines hold what stands, `left_out` the rest: words that are struck or hidden. A `picture` has no lines until it
    is read. The margin beside it has its `number`; what is `aside` is a note in the margin beside the next block.
    `places` are what stands side by side in a text of one row.
    """

    page: int
    kind: BlockKind
    lines: tuple[DraftLine, ...]
    font_size: float | None = None
    grid: TableGrid | None = None
    left_out: tuple[Run, ...] = ()
    picture: PastedPicture | None = None
    number: str = ""
    aside: bool = False
    places: tuple[GridCell, ...] = ()


@dataclass(frozen=True, slots=True)
class Draft:
    """A document without offsets yet, with the title that it declares.

    Its `pages` are chapters, slides or sheets if its format has these. Those of `ocr_pages` have pictures that OCR
    read, and `unread_pages` those of a file without any other text. `page_labels` are those of printed pages.
    """

    blocks: Sequence[DraftBlock]
    title: str = ""
    pages: int = 1
    warnings: tuple[Message, ...] = ()
    ocr_pages: tuple[int, ...] = ()
    unread_pages: tuple[int, ...] = ()
    page_labels: tuple[str, ...] = ()


def one_line(text: str) -> str:
    """Return the text on one line: composed characters, single spaces, nothing invisible, valid Unicode."""
    if not text.isprintable():
        # Surrogates, private use, controls and wide spaces are none of them printable.
        if not text.isascii():
            text = _SURROGATES.sub("\ufffd", _BULLETS.sub("•", text))
        text = _UNSEEN.sub("", text)
    if not text.isascii() and not unicodedata.is_normalized("NFC", text):
        text = unicodedata.normalize("NFC", text)
    if has_spaced_letters(text):
        text = with_joined_letters(text)
    if "[" in text:
        text = _AMENDED.sub(r"\g<0> ", text)
    return " ".join(text.split())


def paragraph(text: str | Iterable[Run], page: int = 1, kind: BlockKind = "text") -> DraftBlock:
    """Return a block of one line, for formats without geometry."""
    runs = [Run(text)] if isinstance(text, str) else list(text)
    return DraftBlock(page, kind, (DraftLine(standing(runs)),), left_out=left_out(runs))


def within(drafts: Iterable[DraftBlock], most: int) -> tuple[list[DraftBlock], bool]:
    """Return the blocks that fit in `most` characters, and whether all fit.

    A longer block keeps its first lines, a text of one long line its beginning.
    """
    kept: list[DraftBlock] = []
    left = most
    for draft in drafts:
        ends = list(accumulate(len(line.text) for line in draft.lines))
        fitting = bisect_right(ends, left)
        if fitting < len(ends):
            if not kept and not fitting:
                beginning = replace(draft.lines[0], text=draft.lines[0].text[:left])
                return [replace(draft, lines=(beginning,), grid=None)], False
            return [*kept, replace(draft, lines=draft.lines[:fitting], grid=None)], False
        kept.append(draft)
        left -= ends[-1] if ends else 0
    return kept, True


def too_long(most: int) -> Message:
    """Return the warning that only the beginning of a document was read."""
    return Message(
        "Only its first {most:,} characters were read and can be found; split it into smaller files.", most=most
    )


def unread_files(names: Sequence[str]) -> tuple[Message, ...]:
    """Return the warning that names the files in a file that were not read."""
    if not names:
        return ()
    named, more = ", ".join(map(one_line, names[:_MOST_NAMED])), len(names) - _MOST_NAMED
    if more > 0:
        return (Message("Attached files, which were not read: {names} and {count:,} more.", names=named, count=more),)
    return (Message("Attached files, which were not read: {names}.", names=named),)


def unread_comments(count: int) -> tuple[Message, ...]:
    """Return the warning that counts the comments of a file, which are no words of its document."""
    return (Message("Comments, left out because they are not part of the text: {count:,}.", count=count),) * bool(count)


class Assembled(NamedTuple):
    """A text with its lines and blocks, and with what is struck out of it."""

    text: str
    lines: tuple[Line, ...]
    blocks: tuple[Block, ...]
    struck: tuple[StruckText, ...]


def assemble(drafts: Iterable[DraftBlock]) -> Assembled:
    """Return the text of blocks; text[line.start:line.end] is the text of a line.

    Blocks are joined by a blank line; lines and blocks without a visible character vanish.

    >>> text, lines, *_ = assemble([paragraph("Article 1", kind="heading"), paragraph("Mayors  warn the public.")])
    >>> [text[line.start : line.end] for line in lines]
    ['Article 1', 'Mayors warn the public.']
    """
    parts: list[str] = []
    lines: list[Line] = []
    blocks: list[Block] = []
    struck: list[StruckText] = []
    position = 0
    for draft in drafts:
        separator = "\n\n" if blocks else ""
        start = None
        first = len(parts)
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
            rows = draft.grid.texts() if draft.grid is not None else ()
            blocks.append(Block(start, position, draft.page, draft.kind, draft.font_size, rows))
        if draft.left_out:
            # Behind the blank line before the block, which is the first of its parts.
            struck += _struck(draft, "".join(parts[first + 1 :]), position if start is None else start)
    return Assembled("".join(parts), tuple(lines), tuple(blocks), tuple(struck))


def _struck(draft: DraftBlock, text: str, start: int) -> Iterator[StruckText]:
    """Yield the struck words of a block whose text begins at `start`."""
    for run in draft.left_out:
        if run.look & Look.STRUCK:
            yield StruckText(start + offset_after(text, run.after), draft.page, one_line(run.text))
