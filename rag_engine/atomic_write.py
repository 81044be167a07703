"""Atomic writes: a file or folder has its name only when all of its content is there."""

from __future__ import annotations

import os
import re
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil  # type: ignore[import-untyped]

# The process that writes a file or folder of such a name has the number with which the digits begin.
_WRITTEN = re.compile(r"\.(?:sextant-)?([0-9a-f]{8})[0-9a-f]{8}\.part")
# The most bytes of a log, and the bytes that stay of a longer one.
_LONGEST_LOG, _KEPT_LOG = 10_000_000, 1_000_000
# The start of a process is known to this many seconds.
_CLOCK_SECONDS = 2.0


@contextmanager
def replacing(path: Path, *, durable: bool = False) -> Iterator[Path]:
    """Yield a temporary path in the folder of `path`, and rename it to `path` when the block succeeds.

    If the block fails, the temporary file is removed. Its name is unique per call, so that several writers of one file
    never remove each other's; the last one wins. A `durable` file is complete even after a power failure.
    `remove_abandoned` removes the files of killed processes.
    """
    temporary = path.with_name(f".{_digits()}.part")
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


def bound_log(path: Path) -> None:
    """Keep the last lines of a log that has grown past 10 MB.

    Processes that append to the log go on in the same file.
    """
    if not path.exists() or path.stat().st_size <= _LONGEST_LOG:
        return
    with path.open("rb+") as log:
        log.seek(-_KEPT_LOG, os.SEEK_END)
        last = log.read().partition(b"\n")[2]
        log.truncate(0)
        log.seek(0)
        log.write(last)


def make_private(folder: Path) -> None:
    """Make a folder and its parents, private to the owner.

    An existing empty folder becomes private too.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if open_to_others(folder) and not any(folder.iterdir()):
        # Somebody else's folder is left as it is.
        with suppress(PermissionError):
            folder.chmod(0o700)


def open_to_others(folder: Path) -> bool:
    """Return whether other users of this machine can list or enter a folder."""
    return os.name == "posix" and bool(folder.stat().st_mode & 0o077)


def remove_abandoned(folder: Path) -> None:
    """Remove the temporary files of ended processes from a folder and two levels below it.

    These are files that `replacing` made and never renamed. This takes a quarter of a second for a workspace of 10,000
    documents.
    """
    for path in (path for level in ("", "*/", "*/*/") for path in folder.glob(f"{level}.*.part")):
        if path.is_file() and _is_abandoned(path):
            path.unlink(missing_ok=True)


def _digits() -> str:
    return f"{os.getpid():08x}{secrets.token_hex(4)}"


def _is_abandoned(path: Path) -> bool:
    """Return whether the process that gave a file or folder this name has ended."""
    written = _WRITTEN.fullmatch(path.name)
    if written is None:
        return False
    try:
        # Another process may have the number by now.
        return bool(psutil.Process(int(written[1], 16)).create_time() > path.stat().st_mtime + _CLOCK_SECONDS)
    except psutil.NoSuchProcess:
        return True
    except FileNotFoundError:
        return False


@contextmanager
def staging(path: Path) -> Iterator[Path]:
    """Yield a new folder next to `path` in which something is made before it is renamed to `path`.

    It is removed at the end with everything that is still in it.
    """
    folder = make_staging(path.parent)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def make_staging(within: Path) -> Path:
    """Make a private folder of this process; those of killed processes are removed first."""
    remove_abandoned_staging(within)
    folder = within / f".sextant-{_digits()}.part"
    folder.mkdir(mode=0o700)
    return folder


def remove_abandoned_staging(within: Path) -> None:
    """Remove from a folder the staging folders of processes that were killed.

    Folders of other users stay as they are.
    """
    for folder in within.glob(".sextant-*.part"):
        if _is_abandoned(folder):
            shutil.rmtree(folder, ignore_errors=True)
