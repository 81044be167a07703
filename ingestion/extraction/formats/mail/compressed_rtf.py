r"""RTF as Outlook packs it (MS-OXRTFCP): pieces of what was written before are said by their place."""

from __future__ import annotations

import struct
from collections.abc import Iterator

_HEADER = struct.Struct("<II4s4x")
_PACKED, _PLAIN = b"LZFu", b"MELA"
# What every packed text may refer to from its beginning.
_BEGINNING = (
    rb"{\rtf1\ansi\mac\deff0\deftab720{\fonttbl;}{\f0\fnil \froman \fswiss \fmodern \fscript \fdecor MS Sans "
    rb"SerifSymbolArialTimes New RomanCourier{\colortbl\red0\green0\blue0"
    b"\r\n"
    rb"\par \pard\plain\f0\fs20\b\i\u\tab\tx"
)
_RING = 4_096


def unpacked(content: bytes) -> bytes:
    r"""Return the RTF of a packed stream; ValueError if it is none.

    >>> unpacked(b"\x1a\0\0\0\x1c\0\0\0LZFu\xe2\xd4KQA\0\x04 WXYZ\rn}\x01\x0e\xb0")
    b'{\\rtf1 WXYZWXYZWXYZWXYZWXYZ}'
    """
    if len(content) < _HEADER.size:
        raise ValueError("it is too short")
    _, size, kind = _HEADER.unpack_from(content)
    packed = content[_HEADER.size :]
    if kind not in (_PACKED, _PLAIN):
        raise ValueError("it is packed in an unknown way")
    made = packed if kind == _PLAIN else b"".join(_pieces(packed))
    return made[:size]


def _pieces(packed: bytes) -> Iterator[bytes]:
    """Yield the pieces of a text: single bytes, and repetitions of what is in the ring of the last bytes."""
    ring = bytearray(_BEGINNING.ljust(_RING, b"\0"))
    written = len(_BEGINNING)
    for repeats, token in _tokens(packed):
        if not repeats:
            ring[written % _RING] = token
            written += 1
            yield bytes([token])
            continue
        start, length = token >> 4, (token & 15) + 2
        if start == written % _RING:
            return
        piece = bytearray()
        # Byte by byte, since a repetition may reach into itself.
        for at in range(start, start + length):
            piece.append(ring[at % _RING])
            ring[written % _RING] = piece[-1]
            written += 1
        yield bytes(piece)


def _tokens(packed: bytes) -> Iterator[tuple[bool, int]]:
    """Yield the tokens, eight behind each byte of flags, and whether each is a repetition."""
    at = 0
    while at < len(packed):
        flags = packed[at]
        at += 1
        for bit in range(8):
            repeats = bool(flags >> bit & 1)
            end = at + 1 + repeats
            if end > len(packed):
                return
            yield repeats, int.from_bytes(packed[at:end], "big")
            at = end
