"""Earlier mails that a reply quotes: where they begin, and which of them stand elsewhere in the file."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from enum import Enum, auto
from itertools import groupby
from typing import NamedTuple

from lxml import etree

from ingestion.extraction.assemble import DraftBlock, one_line
from ingestion.extraction.formats.html import tree_blocks
from ingestion.extraction.formats.text import text_blocks
from ingestion.patterns import load_patterns
from ingestion.web.html import parse
from ingestion.web.styles import inline_styles

_PATTERNS = load_patterns("mail")
_MARK = re.compile(r"(?:>\s?)+")
# "> 5 mg/l" on a line by itself is a limit and no quotation.
_COMPARED = re.compile(r">\s?\d")
# As in "On 6 May 2025 at 09:15, Anna wrote:".
_ATTRIBUTION = re.compile(r"(?=.{0,250}\d).{5,300}[:：]", re.DOTALL)
_SENTENCE_END = re.compile(r"(?<=[.!?:;])\s+")
_QUOTES = (
    "//blockquote[@type='cite'] | //*[@id='divRplyFwdMsg' or @id='appendonsend' or contains(@class, 'gmail_quote')"
    " or contains(@class, 'yahoo_quoted') or contains(@class, 'protonmail_quote')]"
)
# Characters that nobody sees and no text keeps.
_OPENED, _CLOSED = "\u2060\u200b\u2060", "\u200b\u2060\u200b"
_FIELDS = 3
_LONGEST_HEAD = 1_000


class MailPart(Enum):
    """Kind of a block: words of the mail's writer, the head of a quoted mail, the words of that."""

    OWN = auto()
    HEAD = auto()
    QUOTED = auto()


class Piece(NamedTuple):
    """A block of a mail, and what it is."""

    block: DraftBlock
    part: MailPart = MailPart.OWN


def pieces_of_text(text: str) -> list[Piece]:
    """Return the paragraphs of a plain body; those behind ">" are quoted, without it."""
    pieces: list[Piece] = []
    for is_quoted, lines in groupby(_lines(text.splitlines()), key=lambda line: line[0]):
        part = MailPart.QUOTED if is_quoted else MailPart.OWN
        pieces += (Piece(block, part) for block in text_blocks("\n".join(line for _, line in lines)))
    return _with_heads(pieces)


def _lines(lines: Sequence[str]) -> Iterator[tuple[bool, str]]:
    """Yield the lines of a body, and whether each is quoted; what announces a quotation is a paragraph."""
    marked = [line.startswith(">") for line in lines]
    for at, line in enumerate(lines):
        around = marked[max(0, at - 1) : at] + marked[at + 1 : at + 2]
        if marked[at] and (any(around) or not _COMPARED.match(line)):
            yield True, _MARK.sub("", line, count=1)
            continue
        if _PATTERNS["divider"].fullmatch(line) or (line.strip() and _announces(lines, marked, at)):
            yield False, ""
        yield False, line


def _announces(lines: Sequence[str], marked: Sequence[bool], at: int) -> bool:
    """Return whether a line, or it and the next, announce the quotation below it."""
    for end in (at + 1, at + 2):
        below = end + 1 if end < len(lines) and not lines[end].strip() else end
        if below < len(lines) and marked[below] and not any(marked[at:end]):
            return bool(re.search(r"\d{4}|\d:\d\d", lines[at])) and lines[end - 1].rstrip().endswith((":", "："))
    return False


def pieces_of_page(page: str) -> list[Piece]:
    """Return the blocks of a body in HTML; those in the elements for quotations are quoted."""
    root = parse(page)
    if root is None:
        return []
    for element in root.xpath(_QUOTES):
        opening, closing = etree.Element("p"), etree.Element("p")
        opening.text, opening.tail, element.text = _OPENED, element.text, None
        closing.text = _CLOSED
        element.insert(0, opening)
        element.append(closing)
    pieces, depth = [], 0
    inline_styles(root)
    for block in tree_blocks(root, of_site=False).blocks:
        text = "".join(line.text for line in block.lines)
        depth += text.count(_OPENED)
        pieces.append(Piece(block, MailPart.QUOTED if depth > 0 else MailPart.OWN))
        depth -= text.count(_CLOSED)
    return _with_heads([piece for piece in pieces if _words(piece.block)])


