"""Scratch folder of a confined process: files are lent to it there, and it writes only there."""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from rag_engine.atomic_write import make_staging
from rag_engine.confinement.confine import Reach


class Scratch:
    """A folder until it is closed; the next one removes the folder of a killed process.

    `user` is the user of the process if it differs from ours, else 0.
    """

    def __init__(self, user: int = 0) -> None:
        self._user = user
        self._folder = make_staging(Path(tempfile.gettempdir()))
        self.lent, self.own = self._folder / "lent", self._folder / "own"
        self.lent.mkdir(mode=0o700)
        self.own.mkdir(mode=0o700)
        if user:
            os.chown(self.own, user, user)
            for folder in (self._folder, self.lent):
                folder.chmod(0o711)

    def reach(self, readable: Iterable[str]) -> Reach:
        """Return the reach of a process that starts programs, reads these paths and writes here."""
        # /proc: LibreOffice starts others, which are ended with it. Of processes outside, Landlock shows no secrets.
        return Reach((*readable, "/proc", str(self.lent)), (str(self.own),), programs=True, user=self._user)

    def variables(self) -> dict[str, str]:
        """Return the environment by which programs write here."""
        return {"HOME": os.fspath(self.own), "TMPDIR": os.fspath(self.own)}

    @contextmanager
    def lend(self, path: Path) -> Iterator[Path]:
        """Lend a file under its name: the file itself, or a copy if that is impossible.

        A path that is no file is lent as a missing one.
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
