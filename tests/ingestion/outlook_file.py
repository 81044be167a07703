"""Messages of Outlook, written as it writes them: an OLE container with a stream for each property."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path

Tree = Mapping[str, "bytes | Tree"]

_SECTOR, _SMALL, _FEW = 512, 64, 4096
_FREE, _END, _TABLE = 0xFFFFFFFF, 0xFFFFFFFE, 0xFFFFFFFD


def text(number: int, words: str) -> dict[str, bytes]:
    """Return the stream of a text."""
    return {f"__substg1.0_{number:04X}001F": words.encode("utf-16-le")}


def data(number: int, content: bytes) -> dict[str, bytes]:
    """Return the stream of bytes."""
    return {f"__substg1.0_{number:04X}0102": content}


def properties(values: Mapping[int, tuple[int, bytes]], start: int = 32) -> dict[str, bytes]:
    """Return the list of properties of fixed length, each with its type and its value."""
    entries = (struct.pack("<HHI8s", kind, number, 6, value) for number, (kind, value) in values.items())
    return {"__properties_version1.0": b"\0" * start + b"".join(entries)}


def write_ole(path: Path, tree: Tree) -> Path:
    """Write an OLE container with these storages and streams."""
    entries: list[tuple[str, int, bytes, list[int]]] = [("Root Entry", 5, b"", [])]
    waiting: list[tuple[int, Tree]] = [(0, tree)]
    while waiting:
        owner, children = waiting.pop()
        for name, content in children.items():
            entries[owner][3].append(len(entries))
            entries.append((name, 2, content, []) if isinstance(content, bytes) else (name, 1, b"", []))
            if not isinstance(content, bytes):
                waiting.append((len(entries) - 1, content))
    small, starts = b"", dict[int, int]()
    small_table, table, sectors = list[int](), list[int](), list[bytes]()

    def add(content: bytes) -> int:
        pieces = [content[at : at + _SECTOR].ljust(_SECTOR, b"\0") for at in range(0, len(content), _SECTOR)]
        first = len(sectors)
        sectors.extend(pieces)
        table.extend([*range(first + 1, first + len(pieces)), _END] if pieces else [])
        return first if pieces else _END

    for at, (_, kind, content, _) in enumerate(entries):
        if kind == 2 and len(content) >= _FEW:
            starts[at] = add(content)
        elif kind == 2 and content:
            first, count = len(small_table), -(-len(content) // _SMALL)
            starts[at] = first
            small_table += [*range(first + 1, first + count), _END]
            small += content.ljust(count * _SMALL, b"\0")
    starts[0] = add(small)
    entries[0] = ("Root Entry", 5, small, entries[0][3])
    small_start = add(b"".join(struct.pack("<I", one) for one in small_table))
    directory = b""
    following = dict(pair for _, _, _, kids in entries for pair in pairwise(kids))
    for at, (name, kind, content, kids) in enumerate(entries):
        encoded = (name + "\0").encode("utf-16-le")
        directory += encoded.ljust(64, b"\0") + struct.pack("<HBB", len(encoded), kind, 1)
        directory += struct.pack("<III", _FREE, following.get(at, _FREE), kids[0] if kids else _FREE) + b"\0" * 36
        directory += struct.pack("<IQ", starts.get(at, 0 if kind == 1 else _END), len(content))
    directory_start = add(directory)
    count = next(n for n in range(1, 109) if (len(table) + n) * 4 <= n * _SECTOR)
    first = len(sectors)
    table += [_TABLE] * count
    packed = b"".join(struct.pack("<I", one) for one in table).ljust(count * _SECTOR, b"\xff")
    small_count = -(-len(small_table) * 4 // _SECTOR)
    header = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 16 + struct.pack("<HHHHH6x", 0x3E, 3, 0xFFFE, 9, 6)
    header += struct.pack("<IIIII", 0, count, directory_start, 0, _FEW)
    header += struct.pack("<IIII", small_start, small_count, _END, 0)
    header += b"".join(struct.pack("<I", first + one if one < count else _FREE) for one in range(109))
    path.write_bytes(header + b"".join(sectors) + packed)
    return path
