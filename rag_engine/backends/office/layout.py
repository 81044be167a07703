"""Layout of office files: PDFs that a confined LibreOffice makes, kept with drawn pages.

Run as a module it is that process.
"""

from __future__ import annotations

import os
import resource
import shutil
import stat
import subprocess
import sys
from collections.abc import Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import lru_cache
from pathlib import Path

from rag_engine.backends.drawing.page_cache import PageCache
from rag_engine.backends.office.program import office_copy, office_folders, office_program
from rag_engine.confinement.confine import Reach, confine, unprivileged_user
from rag_engine.confinement.parent import end_with_parent
from rag_engine.confinement.pool import kill, start_confined
from rag_engine.confinement.scratch import Scratch
from rag_engine.errors import WorkspaceError

_SUFFIXES = frozenset({".doc", ".docx", ".odt", ".ppt", ".pptx", ".odp", ".xls", ".xlsx", ".ods", ".rtf"})
_SECONDS = 60
# Seconds that the process needs to start and to end, in addition to LibreOffice's time.
_MORE_SECONDS = 15
_MADE = "layout.pdf"
# Of any file that the process writes.
_MOST_BYTES = 2**29
# Of memory, for LibreOffice: a workbook of a million rows takes 2 GB.
_MOST_MEMORY = 4 * 2**30
# How the process ends where LibreOffice did not in its time.
_TOO_SLOW = 124


def is_office_file(name: str) -> bool:
    """Return whether LibreOffice knows how a file of this name looks."""
    return Path(name).suffix.lower() in _SUFFIXES


class OfficeLayouts:
    """Makes PDFs of office files. Safe from several threads."""

    def __init__(self, cache: PageCache, *, seconds: int = _SECONDS) -> None:
        self._cache = cache
        self._seconds = seconds
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="office layout")
        self._begun = lru_cache(50)(lambda file, content: self._thread.submit(self._make, file, content))
        self._running: subprocess.Popen[bytes] | None = None
        self._closed = False

    def pdf(self, file: Path, content: str) -> Future[Path]:
        """Return the PDF of a file with this hash, and make it if it is missing.

        The future fails with WorkspaceError where LibreOffice is not installed or cannot make one in time.
        """
        if self._cache.layout(content).exists():
            ready: Future[Path] = Future()
            ready.set_result(self._cache.layout(content))
            return ready
        found = self._begun(file, content)
        if found.done():
            # It was made and had to make room, or it was not and what was missing may be there now.
            self._begun.cache_clear()
            return self._begun(file, content)
        return found

    def close(self) -> None:
        """End the running conversions."""
        self._closed = True
        self._thread.shutdown(wait=False, cancel_futures=True)
        running = self._running
        if running is not None:
            kill(running)
        self._thread.shutdown()

    def _make(self, file: Path, content: str) -> Path:
        program = office_program()
        if program is None:
            raise _not_shown(file, "LibreOffice is not installed")
        refused = self._cache.refusal(content, 0)
        if refused:
            raise _not_shown(file, refused)
        folders = office_folders()
        scratch = Scratch(unprivileged_user(folders))
        try:
            with scratch.lend(file) as lent:
                cause = self._run(scratch, folders, program, str(lent), str(self._seconds))
            made = read_made(scratch.own / _MADE)
            if not made:
                if not self._closed:
                    self._cache.refuse(file, content, 0, cause)
                raise _not_shown(file, cause)
            self._cache.keep_layout(file, content, made)
        finally:
            scratch.close()
        return self._cache.layout(content)

    def _run(self, scratch: Scratch, folders: Iterable[str], *arguments: str) -> str:
        """Have the process make the PDF, and return why there may be none."""
        module, reach = "rag_engine.backends.office.layout", scratch.reach(folders)
        with start_confined(
            module, reach, *arguments, variables=scratch.variables(), folder=scratch.own
        ) as self._running:
            try:
                code = self._running.wait(self._seconds + _MORE_SECONDS)
            except subprocess.TimeoutExpired:
                code = _TOO_SLOW
            finally:
                kill(self._running)
        self._running = None
        too_slow = f"LibreOffice takes longer than {self._seconds} seconds"
        return too_slow if code == _TOO_SLOW else "LibreOffice cannot read it"


def read_made(path: Path) -> bytes:
    """Return the PDF that the process left, or b"".

    It may have been taken over by the document: a link would be followed with our rights.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return b""
    try:
        state = os.fstat(descriptor)
        if not stat.S_ISREG(state.st_mode) or state.st_size > _MOST_BYTES:
            return b""
        with os.fdopen(descriptor, "rb", closefd=False) as file:
            return file.read()
    finally:
        os.close(descriptor)


def _not_shown(file: Path, cause: str) -> WorkspaceError:
    return WorkspaceError(
        "{file} cannot be shown as it looks: {cause}.",
        help="Open the original file instead.",
        file=file.name,
        cause=cause,
    )


def main() -> None:
    """Convert the file that the arguments name into the folder where this process may write."""
    confine(Reach.from_argument(sys.argv[1]))
    resource.setrlimit(resource.RLIMIT_FSIZE, (_MOST_BYTES, _MOST_BYTES))
    resource.setrlimit(resource.RLIMIT_DATA, (_MOST_MEMORY, _MOST_MEMORY))
    end_with_parent(group=True)
    program, file, seconds = sys.argv[2], Path(sys.argv[3]), float(sys.argv[4])
    try:
        with office_copy(program, file, "pdf", seconds) as (made, _):
            if made is not None:
                shutil.move(made, Path(os.environ["HOME"], _MADE))
    except TimeoutError:
        sys.exit(_TOO_SLOW)


if __name__ == "__main__":
    main()
