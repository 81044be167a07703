"""Folders of the cache that are either whole or not there."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

from filelock import FileLock

from rag_engine.errors import BackendError


def build_once(folder: Path, build: Callable[[Path], None]) -> Path:
    """Return the folder, filled by `build` unless it is already there.

    `build` writes beside it and the result is renamed into place, so a build that is killed leaves nothing
    under the final name; what it did leave goes with the next build. Of several processes that want the same
    folder one builds and the others wait, since a build can take most of the memory of a small machine.
    """
    if folder.is_dir():
        return folder
    partial = folder.with_name(f".{folder.name}.partial")
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(folder.with_name(f".{folder.name}.lock")):
            if not folder.is_dir():
                shutil.rmtree(partial, ignore_errors=True)
                partial.mkdir()
                build(partial)
                partial.rename(folder)
    except OSError as error:
        raise BackendError(
            f"Cannot write {folder}: {error}.", help="Free space there or set SEXTANT_CACHE to another folder."
        ) from error
    return folder
