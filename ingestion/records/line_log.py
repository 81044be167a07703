"""Log of lines in a file of the workspace: a line that was added is on the disk, and a torn one hides no other."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path

from filelock import FileLock

from rag_engine.atomic_write import write_atomic
from rag_engine.workspace import make_folder


def append_lines(path: Path, lines: Iterable[bytes]) -> None:
    """Add lines at the end of a log, which its owner alone can read; they are on the disk when this returns."""
    make_folder(path.parent)
    with FileLock(path.with_suffix(".lock")), os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT, 0o600), "rb+") as log:
        if log.seek(0, os.SEEK_END) and (log.seek(-1, os.SEEK_END), log.read(1))[1] != b"\n":
            # Whoever wrote the line before was killed in it.
            log.write(b"\n")
        log.write(b"".join(line + b"\n" for line in lines))
        log.flush()
        os.fsync(log.fileno())


def read_lines(path: Path) -> list[bytes]:
    """Return all lines of a log, oldest first; none where there is no log."""
    try:
        return path.read_bytes().splitlines()
    except FileNotFoundError:
        return []


def remove_lines(path: Path, unwanted: Callable[[bytes], bool]) -> None:
    """Write a log anew without some of its lines; a log that has none of them stays as it is."""
    if not path.exists():
        return
    with FileLock(path.with_suffix(".lock")):
        lines = read_lines(path)
        kept = [line for line in lines if not unwanted(line)]
        if len(kept) < len(lines):
            write_atomic(path, b"".join(line + b"\n" for line in kept), durable=True, private=True)
