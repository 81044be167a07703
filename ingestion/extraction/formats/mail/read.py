"""A file of e-mails to a draft: a message, a mailbox, a message of Outlook, a web archive."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Literal

from ingestion.extraction.assemble import Draft
from ingestion.extraction.formats.html import html_blocks
from ingestion.extraction.formats.mail.message import Mail, ReadAttachment, draft_of, with_forwarded
from ingestion.extraction.formats.mail.mime import read_mailbox, read_message, read_web_archive
from ingestion.extraction.formats.mail.outlook import read_outlook
from ingestion.extraction.formats.refusals import damaged
from ingestion.extraction.layout.title import stem_words
from ingestion.file_reading import ExtractionLimits
from ingestion.types.outcome import Refusal

MailFormat = Literal["eml", "mbox", "msg"]
# "Re: ", "AW: ", "[list] Fwd: ": what replies and forwards put before a subject.
_REPLY = re.compile(r"(?:\s{0,9}(?:\[[^\]]{1,40}\]|[^\W\d_]{1,4}(?:\[\d{1,3}\])?\s?[:：])\s{0,9}){1,9}")
MAIL_READERS: dict[MailFormat, Callable[[Path], Iterator[Mail]]] = {
    "eml": read_message,
    "mbox": read_mailbox,
    "msg": read_outlook,
}


def extract_mail(path: Path, kind: MailFormat, limits: ExtractionLimits, read: ReadAttachment | None) -> Draft:
    """Return the mails of a file, each a page with its subject as heading, and the files attached to them.

    Refusal "encrypted" if all are encrypted, "too_many_pages" for a mailbox of more than the limit.
    """
    try:
        mails = list(islice(with_forwarded(MAIL_READERS[kind](path)), limits.max_pages + 1))
    except RecursionError as error:
        raise damaged(path, "its parts are nested too deeply") from error
    if len(mails) > limits.max_pages:
        raise Refusal(
            "too_many_pages",
            "{file} has more than {limit} e-mails.",
            help="Split it into several mailboxes and add those.",
            file=path.name,
            limit=limits.max_pages,
        )
    if mails and all(mail.is_locked for mail in mails):
        raise Refusal(
            "encrypted",
            "{file} is an encrypted e-mail.",
            help="Open it in its mail program, save it there without encryption or print it as PDF, and add that.",
            file=path.name,
        )
    return draft_of(mails, _title(mails, path) if kind == "mbox" else mails[0].subject or stem_words(path), read)


def _title(mails: Sequence[Mail], path: Path) -> str:
    """Return the subject of the first mail; the name of a mailbox whose mails have several."""
    subjects = {_REPLY.sub("", mail.subject, count=1).casefold() for mail in mails}
    return mails[0].subject if len(subjects) == 1 and mails[0].subject else stem_words(path)


def extract_web_archive(path: Path) -> Draft:
    """Return the blocks of the page in a web archive, of its first frame if it has none itself."""
    try:
        pages = read_web_archive(path)
    except RecursionError as error:
        raise damaged(path, "its parts are nested too deeply") from error
    drafts = (html_blocks(page.encode("utf-8-sig")) for page in pages)
    return next((draft for draft in drafts if draft.blocks), Draft([]))