def pieces_of_blocks(blocks: Iterable[DraftBlock]) -> list[Piece]:
    """Return the pieces of a body that another reader read."""
    return _with_heads([Piece(block) for block in blocks if block.left_out or _words(block)])


def _with_heads(pieces: Sequence[Piece]) -> list[Piece]:
    """Return the pieces with the heads of quoted mails told apart; such a mail goes on to the end."""
    made: list[Piece] = []
    is_below = False
    for at, piece in enumerate(pieces):
        text = _words(piece.block)
        begins = _begins_mail(pieces[at : at + _FIELDS + 1])
        goes_on = bool(made) and made[-1].part is MailPart.HEAD and _PATTERNS["field"].match(text)
        is_below = is_below or begins
        follows = at + 1 < len(pieces) and pieces[at + 1].part is MailPart.QUOTED
        announces = piece.part is MailPart.OWN and follows and _ATTRIBUTION.fullmatch(text)
        if begins or (is_below and (goes_on or _PATTERNS["divider"].fullmatch(text))) or announces:
            made.append(Piece(piece.block, MailPart.HEAD))
        else:
            made.append(Piece(piece.block, MailPart.QUOTED) if is_below else piece)
    return made


def _begins_mail(pieces: Sequence[Piece]) -> bool:
    """Return whether a quoted mail's printed headers begin here, in one paragraph or in several."""
    first = _words(pieces[0].block)[:_LONGEST_HEAD]
    if _PATTERNS["divider"].fullmatch(first) and len(pieces) > 1:
        return _PATTERNS["sender"].match(_words(pieces[1].block)[:_LONGEST_HEAD]) is not None
    first = _PATTERNS["divider"].sub("", first, count=1) if first.startswith(("-", "_")) else first
    if not _PATTERNS["sender"].match(first):
        return False
    text = " ".join([first, *(_words(piece.block)[:_LONGEST_HEAD] for piece in pieces[1:])])
    return len(_PATTERNS["field"].findall(text)) >= _FIELDS - 1


def _words(block: DraftBlock) -> str:
    return one_line("".join(line.text + line.joint for line in block.lines))


def sentences_of(block: DraftBlock) -> frozenset[str]:
    """Return the sentences of a block by their letters and digits, however their lines are broken."""
    letters = ("".join(filter(str.isalnum, text.casefold())) for text in _SENTENCE_END.split(_words(block)))
    return frozenset(filter(None, letters))


def own_sentences(pieces: Iterable[Piece]) -> Iterator[str]:
    """Yield the sentences that a mail's writer wrote."""
    for piece in pieces:
        if piece.part is MailPart.OWN:
            yield from sentences_of(piece.block)


def once(pieces: Iterable[Piece], known: set[str]) -> Iterator[DraftBlock]:
    """Yield the blocks of a mail without quotations of known sentences, and without their heads.

    The sentences of the quotations that are kept are known from then on.
    """
    heads: list[DraftBlock] = []
    is_dropped = False
    for block, part in pieces:
        if part is MailPart.HEAD:
            heads = [block] if is_dropped else [*heads, block]
            is_dropped = False
        elif part is MailPart.OWN:
            yield from () if is_dropped else heads
            yield block
            heads, is_dropped = [], False
        elif (sentences := sentences_of(block)) <= known:
            is_dropped = True
        else:
            known |= sentences
            yield from heads
            yield block
            heads = []
    yield from () if is_dropped else heads


def moved(block: DraftBlock, pages: int) -> DraftBlock:
    """Return a block a number of pages further on."""
    lines = tuple(replace(line, page=line.page and line.page + pages) for line in block.lines)
    return replace(block, page=block.page + pages, lines=lines)
