"""Atomic writes: a file has its name only when all of its content is there."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def replacing(path: Path, *, durable: bool = False) -> Iterator[Path]:
    """Yield a temporary path in the folder of `path`; it takes the name when the block succeeds and is removed if not.

    The temporary name is unique per call, so that several writers of one file never remove each other's; the last
    one wins. A `durable` file is complete even after a power failure.
    """
    temporary = path.with_name(f".{secrets.token_hex(8)}.part")
    try:
        yield temporary
        if durable:
            with temporary.open("rb+") as file:
                os.fsync(file.fileno())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def write_atomic(path: Path, content: bytes, *, durable: bool = False, private: bool = False) -> None:
    """Write the content so that a reader finds the former file or the new one, never half of it.

    A `private` file can be read by its owner alone, from its first byte on.
    """
    with replacing(path, durable=durable) as temporary:
        temporary.touch(mode=0o600 if private else 0o666)
        temporary.write_bytes(content)
