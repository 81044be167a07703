"""Page renderer: pictures of pages, drawn by child processes with limits on time and memory, and cached."""

from __future__ import annotations

import json
import math
import os
import queue
import subprocess
import sys
import threading
import time
import weakref
from collections import Counter, OrderedDict, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from functools import partial
from multiprocessing import Pipe
from multiprocessing.reduction import send_handle
from pathlib import Path

import psutil  # type: ignore[import-untyped]

from rag_engine.backends.drawing.page_cache import REMEMBERED_SECONDS, PageCache
from rag_engine.backends.drawing.passage_finder import SoughtPassage
from rag_engine.confinement.confine import Reach, child_environment, unprivileged_user
from rag_engine.errors import InputError, SextantError, WorkspaceError
from rag_engine.text.sentences import Span
from rag_engine.types import Box

# Enough that three documents whose pages take too long, at once, leave room for the next.
_PROCESSES = 6
# Of these, a document keeps so many busy however many of its pages are asked for: the others wait for each other.
_OF_ONE_FILE = 2
_CACHED = 50
_SECONDS = 5
_START_SECONDS = 60
# A page that was given up while others had the processors, all but this share of the time, is not at fault: it is
# tried again after a minute, and not after a day. An ordinary page needs no more than that share.
_STARVED = 0.05
_AGAIN_SECONDS = 60.0
_MEMORY_BYTES = 2**30
# How an answer begins that is no error.
_ANSWERS = (b"picture", b"size", b"found", b"lines")
_OPEN_INSTEAD = "Open the original file instead."


