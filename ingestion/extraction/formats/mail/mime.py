"""Messages (.eml), mailboxes (.mbox) and web archives (.mhtml) by Python's parser of MIME."""

from __future__ import annotations

import base64
import binascii
import codecs
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from email import message_from_bytes
from email.errors import HeaderParseError
from email.header import decode_header
from email.message import Message as MimePart
from email.policy import Compat32
from itertools import islice
from pathlib import Path

from ingestion.extraction.assemble import one_line
from ingestion.extraction.formats.mail.message import Attachment, Mail, shows_more
from ingestion.file_names import safe_name
from ingestion.web.html import decode, parse, text_of

_MOST_PARTS = 1_000
_DEEPEST = 5
_LONGEST_HEADER = 10_000
_SIGNATURES = frozenset({"application/pgp-signature", "application/pkcs7-signature", "application/x-pkcs7-signature"})
_LOCKED = frozenset({"application/pkcs7-mime", "application/x-pkcs7-mime", "multipart/encrypted"})
_FORWARDED = frozenset({"message/rfc822", "message/global"})
# Where a mail is no letter but the receipt of one.
_RECEIPTS = ("message/", "text/rfc822-headers", "text/x-amp-html")
# Charsets that say nothing of bytes above 127.
_UNTOLD = frozenset({"us-ascii", "ascii", "unknown-8bit", "x-unknown", "unknown"})
# The line before each mail of a mailbox, with its time and year, and the mark of a line of a mail that begins so.
_POSTMARK = re.compile(rb"From .{0,200}\d\d:\d\d.{0,40}\d{4}")
_CUT = re.compile(r"(?<!^--) \r?\n(?!>)", re.MULTILINE)
_MARKED = re.compile(rb">+From ")
# Bytes above 127 as Python's parser keeps them.
_BYTES = re.compile("[\udc80-\udcff]")


def read_message(path: Path) -> Iterator[Mail]:
    """Yield the message of a file."""
    yield _mail(_parsed(path.read_bytes()))


def read_mailbox(path: Path) -> Iterator[Mail]:
    """Yield the messages of a mailbox."""
    return (_mail(_parsed(raw)) for raw in _split(path))


def _split(path: Path) -> Iterator[bytes]:
    lines: list[bytes] = []
    is_open = True
    with path.open("rb") as file:
        for line in file:
            if is_open and _POSTMARK.match(line):
                if any(map(bytes.strip, lines)):
                    yield b"".join(lines)
                lines = []
            else:
                lines.append(line[1:] if _MARKED.match(line) else line)
            is_open = not line.strip()
    if any(map(bytes.strip, lines)):
        yield b"".join(lines)


def read_web_archive(path: Path) -> tuple[str, ...]:
    """Return the pages of a web archive, the one that was saved first."""
    found = (part for part in _leaves(_parsed(path.read_bytes())) if part.get_content_type() == "text/html")
    return tuple(_text(part) for part in islice(found, _MOST_PARTS))


def _parsed(raw: bytes) -> MimePart:
    """Return the parts of a message, RecursionError for those that are nested too deeply.

    Headers are decoded here, since the parser of Python's newer policy takes minutes over one made to break it.
    """
    return message_from_bytes(raw.removeprefix(codecs.BOM_UTF8).lstrip(), policy=_ShortHeaders())


class _ShortHeaders(Compat32):
    """Keeps no header longer than one that people write, since its parts are looked through several times."""

    def header_source_parse(self, sourcelines: list[str]) -> tuple[str, str]:
        """Return the name and the beginning of the value of a header."""
        name, value = super().header_source_parse(sourcelines)
        return name, value[:_LONGEST_HEADER]


