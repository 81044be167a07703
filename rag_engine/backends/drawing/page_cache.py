"""Cache of drawn pages in the workspace, bounded in bytes.

Each content has a folder, which is removed with its document.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import threading
import time
from contextlib import suppress
from pathlib import Path

from rag_engine.atomic_write import write_atomic
from rag_engine.workspace import inside

_MOST_BYTES = 300 * 2**20
# Share of the bytes that stays when room is made, so that it is not made again for the next page.
_KEPT_SHARE = 0.8
# How long a page that could not be drawn is not tried again: it may have been the machine that was too busy.
REMEMBERED_SECONDS = 24 * 3600
# Raised when pages come to be drawn in another way.
_DRAWING_VERSION = "1"


class PageCache:
    """Answers of the drawing processes, by the content of the file, the page, and the request.

    Several threads and processes may use one folder. A cache that cannot be read or written (a full disk) costs the
    time of drawing again, and is no error.
    """

    def __init__(self, folder: Path, most_bytes: int = _MOST_BYTES) -> None:
        self._folder = folder
        self._most = most_bytes
        self._lock = threading.Lock()
        # As if it were full, so that the first answer has the others counted.
        self._bytes = most_bytes

    def find(self, content: str, page: int, request: str) -> bytes | None:
        """Return the kept answer to a request about a page of the file with this hash, or None."""
        path = self._path(content, page, request)
        try:
            answer = path.read_bytes()
            os.utime(path)
        except OSError:
            return None
        return answer

    def keep(self, original: Path, content: str, page: int, request: str, answer: bytes) -> None:
        """Keep an answer, and make room for it; not for a file that was erased while it was drawn."""
        self._write(original, self._path(content, page, request), answer)

    def refusal(self, content: str, page: int) -> str:
        """Return why a page could not be drawn, or "" if no drawing failed lately."""
        path = self._refusal_path(content, page)
        try:
            recent = time.time() - path.stat().st_mtime < REMEMBERED_SECONDS
            return path.read_text(encoding="utf-8") if recent else ""
        except (OSError, UnicodeError):
            return ""

    def refuse(self, original: Path, content: str, page: int, cause: str) -> None:
        """Remember why a page cannot be drawn."""
        self._write(original, self._refusal_path(content, page), cause.encode())

    def layout(self, content: str) -> Path:
        """Return the path for the PDF layout of an office file, which may not exist yet."""
        path = drawings_of(self._folder, content) / "layout.pdf"
        with suppress(OSError):
            os.utime(path)
        return path

    def keep_layout(self, original: Path, content: str, pdf: bytes) -> None:
        """Keep the PDF of an office file."""
        self._write(original, self.layout(content), pdf)

    def _path(self, content: str, page: int, request: str) -> Path:
        asked = hashlib.sha256(f"{_DRAWING_VERSION} {request}".encode()).hexdigest()[:24]
        return drawings_of(self._folder, content) / f"{page}-{asked}"

    def _refusal_path(self, content: str, page: int) -> Path:
        return drawings_of(self._folder, content) / f"{page}-refused"

    def _write(self, original: Path, path: Path, answer: bytes) -> None:
        with suppress(OSError):
            for folder in (self._folder, path.parent):
                folder.mkdir(mode=0o700, exist_ok=True)
            write_atomic(path, answer, private=True)
            if not original.exists():
                # Erased meanwhile: the erasure removes the original first and this folder after it.
                shutil.rmtree(path.parent, ignore_errors=True)
        with self._lock, suppress(OSError):
            self._bytes += len(answer)
            if self._bytes > self._most:
                self._make_room()

    def _make_room(self) -> None:
        """Remove the answers whose last use is longest ago."""
        found = sorted((path.stat().st_mtime, path.stat().st_size, path) for path in self._folder.glob("*/*"))
        left = sum(size for _, size, _ in found)
        for _, size, path in found:
            if left <= self._most * _KEPT_SHARE:
                break
            path.unlink(missing_ok=True)
            left -= size
        self._bytes = left


def drawings_of(folder: Path, content: str) -> Path:
    """Return the folder of the drawings of the file with this hash.

    It is named as the folder of the file's copy in the workspace.
    """
    return inside(folder, content[:12])
