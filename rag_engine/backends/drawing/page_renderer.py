"""Page renderer: pictures of pages, drawn by limited child processes, and cached."""

from __future__ import annotations

import json
import math
import os
import threading
import time
from collections import Counter, OrderedDict, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

import psutil  # type: ignore[import-untyped]

from rag_engine.backends.drawing.page_cache import REMEMBERED_SECONDS, PageCache
from rag_engine.backends.drawing.passage_finder import SoughtPassage
from rag_engine.confinement.confine import Reach, unprivileged_user
from rag_engine.confinement.pool import ChildPool, ConfinedChild
from rag_engine.errors import InputError, SextantError, WorkspaceError
from rag_engine.text.sentences import Span
from rag_engine.types.document import Box

# Enough that three documents whose pages take too long, at once, leave room for the next.
_PROCESSES = 6
# A document keeps at most this number of processes busy; more of its pages wait for each other.
_OF_ONE_FILE = 2
_CACHED = 50
_SECONDS = 5
# A page that was given up while others had the processors, all but this share of the time, is not at fault: it is
# tried again after a minute, and not after a day. An ordinary page needs no more than that share.
_STARVED = 0.05
_AGAIN_SECONDS = 60.0
_MEMORY_BYTES = 2**30
# How an answer begins that is no error.
_ANSWERS = (b"picture", b"size", b"found", b"lines")
_OPEN_INSTEAD = "Open the original file instead."


class PageRenderer:
    """Draws pages in child processes; another is started while all are busy. Thread-safe.

    A page that breaks the limits is remembered with its error. For a day no renderer with the same `cache` draws it
    again.
    """

    def __init__(
        self, cache: PageCache | None = None, *, seconds: int = _SECONDS, memory_bytes: int = _MEMORY_BYTES
    ) -> None:
        self._cache = cache
        self._seconds = seconds
        module, reach = "rag_engine.backends.drawing.page_drawing", Reach(user=unprivileged_user())
        limits = str(memory_bytes), str(seconds)
        self._pool = ChildPool(lambda: ConfinedChild(module, reach, *limits, variables={"OMP_NUM_THREADS": "1"}))
        self._turns = _Turns()
        self._lock = threading.Lock()
        self._begun: OrderedDict[_Drawing, tuple[Future[bytes], float]] = OrderedDict()

    def start(self) -> None:
        """Start the first process, so that the first page does not wait for it."""
        self._pool.give_back(self._pool.start())

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
        """Measure a page (from 1): width and height in points, as text; it fails as `page` does."""
        return self._of_file(file, page, content, {"measure": True})

    def lines(self, file: Path, page: int, *, content: str = "") -> Future[bytes]:
        """Read a page (from 1): JSON with its width and height in points, and its lines with their boxes.

        It fails as `page` does.
        """
        return self._of_file(file, page, content, {"lines": True})

    def find(self, file: Path, sought: SoughtPassage, *, content: str = "") -> Future[bytes]:
        """Find a passage: JSON with its "page", its "boxes" on each page, and the number of "pages".

        "first" and "last" are the pages of its slide or sheet. If the layout lacks it, they are 0 and -1, and "page" is
        0. Errors are those of `page`.
        """
        return self._of_file(file, 1, content, {"find": asdict(sought)})

    def text(
        self, text: str, marks: Sequence[Span], strong: Sequence[Span] = (), *, width: int = 1000
    ) -> Future[bytes]:
        """Draw a plain sheet as a PNG with characters marked, for formats without page geometry."""
        request = {"text": text, "marks": list(marks), "strong": list(strong), "width": width}
        return self._cached(_Drawing("This text", json.dumps(request)))

    def close(self) -> None:
        """End the processes and cancel the drawings that are not finished."""
        self._turns.cancel()
        self._pool.kill()
        self._turns.join()
        self._pool.end()

    def _of_file(self, file: Path, page: int, content: str, asked: Mapping[str, object]) -> Future[bytes]:
        request = json.dumps({"page": page, **asked})
        name, of_one_page = f"Page {page} of {file.name}", "find" not in asked
        stat = file.stat() if file.exists() else None
        state = (stat.st_ino, stat.st_mtime_ns, stat.st_size) if stat else None
        return self._cached(_Drawing(name, request, file, page, content, state, of_one_page))

    def _cached(self, drawing: _Drawing) -> Future[bytes]:
        """Return the drawing that was begun before, or begin it.

        A failed drawing is tried again after a while.
        """
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
        """Return the cached answer, None of a file gone; WorkspaceError for a page given up of late."""
        if self._cache is None or not drawing.content or drawing.state is None:
            return None
        refused = self._cache.refusal(drawing.content, drawing.page)
        if refused:
            raise _cannot(drawing.name, refused)
        return self._cache.find(drawing.content, drawing.page, drawing.request)

    def _draw(self, drawing: _Drawing) -> bytes:
        cache = self._cache if drawing.content else None
        with _opened(drawing) as descriptor:
            child = self._pool.take()
            if not child.is_up():
                self._pool.dismiss(child)
                cause = f"the program that draws pages does not start (exit code {child.exit_code()})"
                raise _cannot(drawing.name, cause, retryable=True)
            before = _processor_seconds(child)
            child.send(drawing.request.encode(), descriptor)
            answer = child.receive(self._seconds, self._seconds)
            busy = _processor_seconds(child) - before
        if not answer:
            self._pool.dismiss(child)
            late = f"it takes longer than {self._seconds} seconds"
            cause = late if answer is None else f"it ends the program (exit code {child.exit_code()})"
            starved = answer is None and busy < _STARVED * self._seconds
            blamed = drawing.of_one_page and not (self._pool.closed or starved)
            if cache is not None and drawing.file is not None and blamed:
                cache.refuse(drawing.file, drawing.content, drawing.page, cause)
            raise _cannot(drawing.name, cause, retryable=starved)
        self._pool.give_back(child)
        if cache is not None and drawing.file is not None and answer.startswith(_ANSWERS):
            cache.keep(drawing.file, drawing.content, drawing.page, drawing.request, answer)
        return answer


@dataclass(frozen=True, slots=True)
class _Drawing:
    """One request to a drawing process, and the page of a file that it is about.

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
    """Threads that wait for processes; each document keeps only a few of them."""

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
        """Begin no further work."""
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


def _processor_seconds(child: ConfinedChild) -> float:
    """Return the processor time that a process has used, or 0 if it has ended."""
    try:
        used = psutil.Process(child.process_id).cpu_times()
    except psutil.Error:
        return 0.0
    return float(used.user + used.system)


@contextmanager
def _opened(drawing: _Drawing) -> Iterator[int | None]:
    """Yield the descriptor of the file to draw, None for a text; WorkspaceError if it is missing."""
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