def _mail(message: MimePart, depth: int = 0) -> Mail:
    """Return a message with the messages attached to it; more deeply attached ones are files."""
    texts: list[str] = []
    pages: list[str] = []
    attachments: list[Attachment] = []
    mails: list[Mail] = []
    parts = [(part, part.get_content_type()) for part in _leaves(message)]
    for part, kind in parts[:_MOST_PARTS]:
        if kind in ("text/plain", "text/html") and _is_body(part):
            (texts if kind == "text/plain" else pages).append(_text(part))
        elif kind in _FORWARDED and depth < _DEEPEST:
            mails += (_mail(inner, depth + 1) for inner in _inner(part))
        elif kind in _FORWARDED:
            attachments += (Attachment(_header(inner, "subject") or kind, b"") for inner in _inner(part))
        elif kind not in _SIGNATURES and not kind.startswith(_RECEIPTS):
            attachments.append(Attachment(_name(part), _content(part)))
    return Mail(
        subject=_header(message, "subject"),
        sender=_header(message, "from"),
        to=_header(message, "to"),
        cc=_header(message, "cc"),
        date=_header(message, "date"),
        texts=tuple(texts),
        pages=tuple(pages),
        attachments=tuple(attachments),
        mails=tuple(mails),
        is_locked=message.get_content_type() in _LOCKED,
        unread_parts=len(parts[_MOST_PARTS:]),
    )


def _leaves(part: MimePart) -> Iterator[MimePart]:
    """Yield the parts without parts; of alternatives the one that is read, and files in any."""
    if not part.is_multipart() or part.get_content_maintype() == "message":
        yield part
        return
    children = [leaf for child in _inner(part) for leaf in _leaves(child)]
    if part.get_content_type() == "multipart/alternative":
        passed_over = _passed_over(children)
        children = [leaf for leaf in children if not _is_body(leaf) or leaf.get_content_type() != passed_over]
    yield from children


def _passed_over(leaves: Sequence[MimePart]) -> str:
    """Return the type of the alternative that is not read.

    It is HTML, unless the plain text only points to it or cannot show what it shows.
    """
    words = {"text/plain": 0, "text/html": 0}
    for leaf in leaves[:_MOST_PARTS]:
        if (kind := leaf.get_content_type()) in words and _is_body(leaf):
            text = _text(leaf)
            root = parse(text) if kind == "text/html" else None
            if root is not None and shows_more(text):
                return "text/plain"
            words[kind] += len((text if root is None else text_of(root)).split())
    return "text/html" if 2 * words["text/plain"] >= words["text/html"] else "text/plain"


def _inner(part: MimePart) -> list[MimePart]:
    payload = part.get_payload()
    if part.get_content_type() in _FORWARDED and str(part.get("content-transfer-encoding", "")).lower() == "base64":
        # Against the standard; the parser takes the encoded lines for the message.
        encoded = "".join(str(one.get_payload()) for one in payload if isinstance(one, MimePart))
        with suppress(binascii.Error):
            return [_parsed(base64.b64decode(encoded.encode("ascii", "ignore")))]
    return [one for one in payload if isinstance(one, MimePart)] if isinstance(payload, list) else []


def _is_body(part: MimePart) -> bool:
    return part.get_content_disposition() != "attachment" and not part.get_filename()


def _content(part: MimePart) -> bytes:
    content = part.get_payload(decode=True)
    return content if isinstance(content, bytes) else b""


def _text(part: MimePart) -> str:
    charset = part.get_content_charset("")
    text = decode(_content(part), "" if charset in _UNTOLD else charset)
    # Lines that were cut within words, for programs that put them together (RFC 3676).
    return _CUT.sub("", text) if str(part.get_param("delsp", "")).lower() == "yes" else text


def _name(part: MimePart) -> str:
    return safe_name(_decoded(part.get_filename(""))) if part.get_filename() else part.get_content_type()


def _header(message: MimePart, name: str) -> str:
    """Return the first header of a name."""
    value = next((str(value) for key, value in message.raw_items() if key.lower() == name), "")
    return one_line(_decoded(value))


def _decoded(value: str) -> str:
    """Return a header in words: those that are encoded decoded, and bytes that should have been."""
    plain = decode(value.encode("ascii", "surrogateescape")) if _BYTES.search(value) else value
    try:
        pieces = decode_header(plain)
    except HeaderParseError:
        return plain
    return "".join(
        piece if isinstance(piece, str) else decode(piece, charset) if charset else piece.decode("latin-1")
        for piece, charset in pieces
    )
