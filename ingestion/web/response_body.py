"""The body of an answer, decoded and counted: in memory, or in a file that appears only when it is whole."""

from __future__ import annotations

import hashlib
import os
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from io import FileIO
from pathlib import Path

from ingestion.types import Refusal
from rag_engine.atomic_write import replacing
from rag_engine.errors import WorkspaceError

_STEP = 2**18


class BrokenBody(Exception):  # noqa: N818 - a finding about the body
    """A body that ends before its compression does, or is not compressed as it claims."""


@dataclass(frozen=True, slots=True)
class Received:
    """A whole body: `content` is empty where it went to a file. `size` counts decoded bytes."""

    content: bytes
    size: int
    sha256: str


def decoded(chunks: Iterable[bytes], encoding: str) -> Iterator[bytes]:
    """Return the body without its Content-Encoding, in pieces of at most 256 KiB whatever a small input expands to."""
    coding = encoding.strip().lower()
    if coding in ("", "identity"):
        yield from chunks
    elif coding in ("gzip", "x-gzip", "deflate"):
        yield from _inflated(chunks, coding)
    else:
        raise Refusal("http_error", f"The body is sent as {coding[:40]!r}, which was not asked for.")


def receive(chunks: Iterable[bytes], url: str, most: int) -> Received:
    """Return the body in memory; Refusal (too_large) as soon as it exceeds `most` bytes."""
    parts: list[bytes] = []
    size = 0
    for chunk in chunks:
        size = _counted(size, chunk, url, most)
        parts.append(chunk)
    content = b"".join(parts)
    return Received(content, size, hashlib.sha256(content).hexdigest())


def receive_into(chunks: Iterable[bytes], into: Path, url: str, most: int, *, lasting: bool = True) -> Received:
    """Return the body's size and hash; the file `into` is replaced when all is there, and nothing is left otherwise.

    A `lasting` file is whole even after the power fails; without, its reader has to compare the hash.
    """
    digest, size = hashlib.sha256(), 0
    with replacing(into, durable=lasting) as part, _opened(part) as output:
        for chunk in chunks:
            size = _counted(size, chunk, url, most)
            digest.update(chunk)
            _write(output.fileno(), chunk, into)
    return Received(b"", size, digest.hexdigest())


def too_large(url: str, most: int, declared: int | None = None) -> Refusal:
    """Return the refusal of a body above the limit."""
    said = f" announces {declared:,} bytes" if declared is not None else " is larger"
    return Refusal("too_large", f"{url}{said}; the limit is {most:,} bytes.")


def _inflated(chunks: Iterable[bytes], coding: str) -> Iterator[bytes]:
    inflater = None
    for chunk in chunks:
        rest = chunk
        while rest:
            if inflater is None:
                inflater = zlib.decompressobj(_window(rest, coding))
            try:
                piece = inflater.decompress(rest, _STEP)
            except zlib.error as error:
                raise BrokenBody(f"the body is not {coding}: {error}") from error
            if piece:
                yield piece
            rest = inflater.unconsumed_tail
            if inflater.eof:
                # A gzip body may have several members; what follows the last one is padding.
                following = inflater.unused_data
                if not (coding != "deflate" and following.startswith(b"\x1f\x8b")):
                    return
                inflater, rest = None, following
    if inflater is not None and not inflater.eof:
        yield inflater.flush(_STEP)
        if not inflater.eof:
            raise BrokenBody("the body ends too early")


def _window(start: bytes, coding: str) -> int:
    if coding != "deflate":
        return 16 + zlib.MAX_WBITS
    # Some servers send deflate without the zlib frame that the standard asks for.
    return zlib.MAX_WBITS if start[0] & 0x0F == 8 else -zlib.MAX_WBITS


def _counted(size: int, chunk: bytes, url: str, most: int) -> int:
    if size + len(chunk) > most:
        raise too_large(url, most)
    return size + len(chunk)


def _opened(part: Path) -> FileIO:
    try:
        return part.open("xb", buffering=0)
    except OSError as error:
        raise WorkspaceError(
            f"{part.parent} cannot be written to: {error.strerror}.", help="Make the folder writable."
        ) from error


def _write(descriptor: int, chunk: bytes, into: Path) -> None:
    rest = memoryview(chunk)
    try:
        while rest:
            rest = rest[os.write(descriptor, rest) :]
    except OSError as error:
        raise WorkspaceError(
            f"{into} cannot be written: {error.strerror}.", help="Make room on the disk and run it again."
        ) from error