class PageRenderer:
    """Draws pages in child processes, of which another is started while all are busy. Safe from several threads.

    A page that breaks the limits is remembered with its error: for a day drawing it is not tried again, by nobody who
    uses the same `cache`.
    """

    def __init__(
        self, cache: PageCache | None = None, *, seconds: int = _SECONDS, memory_bytes: int = _MEMORY_BYTES
    ) -> None:
        self._cache = cache
        self._seconds = seconds
        self._memory_bytes = memory_bytes
        self._children: list[_Child] = []
        self._idle: queue.LifoQueue[_Child] = queue.LifoQueue()
        self._turns = _Turns()
        self._lock = threading.Lock()
        self._begun: OrderedDict[_Drawing, tuple[Future[bytes], float]] = OrderedDict()
        # A renderer that is only dropped leaves no process behind either.
        self._end_children = weakref.finalize(self, _end_all, self._children)

    def start(self) -> None:
        """Start the first process, so that the first page does not wait for it."""
        self._idle.put(self._new_child())

    def page(
        self,
        file: Path,
        page: int,
        marks: Sequence[Box],
        strong: Sequence[Box] = (),
        *,
        width: int = 1000,
        content: str = "",
    ) -> Future[bytes]:
        """Draw a page (from 1) as a PNG with `marks` washed softly and `strong` more, `width` pixels wide.

        Boxes are in points of the page as it is drawn. A page much taller than wide comes out narrower. Under the hash
        of the file's `content` the picture is kept on the disk. The future fails with InputError when there is no such
        page, with WorkspaceError when it cannot be read or breaks the limits.
        """
        boxes = [[(box.x0, box.y0, box.x1, box.y1) for box in part] for part in (marks, strong)]
        return self._of_file(file, page, content, {"marks": boxes[0], "strong": boxes[1], "width": width})

    def size(self, file: Path, page: int, *, content: str = "") -> Future[bytes]:
        """Measure a page (from 1): its width and height in points, as two numbers in text; it fails as `page` does."""
        return self._of_file(file, page, content, {"measure": True})

    def lines(self, file: Path, page: int, *, content: str = "") -> Future[bytes]:
        """Read a page (from 1): JSON with its width and height in points, and its lines with their boxes.

        It fails as `page` does.
        """
        return self._of_file(file, page, content, {"lines": True})

    def find(self, file: Path, sought: SoughtPassage, *, content: str = "") -> Future[bytes]:
        """Find a passage in a layout: JSON with its "page", its "boxes" on each page, and all the "pages" there are.

        "first" and "last" are the pages of its slide or sheet, 0 and -1 for one that the layout lacks, and "page" is 0
        then. It fails as `page` does.
        """
        return self._of_file(file, 1, content, {"find": asdict(sought)})

    def text(
        self, text: str, marks: Sequence[Span], strong: Sequence[Span] = (), *, width: int = 1000
    ) -> Future[bytes]:
        """Draw a plain sheet as a PNG with characters marked, for formats without page geometry."""
        request = {"text": text, "marks": list(marks), "strong": list(strong), "width": width}
        return self._cached(_Drawing("This text", json.dumps(request)))

    def close(self) -> None:
        """End the processes; what is not drawn yet is cancelled."""
        self._turns.cancel()
        # A thread that waits for one closes its connection; closed by two, it might be another's by then.
        for child in tuple(self._children):
            child.kill()
        self._turns.join()
        self._end_children()

    def _of_file(self, file: Path, page: int, content: str, asked: Mapping[str, object]) -> Future[bytes]:
        request = json.dumps({"page": page, **asked})
        name, of_one_page = f"Page {page} of {file.name}", "find" not in asked
        return self._cached(_Drawing(name, request, file, page, content, _state(file), of_one_page))

    def _cached(self, drawing: _Drawing) -> Future[bytes]:
        """Return what was begun before, unless it failed and may be tried again by now."""
        with self._lock:
            future, when = self._begun.pop(drawing, (None, 0.0))
            if future is None or time.monotonic() - when > _lasting(future):
                future, when = self._begin(drawing), time.monotonic()
            self._begun[drawing] = future, when
            if len(self._begun) > _CACHED:
                self._begun.popitem(last=False)
        return future

    def _begin(self, drawing: _Drawing) -> Future[bytes]:
        known: Future[bytes] = Future()
        try:
            answer = self._known(drawing)
            if answer is None:
                return self._turns.submit(os.fspath(drawing.file or drawing.request), partial(self._drawn, drawing))
            known.set_result(self._body(drawing, answer))
        except SextantError as error:
            known.set_exception(error)
        return known

    def _drawn(self, drawing: _Drawing) -> bytes:
        # Looked for again: the page may have been drawn, or given up, while this waited for its turn.
        return self._body(drawing, self._known(drawing) or self._draw(drawing))

    def _body(self, drawing: _Drawing, answer: bytes) -> bytes:
        word, _, body = answer.partition(b"\n")
        if word not in _ANSWERS:
            raise _error(drawing.name, word.decode(), body.decode(errors="replace"))
        return body

    def _known(self, drawing: _Drawing) -> bytes | None:
        """Return what the cache holds; an error for a page that could not be drawn of late. None of a file gone."""
        if self._cache is None or not drawing.content or drawing.state is None:
            return None
        refused = self._cache.refusal(drawing.content, drawing.page)
        if refused:
            raise _cannot(drawing.name, refused)
        return self._cache.find(drawing.content, drawing.page, drawing.request)

    def _draw(self, drawing: _Drawing) -> bytes:
        cache = self._cache if drawing.content else None
        with _opened(drawing) as descriptor:
            child = self._waiting_child(drawing)
            before = child.processor_seconds()
            answer = child.ask(drawing.request.encode(), descriptor, self._seconds)
            busy = child.processor_seconds() - before
        if not answer:
            code = self._dismiss(child)
            late = f"it takes longer than {self._seconds} seconds"
            cause = late if answer is None else f"it ends the program (exit code {code})"
            starved = answer is None and busy < _STARVED * self._seconds
            blamed = drawing.of_one_page and not (self._turns.cancelled or starved)
            if cache is not None and drawing.file is not None and blamed:
                cache.refuse(drawing.file, drawing.content, drawing.page, cause)
            raise _cannot(drawing.name, cause, retryable=starved)
        self._idle.put(child)
        if cache is not None and drawing.file is not None and answer.startswith(_ANSWERS):
            cache.keep(drawing.file, drawing.content, drawing.page, drawing.request, answer)
        return answer

    def _waiting_child(self, drawing: _Drawing) -> _Child:
        """Return a process that waits for work; WorkspaceError, which is not the page's fault, where none starts."""
        while not self._idle.empty():
            with suppress(queue.Empty):
                child = self._idle.get_nowait()
                if child.is_up():
                    return child
                self._dismiss(child)
        child = self._new_child()
        if not child.is_up():
            cause = f"the program that draws pages does not start (exit code {self._dismiss(child)})"
            raise _cannot(drawing.name, cause, retryable=True)
        return child

    def _dismiss(self, child: _Child) -> int:
        """End a process, and return its exit code."""
        self._children.remove(child)
        return child.end()

    def _new_child(self) -> _Child:
        child = _Child(self._memory_bytes, self._seconds)
        self._children.append(child)
        if self._turns.cancelled:
            child.kill()  # `close` may have ended those it knew just before, and waits for what this one would draw
        return child


@dataclass(frozen=True, slots=True)
class _Drawing:
    """One thing to draw: a request to a process, and the page of a file that it is about. `name` is for a person.

    By `state` a file that was added again is drawn again.
    """

    name: str
    request: str
    file: Path | None = None
    page: int = 0
    content: str = ""
    state: tuple[int, int, int] | None = None
    # Words are looked for on many pages: that it takes long says nothing about the one.
    of_one_page: bool = True


