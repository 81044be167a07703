"""Messages of Outlook (.msg): an OLE container with a stream for each property (MS-OXMSG)."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from typing import Any

import olefile

from ingestion.extraction.assemble import DraftBlock, one_line
from ingestion.extraction.formats.mail.compressed_rtf import unpacked
from ingestion.extraction.formats.mail.message import Attachment, Mail, shows_more
from ingestion.extraction.formats.refusals import damaged
from ingestion.extraction.formats.rtf import RTF_ERRORS, rtf_draft
from ingestion.file_names import safe_name
from ingestion.web.html import decode

# Numbers of properties.
_CLASS, _SUBJECT, _BODY, _RTF, _HTML = 0x001A, 0x0037, 0x1000, 0x1009, 0x1013
_SENDER, _TO, _CC, _ADDRESSES = 0x0C1A, 0x0E04, 0x0E03, (0x5D01, 0x0C1F)
_DATES, _CODE_PAGE, _PAGE_CODE_PAGE = (0x0039, 0x0E06), 0x3FFD, 0x3FDE
_DATA, _FILE_NAMES = 0x3701, (0x3707, 0x3704, 0x3001)
# Their types, as names of streams have them.
_UNICODE, _ANSI, _BINARY, _STORAGE = "001F", "001E", "0102", "000D"
_PROPERTIES = "__properties_version1.0"
# Where the entries of a list of properties begin: those of the file, and of a message in it.
_TOP, _INNER = 32, 24
_ENTRY = struct.Struct("<HHI8s")
_EPOCH = datetime(1601, 1, 1, tzinfo=UTC)
# Ticks of a tenth of a microsecond up to a year with four digits.
_LAST = 2_600_000_000_000_000_000
# Code pages that Windows numbers and others name.
_ISO = 28_590
_DEEPEST = 5
_MOST_ATTACHED = 1_000
_ATTACHED = "__attach_version1.0_"
# How olefile fails on a container that is damaged.
_ERRORS = (OSError, ValueError, IndexError, AttributeError, TypeError, struct.error)


def read_outlook(path: Path) -> Iterator[Mail]:
    """Yield the message of a file; Refusal if it is damaged."""
    try:
        with olefile.OleFileIO(path) as container:
            yield _mail(_Storage(container, (), _TOP), depth=0)
    except _ERRORS as error:
        raise damaged(path, error) from error


class _Storage:
    """The properties of a message or of what is attached to it."""

    def __init__(self, container: Any, place: tuple[str, ...], start: int) -> None:
        self._container = container
        self._place = place
        entries = self._stream(_PROPERTIES)[start:]
        whole = entries[: len(entries) - len(entries) % _ENTRY.size]
        self._fixed = {number: value for _, number, _, value in _ENTRY.iter_unpack(whole)}
        page = self.number(_CODE_PAGE)
        self._charset = _charset(page) if page else "cp1252"

    def _stream(self, name: str) -> bytes:
        place = [*self._place, name]
        if self._container.get_type(place) != olefile.STGTY_STREAM:
            return b""
        with self._container.openstream(place) as stream:
            return bytes(stream.read())

    def number(self, number: int) -> int:
        """Return a whole number, 0 if it is not given."""
        return int.from_bytes(self._fixed.get(number, b"")[:4], "little")

    def time(self, numbers: Sequence[int]) -> str:
        """Return the first date of the given properties as a header has it."""
        ticks = next((int.from_bytes(self._fixed[one], "little") for one in numbers if one in self._fixed), 0)
        return format_datetime(_EPOCH + timedelta(microseconds=ticks // 10)) if 0 < ticks < _LAST else ""

    def text(self, *numbers: int) -> str:
        """Return the first text of the given properties."""
        for number in numbers:
            if wide := self._stream(_name(number, _UNICODE)):
                return wide.decode("utf-16-le", "replace").rstrip("\0")
            if narrow := self._stream(_name(number, _ANSI)):
                return decode(narrow, self._charset).rstrip("\0")
        return ""

    def data(self, number: int) -> bytes:
        """Return the bytes of a property."""
        return self._stream(_name(number, _BINARY))

    def attached(self) -> Iterator[_Storage]:
        """Yield what is attached, in order."""
        depth = len(self._place)
        for place in sorted(map(tuple, self._container.listdir(streams=False, storages=True))):
            if len(place) == depth + 1 and place[:depth] == self._place and place[depth].startswith(_ATTACHED):
                yield _Storage(self._container, place, 0)

    def message(self) -> _Storage | None:
        """Return the message that is attached here, None if it is something else."""
        place = (*self._place, _name(_DATA, _STORAGE))
        return _Storage(self._container, place, _INNER) if self._container.exists([*place, _PROPERTIES]) else None


def _name(number: int, kind: str) -> str:
    return f"__substg1.0_{number:04X}{kind}"


def _charset(page: int) -> str:
    return f"iso-8859-{page - _ISO}" if _ISO < page <= _ISO + 16 else f"cp{page}"


def _mail(storage: _Storage, depth: int) -> Mail:
    attachments: list[Attachment] = []
    mails: list[Mail] = []
    attached = list(storage.attached())
    for part in attached[:_MOST_ATTACHED]:
        message = part.message()
        if message is not None and depth < _DEEPEST:
            mails.append(_mail(message, depth + 1))
        else:
            attachments.append(Attachment(safe_name(part.text(*_FILE_NAMES)), part.data(_DATA)))
    text, page, rtf = storage.text(_BODY).strip(), _page(storage), storage.data(_RTF)
    if page and (not text or shows_more(page)):
        text, rtf = "", b""
    blocks = _rtf_blocks(rtf) if rtf else []
    # Plain words say nothing of those that are struck.
    if text and not any(block.left_out for block in blocks or []):
        blocks = []
    elif blocks:
        text = ""
    return Mail(
        subject=one_line(storage.text(_SUBJECT)),
        sender=_sender(storage),
        to=one_line(storage.text(_TO)),
        cc=one_line(storage.text(_CC)),
        date=storage.time(_DATES),
        texts=(text,) if text else (),
        pages=(page,) if page and not text and not blocks else (),
        blocks=tuple(blocks or ()),
        attachments=tuple(attachments),
        mails=tuple(mails),
        is_locked=storage.text(_CLASS).lower().endswith(".smime"),
        unread_parts=len(attached[_MOST_ATTACHED:]),
        is_unread=blocks is None and not text,
    )


def _page(storage: _Storage) -> str:
    """Return the body in HTML."""
    page, charset = storage.data(_HTML), storage.number(_PAGE_CODE_PAGE)
    return decode(page, _charset(charset) if charset else "") if page else storage.text(_HTML)


def _rtf_blocks(packed: bytes) -> list[DraftBlock] | None:
    """Return the blocks of a body in RTF, None if it cannot be read.

    A page in it is for programs that know of it; the rest shows the same.
    """
    try:
        return list(rtf_draft(unpacked(packed)).blocks)
    except RTF_ERRORS:
        return None


def _sender(storage: _Storage) -> str:
    name, address = one_line(storage.text(_SENDER)), one_line(storage.text(*_ADDRESSES))
    return f"{name} <{address}>".strip() if "@" in address and address != name else name or address
