"""Pictures of RTF, which has them as hexadecimal digits between its words."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from ingestion.extraction.assemble import DraftBlock
from ingestion.extraction.formats.pictures.package_pictures import picture_block

_PICTURE = re.compile(rb"\\pict(?![a-z])")
# The second copy, for older programs, of a picture that has just been written.
_COPY = re.compile(rb"nonshppict\s?\{\s?$")
_DRAWN = re.compile(rb"\\(?:png|jpeg)blip")
_SIZE = re.compile(rb"\\pic([wh])goal(\d{1,6})")
_DIGITS = re.compile(rb"[0-9a-fA-F\s]{400,}")
_TWIPS_A_POINT = 20


def rtf_pictures(content: bytes) -> Iterator[DraftBlock]:
    """Yield the pictures of an RTF; the part of each is where its digits are in the file."""
    starts = [found.start() for found in _PICTURE.finditer(content)]
    for start, end in pairwise([*starts, len(content)]):
        if _COPY.search(content, max(0, start - 16), start):
            continue
        digits = _DIGITS.search(content, start, end)
        if digits is None:
            continue
        sizes = {side: int(size) / _TWIPS_A_POINT for side, size in _SIZE.findall(content, start, digits.start())}
        drawn = _DRAWN.search(content, start, digits.start())
        part = f"{digits.start()}-{digits.end()}" if drawn else ""
        yield picture_block(part, 1, sizes.get(b"w", 0.0), sizes.get(b"h", 0.0))


def rtf_picture(content: bytes, part: str) -> bytes:
    """Return the bytes of a picture; ValueError for one that is not drawn."""
    start, _, end = part.partition("-")
    return bytes.fromhex(content[int(start) : int(end)].decode("ascii"))
