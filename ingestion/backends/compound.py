"""What a compound file (the container of Office before 2007) holds, by its directory."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import BinaryIO

_MOST_SECTORS = 4096
_ENTRY = 128
_NONE = 0xFFFFFFFA


def stream_names(path: Path) -> frozenset[str]:
    """The names at the top of the container, not those of documents embedded in it; none when it is damaged.

    After [MS-CFB]: a header, a table of sectors, and a directory whose entries form a tree.
    """
    with path.open("rb") as file:
        try:
            entries = _directory(file)
        except (struct.error, ValueError):
            return frozenset()
    names: set[str] = set()
    seen: set[int] = set()
    ahead = [_links(entries[0])[2]] if entries else []
    while ahead:
        index = ahead.pop()
        if index in seen or index >= len(entries):
            continue
        seen.add(index)
        left, right, _ = _links(entries[index])
        names.add(_name(entries[index]))
        ahead += (left, right)
    return frozenset(names)


def _directory(file: BinaryIO) -> list[bytes]:
    header = file.read(512)
    (shift,) = struct.unpack_from("<H", header, 30)
    if shift not in (9, 12):
        raise ValueError(f"sectors of 2**{shift} bytes")
    size = 1 << shift
    (sector,) = struct.unpack_from("<I", header, 48)
    table = [at for at in struct.unpack_from("<109I", header, 76) if at < _NONE]
    entries: list[bytes] = []
    for _ in range(_MOST_SECTORS):
        content = _sector(file, sector, size)
        entries += [content[at : at + _ENTRY] for at in range(0, len(content) - _ENTRY + 1, _ENTRY)]
        place, offset = divmod(sector, size // 4)
        if place >= len(table):
            break
        (sector,) = struct.unpack_from("<I", _sector(file, table[place], size), 4 * offset)
        if sector >= _NONE:
            break
    return entries


def _sector(file: BinaryIO, index: int, size: int) -> bytes:
    file.seek((index + 1) * size)
    return file.read(size)


def _links(entry: bytes) -> tuple[int, int, int]:
    left, right, child = struct.unpack_from("<3I", entry, 68)
    return left, right, child


def _name(entry: bytes) -> str:
    (length,) = struct.unpack_from("<H", entry, 64)
    return entry[: max(0, min(length, 64) - 2)].decode("utf-16-le", "replace")
