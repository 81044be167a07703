"""Scratch folder of a confined process: files are lent to it there, and it is the one place where it can write."""

from __future__ import annotations

import fcntl
import os
import shutil
import stat
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_PREFIX = "sextant-scratch-"
# A folder that is younger may not be locked yet.
_YOUNG_SECONDS = 60.0


class Scratch:
    """A folder that is there as long as it is open; those of processes that were killed are removed by the next one.

    `user` is the user of the process where that is not our own, else 0.
    """

    def __init__(self, user: int = 0) -> None:
        remove_left_behind()
        self._user = user
        self._folder = Path(tempfile.mkdtemp(prefix=_PREFIX))
        self._lock = os.open(self._folder, os.O_RDONLY)
        fcntl.flock(self._lock, fcntl.LOCK_EX)
        self.lent, self.own = self._folder / "lent", self._folder / "own"
        self.lent.mkdir(mode=0o700)
        self.own.mkdir(mode=0o700)
        if user:
            os.chown(self.own, user, user)
            for folder in (self._folder, self.lent):
                folder.chmod(0o711)

    @contextmanager
    def lend(self, path: Path) -> Iterator[Path]:
        """Have a file under its own name in the folder for a while: the file itself, or a copy where that cannot be.

        A path that is no file is lent as one that is not there.
        """
        lent = self.lent / path.name
        try:
            if path.is_file():
                self._put(path.resolve(), lent)
            yield lent
        finally:
            lent.unlink(missing_ok=True)

    def close(self) -> None:
        """Remove the folder."""
        shutil.rmtree(self._folder, ignore_errors=True)
        os.close(self._lock)

    def _put(self, path: Path, lent: Path) -> None:
        lent.unlink(missing_ok=True)
        if not self._user or path.stat().st_mode & stat.S_IROTH:
            # Another file system, or somebody else's file.
            with suppress(OSError):
                lent.hardlink_to(path)
                return
        shutil.copyfile(path, lent)
        if self._user:
            lent.chmod(0o444)


def remove_left_behind() -> None:
    """Remove the folders whose process was killed before it could: nobody holds their lock."""
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        with suppress(OSError):
            if folder.stat().st_uid != os.getuid() or time.time() - folder.stat().st_mtime < _YOUNG_SECONDS:
                continue
            lock = os.open(folder, os.O_RDONLY | os.O_NOFOLLOW)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(folder, ignore_errors=True)
            finally:
                os.close(lock)
