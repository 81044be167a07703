"""Page renderer: pictures of pages, drawn by child processes with limits on time and memory, and cached."""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
import weakref
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import lru_cache
from multiprocessing import Pipe
from pathlib import Path

from rag_engine.errors import InputError, SextantError, WorkspaceError
from rag_engine.text.sentences import Span
from rag_engine.types import Box

_PROCESSES = 4
_CACHED = 200
_SECONDS = 20
_MEMORY_BYTES = 2**30
_OPEN_INSTEAD = "Open the original file instead."


class PageRenderer:
    """Draws pages in child processes, of which another is started while all are busy. Safe from several threads.

    A page that breaks the limits is cached as well, as its error: drawing it is not tried again.
    """

    def __init__(self, *, seconds: int = _SECONDS, memory_bytes: int = _MEMORY_BYTES) -> None:
        self._seconds = seconds
        self._memory_bytes = memory_bytes
        self._children: list[_Child] = []
        self._idle: queue.LifoQueue[_Child] = queue.LifoQueue()
        self._threads = ThreadPoolExecutor(_PROCESSES, thread_name_prefix="page renderer")
        self._cached = lru_cache(_CACHED)(self._begin)
        # A renderer that is only dropped leaves no process behind either.
        self._end_children = weakref.finalize(self, _end_all, self._children)

    def start(self) -> None:
        """Start the first process, so that the first page does not wait for it."""
        self._idle.put(self._new_child())

    def page(
        self, file: Path, page: int, marks: Sequence[Box], strong: Sequence[Box] = (), *, width: int = 1000
    ) -> Future[bytes]:
        """Draw a page (from 1) as a PNG with `marks` washed softly and `strong` more, `width` pixels wide.

        Boxes are in points of the page as it is drawn. A page much taller than wide comes out narrower. The future
        fails with InputError when there is no such page, with WorkspaceError when it cannot be read or breaks the
        limits.
        """
        boxes = [[(box.x0, box.y0, box.x1, box.y1) for box in part] for part in (marks, strong)]
        return self._cached(
            f"Page {page} of {file.name}",
            json.dumps({"file": os.fspath(file), "page": page, "marks": boxes[0], "strong": boxes[1], "width": width}),
            _state(file),
        )

    def size(self, file: Path, page: int) -> Future[bytes]:
        """Measure a page (from 1): its width and height in points, as two numbers in text; it fails as `page` does."""
        return self._cached(
            f"Page {page} of {file.name}",
            json.dumps({"file": os.fspath(file), "page": page, "measure": True}),
            _state(file),
        )

    def text(
        self, text: str, marks: Sequence[Span], strong: Sequence[Span] = (), *, width: int = 1000
    ) -> Future[bytes]:
        """Draw a plain sheet as a PNG with characters marked, for formats without page geometry."""
        request = {"text": text, "marks": list(marks), "strong": list(strong), "width": width}
        return self._cached("This text", json.dumps(request), None)

    def close(self) -> None:
        """End the processes; what is not drawn yet is cancelled."""
        self._threads.shutdown(wait=False, cancel_futures=True)
        # A thread that waits for one closes its connection; closed by two, it might be another's by then.
        for child in tuple(self._children):
            child.kill()
        self._threads.shutdown()
        self._end_children()

    def _begin(self, name: str, request: str, _state: object) -> Future[bytes]:
        return self._threads.submit(self._draw, name, request)

    def _draw(self, name: str, request: str) -> bytes:
        try:
            child = self._idle.get_nowait()
        except queue.Empty:
            child = self._new_child()
        answer = child.ask(request.encode(), self._seconds)
        if not answer:
            code = child.end()
            self._children.remove(child)
            cause = f"takes longer than {self._seconds} s" if answer is None else f"ends the program (exit code {code})"
            raise WorkspaceError(f"{name} cannot be drawn: it {cause}.", help=_OPEN_INSTEAD)
        self._idle.put(child)
        word, _, body = answer.partition(b"\n")
        if word not in (b"picture", b"size"):
            raise _error(name, word.decode(), body.decode(errors="replace"))
        return body

    def _new_child(self) -> _Child:
        child = _Child(self._memory_bytes, self._seconds)
        self._children.append(child)
        return child


class _Child:
    """A running drawing process and the connection to it."""

    def __init__(self, memory_bytes: int, seconds: int) -> None:
        self._connection, theirs = Pipe()
        with theirs:
            descriptor = theirs.fileno()
            script = Path(__file__).with_name("page_drawing.py")
            self._process = subprocess.Popen(
                [sys.executable, "-I", script, str(descriptor), str(memory_bytes), str(seconds)],
                pass_fds=[descriptor],
                # Nothing is ever written on it: its end tells the child that we are gone.
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
                # Nothing of our settings; one thread, whose stack is all that numpy then reserves.
                env={"PATH": os.defpath, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
            )

    def ask(self, request: bytes, seconds: float) -> bytes | None:
        """Return the answer to a request; None when it takes too long, nothing when the process has ended."""
        try:
            self._connection.send_bytes(request)
            return self._connection.recv_bytes() if self._connection.poll(seconds) else None
        except (EOFError, OSError):
            return b""

    def kill(self) -> None:
        """End the process; whoever waits for its answer hears so at once."""
        self._process.kill()

    def end(self) -> int:
        """End the process, close the connection, and return the exit code."""
        with self._process, self._connection:
            self.kill()
        return self._process.returncode


def _state(file: Path) -> tuple[int, int, int] | None:
    """Return the part of a cache key by which a file that was added again is drawn again."""
    stat = file.stat() if file.exists() else None
    return (stat.st_ino, stat.st_mtime_ns, stat.st_size) if stat else None


def _end_all(children: Sequence[_Child]) -> None:
    for child in tuple(children):
        child.end()


def _error(name: str, word: str, detail: str) -> SextantError:
    match word:
        case "no such page":
            return InputError(f"{name} does not exist.", help=f"The file has pages 1 to {detail}.")
        case "password":
            return WorkspaceError(f"{name} asks for a password.", help="Add a copy without a password.")
        case "too large":
            return WorkspaceError(f"{name} needs too much memory to draw.", help=_OPEN_INSTEAD)
        case _:
            return WorkspaceError(
                f"{name} cannot be drawn: {detail}.",
                help="Add the document again; its stored file is damaged or missing.",
            )
