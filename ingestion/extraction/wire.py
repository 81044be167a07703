"""Extracted text as JSON, and messages of JSON over a pipe: four bytes of length, then UTF-8."""

from __future__ import annotations

import json
import os
import struct
from dataclasses import asdict, replace
from typing import Any

from rag_engine.types import Block, Box, ExtractedText, Line

LARGEST_MESSAGE = 2**29
_LENGTH = struct.Struct(">I")

Message = dict[str, Any]


def to_json(extracted: ExtractedText) -> Message:
    """A message that `from_json` turns back into an equal text."""
    fields: Message = asdict(replace(extracted, lines=(), blocks=()))
    fields["lines"] = [
        (line.start, line.end, line.page, line.box and (line.box.x0, line.box.y0, line.box.x1, line.box.y1))
        for line in extracted.lines
    ]
    fields["blocks"] = [(block.start, block.end, block.page, block.kind, block.font_size) for block in extracted.blocks]
    return fields


def from_json(fields: Message) -> ExtractedText:
    """The text that `to_json` was given; KeyError or TypeError for anything else."""
    return ExtractedText(
        text=fields["text"],
        pages=fields["pages"],
        lines=tuple(Line(start, end, page, box and Box(*box)) for start, end, page, box in fields["lines"]),
        blocks=tuple(Block(*block) for block in fields["blocks"]),
        media_type=fields["media_type"],
        title=fields["title"],
        ocr_pages=tuple(fields["ocr_pages"]),
        unread_pages=tuple(fields["unread_pages"]),
        warnings=tuple(fields["warnings"]),
    )


def encode(message: Message) -> bytes:
    """The bytes of a message with its length; ValueError when it is longer than LARGEST_MESSAGE."""
    body = json.dumps(message, separators=(",", ":")).encode("ascii")
    if len(body) > LARGEST_MESSAGE:
        raise ValueError(f"message of {len(body):,} bytes; the limit is {LARGEST_MESSAGE:,}")
    return _LENGTH.pack(len(body)) + body


def write_all(descriptor: int, data: bytes) -> None:
    """Nothing, once every byte is written."""
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


class Reassembler:
    """Messages from the pieces in which a pipe delivers them."""

    def __init__(self) -> None:
        self._pieces = bytearray()

    def feed(self, piece: bytes) -> None:
        """Take the next piece."""
        self._pieces += piece

    def next(self) -> Message | None:
        """The next whole message; None until it is whole; ValueError when the stream is no protocol of ours."""
        if len(self._pieces) < _LENGTH.size:
            return None
        (length,) = _LENGTH.unpack_from(self._pieces)
        if length > LARGEST_MESSAGE:
            raise ValueError(f"message of {length:,} bytes; the limit is {LARGEST_MESSAGE:,}")
        end = _LENGTH.size + length
        if len(self._pieces) < end:
            return None
        message = json.loads(self._pieces[_LENGTH.size : end])
        del self._pieces[:end]
        if not isinstance(message, dict):
            raise ValueError("message is not an object")
        return message
