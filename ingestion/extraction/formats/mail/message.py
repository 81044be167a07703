"""An e-mail as every reader of e-mails gives it, and its page: what its reader sees of it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ingestion.extraction.assemble import Draft, DraftBlock, DraftLine, one_line, paragraph, unread_files
from ingestion.extraction.formats.mail.quotations import (
    Piece,
    moved,
    once,
    own_sentences,
    pieces_of_blocks,
    pieces_of_page,
    pieces_of_text,
)
from rag_engine.messages import Message

_MOST_OPENED = 50
_LONGEST_HEADER = 500
# What the same words in plain text do not show: struck ones, raised and lowered figures, and tables with names.
_LOOKS = re.compile(
    r"<(?:s|del|strike|sup|sub|th)[\s>]|line-through|vertical-align\s*:\s*su|class=[\"']?(?:MsoTableGrid|xl\d)",
    re.IGNORECASE,
)


class Attachment(NamedTuple):
    """A file in another: its name and its bytes."""

    name: str
    content: bytes


# Reads an attached file; None if it cannot be read.
ReadAttachment = Callable[[Attachment], Draft | None]


@dataclass(frozen=True, slots=True)
class Mail:
    """One message: the headers that its reader sees, its bodies, and what is attached to it.

    `blocks` are those of a body that is neither text nor page. `is_locked` means that its body is encrypted,
    `is_unread` that it cannot be read. `unread_parts` are those beyond the most that are read.
    """

    subject: str = ""
    sender: str = ""
    to: str = ""
    cc: str = ""
    date: str = ""
    texts: tuple[str, ...] = ()
    pages: tuple[str, ...] = ()
    blocks: tuple[DraftBlock, ...] = ()
    attachments: tuple[Attachment, ...] = ()
    mails: tuple[Mail, ...] = ()
    is_locked: bool = False
    is_unread: bool = False
    unread_parts: int = 0


def shows_more(page: str) -> bool:
    """Return whether a page has words that are struck, raised, lowered or in a table."""
    return _LOOKS.search(page) is not None


def with_forwarded(mails: Iterable[Mail]) -> Iterator[Mail]:
    """Yield mails, each before those that are attached to it."""
    for mail in mails:
        yield mail
        yield from with_forwarded(mail.mails)


def draft_of(mails: Sequence[Mail], title: str, read: ReadAttachment | None) -> Draft:
    """Return the pages of mails: each is a page, and the pages of the files attached to it follow.

    Without `read`, attached files are only named.
    """
    pieces = [_pieces(mail) for mail in mails]
    known = {sentence for own in pieces for sentence in own_sentences(own)}
    blocks: list[DraftBlock] = []
    unread: list[str] = []
    warnings: list[Message] = []
    page = opened = 0
    for mail, own in zip(mails, pieces, strict=True):
        page += 1
        blocks += (moved(block, page - 1) for block in (*_head(mail), *once(own, known)))
        for attachment in mail.attachments:
            opened += 1
            added = read(attachment) if read is not None and opened <= _MOST_OPENED else None
            if added is None:
                unread.append(attachment.name)
                continue
            blocks.append(paragraph(attachment.name, page + 1, "heading"))
            blocks += (moved(block, page) for block in added.blocks)
            warnings += (Message("{file}: {warning}", file=attachment.name, warning=one) for one in added.warnings)
            page += added.pages
    warnings += unread_files(unread)
    if parts := sum(mail.unread_parts for mail in mails):
        warnings.append(Message("Parts of an e-mail that has too many, which were not read: {count:,}.", count=parts))
    if bodies := sum(mail.is_unread for mail in mails):
        warnings.append(Message("E-mails whose text is in a form that cannot be read: {count:,}.", count=bodies))
    return Draft(blocks, title, page, warnings=tuple(warnings))


def _pieces(mail: Mail) -> list[Piece]:
    bodies = (*map(pieces_of_text, mail.texts), *map(pieces_of_page, mail.pages), pieces_of_blocks(mail.blocks))
    return [piece for body in bodies for piece in body]


def _head(mail: Mail) -> Iterator[DraftBlock]:
    """Yield the subject, and the lines that a mail program shows above a mail."""
    if mail.subject:
        yield paragraph(mail.subject, kind="heading")
    named = {"From": mail.sender, "To": mail.to, "Cc": mail.cc, "Date": mail.date}
    lines = [f"{name}: {one_line(value)[:_LONGEST_HEADER]}" for name, value in named.items() if value]
    if lines:
        yield DraftBlock(1, "text", tuple(DraftLine(line, joint="\n") for line in lines))