class _Turns:
    """Threads that wait for processes, of which no document keeps more than a few."""

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(_PROCESSES, thread_name_prefix="page renderer")
        self._lock = threading.Lock()
        self._busy: Counter[str] = Counter()
        self._waiting: dict[str, deque[tuple[Future[bytes], Callable[[], bytes]]]] = {}
        self._begun: set[Future[bytes]] = set()
        self.cancelled = False

    def submit(self, whose: str, work: Callable[[], bytes]) -> Future[bytes]:
        """Have work for a document done when it is its turn."""
        future: Future[bytes] = Future()
        with self._lock:
            if self.cancelled:
                future.cancel()
            elif self._busy[whose] < _OF_ONE_FILE:
                self._busy[whose] += 1
                self._begin(whose, future, work)
            else:
                self._waiting.setdefault(whose, deque()).append((future, work))
        return future

    def cancel(self) -> None:
        """Begin no more work."""
        with self._lock:
            self.cancelled = True
            for future in [*self._begun, *(one for line in self._waiting.values() for one, _ in line)]:
                future.cancel()
            self._threads.shutdown(wait=False, cancel_futures=True)

    def join(self) -> None:
        """Wait until the work that was begun has ended."""
        self._threads.shutdown()

    def _begin(self, whose: str, future: Future[bytes], work: Callable[[], bytes]) -> None:
        self._begun.add(future)
        self._threads.submit(self._carry_out, whose, future, work)

    def _carry_out(self, whose: str, future: Future[bytes], work: Callable[[], bytes]) -> None:
        if future.set_running_or_notify_cancel():
            try:
                future.set_result(work())
            except BaseException as error:
                future.set_exception(error)
        with self._lock:
            self._begun.discard(future)
            waiting = self._waiting.get(whose)
            if waiting and not self.cancelled:
                self._begin(whose, *waiting.popleft())
            else:
                self._waiting.pop(whose, None)
                self._busy[whose] -= 1
                self._busy += Counter()


class _Child:
    """A running drawing process and the connection to it."""

    def __init__(self, memory_bytes: int, seconds: int) -> None:
        self._connection, theirs = Pipe()
        self._is_ready = False
        with theirs:
            descriptor = theirs.fileno()
            reach = Reach(user=unprivileged_user()).to_argument()
            module = [sys.executable, "-P", "-s", "-m", "rag_engine.backends.drawing.page_drawing"]
            self._process = subprocess.Popen(
                [*module, reach, str(descriptor), str(memory_bytes), str(seconds)],
                pass_fds=[descriptor],
                # Nothing is ever written on it: its end tells the child that we are gone.
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
                env=child_environment(OMP_NUM_THREADS="1"),
            )

    def is_up(self) -> bool:
        """Wait until the process is ready; return whether it is, and has not ended since."""
        try:
            if not self._is_ready and self._connection.poll(_START_SECONDS):
                self._is_ready = bool(self._connection.recv_bytes())
        except (EOFError, OSError):
            return False
        return self._is_ready and self._process.poll() is None

    def ask(self, request: bytes, descriptor: int | None, seconds: float) -> bytes | None:
        """Return the answer to a request about an open file; None when it takes too long, empty when it has ended."""
        try:
            self._connection.send_bytes(request)
            if descriptor is not None:
                send_handle(self._connection, descriptor, self._process.pid)
            return self._connection.recv_bytes() if self._connection.poll(seconds) else None
        except (EOFError, OSError):
            return b""

    def processor_seconds(self) -> float:
        """Return the processor time that the process has used; 0 where it has ended."""
        try:
            used = psutil.Process(self._process.pid).cpu_times()
        except psutil.Error:
            return 0.0
        return float(used.user + used.system)

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


@contextmanager
def _opened(drawing: _Drawing) -> Iterator[int | None]:
    """Yield the descriptor of the file that is drawn, None for a text; WorkspaceError where it is missing."""
    if drawing.file is None:
        yield None
        return
    try:
        file = drawing.file.open("rb")
    except OSError as error:
        raise _error(drawing.name, "damaged", error.strerror or str(error)) from error
    with file:
        yield file.fileno()


def _lasting(future: Future[bytes]) -> float:
    """Return the seconds for which an outcome is not looked for again."""
    if not future.done() or future.cancelled():
        return math.inf
    error = future.exception()
    if isinstance(error, SextantError) and error.retryable:
        return _AGAIN_SECONDS
    return math.inf if error is None else float(REMEMBERED_SECONDS)


def _cannot(name: str, cause: str, *, retryable: bool = False) -> WorkspaceError:
    return WorkspaceError(
        "{name} cannot be drawn: {cause}.", help=_OPEN_INSTEAD, retryable=retryable, name=name, cause=cause
    )


def _error(name: str, word: str, detail: str) -> SextantError:
    match word:
        case "no such page":
            return InputError("{name} does not exist.", help="The file has pages 1 to {last}.", name=name, last=detail)
        case "password":
            return WorkspaceError("{file} asks for a password.", help="Add a copy without a password.", file=name)
        case "too large":
            return WorkspaceError("{name} needs too much memory to draw.", help=_OPEN_INSTEAD, name=name)
        case _:
            return WorkspaceError(
                "{name} cannot be drawn: {cause}.",
                help="Add the document again; its stored file is damaged or missing.",
                name=name,
                cause=detail,
            )
