"""Foreign files are parsed in a process of their own, with limits on time, memory and pages."""

from __future__ import annotations

import os
import queue
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Self, get_args

from ingestion.extraction.sandbox.wire import (
    LARGEST_MESSAGE,
    Message,
    decode,
    encode,
    from_json,
    lines_from_json,
    reading_from_json,
)
from ingestion.types import ExtractionLimits, FileReading, OutcomeReason, PrintedPages, Refusal
from rag_engine.backends.office.program import office_folders
from rag_engine.config import ROOT, OcrChoice, easyocr_folder
from rag_engine.confinement.confine import Reach, child_environment, unprivileged_user
from rag_engine.confinement.scratch import Scratch
from rag_engine.text.templates import kept_sentence

# A start takes seconds on a busy machine, and is not of the file's time.
_START_SECONDS = 60.0


class Sandbox:
    """One child process that reads file after file and is replaced when a file breaks it.

    It reaches the file that is lent to it, a folder of its own, the programs that it calls, and nothing else.

    Use it as a context manager, from one thread at a time. The child dies with its parent.
    """

    def __init__(self, limits: ExtractionLimits | None = None, ocr: OcrChoice = "auto") -> None:
        self._limits = limits or ExtractionLimits()
        self._ocr: OcrChoice = ocr
        self._child: subprocess.Popen[bytes] | None = None
        self._connection: Connection | None = None
        self._scratch: Scratch | None = None
        self._seconds = self._ocr_seconds = 0.0
        self._is_ready = self._aborted = False

    def __enter__(self) -> Self:
        self._started()
        return self

    def __exit__(self, *_error: object) -> None:
        self._stop()

    def abort(self) -> None:
        """Kill the child, from any thread, and read no more. Whoever asks gets a refusal; the file is not at fault."""
        self._aborted = True
        self._kill()

    def _kill(self) -> None:
        process_id = self.process_id
        if process_id is not None:
            with suppress(ProcessLookupError):
                os.killpg(process_id, signal.SIGKILL)

    @property
    def process_id(self) -> int | None:
        """Process id of the child; None while there is none."""
        return self._child.pid if self._child else None

    def read(self, path: Path, patience: float = 1.0) -> FileReading:
        """Return the text, properties and index lines of a file; Refusal when it has no text or breaks its limits.

        A file whose text was read is not refused for want of the rest. With `patience` it may take that many times as
        long as others of its size.
        """
        with self._lent(path, patience) as lent:
            extracted = self._ask(path, {"path": os.fspath(lent), "seconds": self._seconds})
            try:
                return reading_from_json({**extracted, **self._await(path)})
            except Refusal as refusal:
                return FileReading(from_json(extracted["extracted"]), index_error=str(refusal))

    def lines(self, path: Path, pages: Collection[int]) -> PrintedPages:
        """Return the lines of some pages (from 1) of a PDF and how its pages are numbered; Refusal as `read`."""
        with self._lent(path) as lent:
            request = {"path": os.fspath(lent), "seconds": self._seconds, "pages": sorted(pages)}
            return lines_from_json(self._ask(path, request))

    @contextmanager
    def _lent(self, path: Path, patience: float = 1.0) -> Iterator[Path]:
        """Start the child unless it runs, and let it have a file for as long as it is asked about it."""
        if self._aborted:
            raise _unexpected(f"{path.name} was not read: it was broken off.")
        size = path.stat().st_size if path.is_file() else 0
        self._seconds = patience * time_for(size, self._limits)
        self._ocr_seconds = patience * ocr_time_for(size, self._limits)
        self._started()
        assert self._scratch is not None
        with self._scratch.lend(path) as lent:
            yield lent

    def _ask(self, path: Path, request: Message) -> Message:
        """Return the child's first answer to a request about a file."""
        self._send(request)
        return self._await(path)

    def _await(self, path: Path) -> Message:
        """Return the child's next answer; Refusal when it is one. A child that gives none is stopped."""
        healthy = False
        try:
            answer = self._answer(path)
            healthy = answer.get("refused") not in ("too_much_memory", "crashed", "unexpected")
        finally:
            # Also after an interrupt: a child in the middle of a file would answer the next question with it.
            if not healthy:
                self._stop()
        if "refused" in answer:
            raise _refusal(path, answer, self._limits)
        return answer

    def _answer(self, path: Path) -> Message:
        assert self._connection is not None
        if not self._is_ready:
            self._await_start(path, self._connection)
        deadline, left = time.monotonic() + self._seconds, self._ocr_seconds
        while self._connection.poll(max(0.0, deadline - time.monotonic())):
            message = self._received(path, self._connection)
            if "ocr_page" not in message:
                return message
            more = min(self._limits.ocr_seconds, left)
            deadline, left = deadline + more, left - more
        raise _too_slow(path, self._seconds + self._ocr_seconds - left)

    def _await_start(self, path: Path, connection: Connection) -> None:
        """Return when the child says that it is ready; Refusal, which is not the file's fault, where it does not."""
        try:
            if not connection.poll(_START_SECONDS):
                raise TimeoutError
            self._is_ready = bool(decode(connection.recv_bytes(LARGEST_MESSAGE)))
        except (EOFError, OSError, ValueError) as error:
            self._kill()
            ended = f"the program that reads it does not start ({self._last_words()})"
            cause = "it was broken off" if self._aborted else ended
            raise _unexpected(f"{path.name} was not read: {cause}.") from error

    def _received(self, path: Path, connection: Connection) -> Message:
        # A child that stops in the middle of an answer is not waited for.
        stuck = threading.Event()
        guard = threading.Timer(self._seconds, self._kill_stuck, [stuck])
        guard.start()
        try:
            return decode(connection.recv_bytes(LARGEST_MESSAGE))
        except (EOFError, OSError) as error:
            self._kill()
            raise (_too_slow(path, self._seconds) if stuck.is_set() else self._ended(path)) from error
        except ValueError as error:
            raise _crashed(path, str(error)) from error
        finally:
            guard.cancel()

    def _kill_stuck(self, stuck: threading.Event) -> None:
        stuck.set()
        self._kill()

    def _ended(self, path: Path) -> Refusal:
        cause = self._last_words()
        if self._aborted:
            return _unexpected(f"{path.name} was not read to its end: it was broken off.")
        if self._child is not None and self._child.returncode == -signal.SIGXCPU:
            return _too_slow(path, self._seconds)
        return _crashed(path, cause)

    def _last_words(self) -> str:
        """Return the signal that ended the child, or the last line that it wrote."""
        assert self._child is not None
        assert self._child.stderr is not None
        code = self._child.wait()
        *_, last_line = [f"exit code {code}", *self._child.stderr.read().decode("utf-8", "replace").splitlines()]
        return f"signal {-code}" if code < 0 else last_line

    def _started(self) -> None:
        """Start the child unless it runs."""
        if self._child is not None and self._child.poll() is None:
            return
        self._stop()
        self._is_ready = False
        self._connection, theirs = Pipe()
        readable = _readable()
        user = unprivileged_user(readable)
        self._scratch = Scratch(user)
        # /proc: LibreOffice starts others, which are ended with it. Of processes outside, Landlock shows no secrets.
        reach = Reach(
            (*readable, "/proc", str(self._scratch.lent)), (str(self._scratch.own),), programs=True, user=user
        )
        with theirs:
            self._child = subprocess.Popen(
                # -P: modules are found by PYTHONPATH alone, not in whatever folder we were started in.
                [
                    sys.executable,
                    "-P",
                    "-s",
                    "-m",
                    "ingestion.extraction.sandbox.child",
                    reach.to_argument(),
                    str(theirs.fileno()),
                ],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                start_new_session=True,
                env=_environment(self._scratch.own),
            )
        self._send({"limits": asdict(self._limits), "ocr": self._ocr})

    def _send(self, message: Message) -> None:
        assert self._connection is not None
        # A child that has ended gives no answer, and is asked for its exit code then.
        with suppress(ConnectionError):
            self._connection.send_bytes(encode(message))

    def _stop(self) -> None:
        self._kill()
        child, self._child = self._child, None
        if child is not None and self._connection is not None:
            with child:
                self._connection.close()
        if self._scratch is not None:
            self._scratch.close()
            self._scratch = None


def time_for(size: int, limits: ExtractionLimits) -> float:
    """Return the seconds that reading a file of so many bytes may take, but for OCR."""
    return min(limits.seconds, limits.least_seconds + limits.seconds_a_megabyte * size / 1e6)


def ocr_time_for(size: int, limits: ExtractionLimits) -> float:
    """Return the seconds that OCR of a file of so many bytes may take altogether.

    A scan of a page has 20,000 bytes at least; more pages than that only repeat one.
    """
    return limits.ocr_least_seconds + limits.ocr_seconds_a_megabyte * size / 1e6


def _environment(own: Path) -> dict[str, str]:
    folder = os.fspath(own)
    return child_environment(HOME=folder, TMPDIR=folder, SEXTANT_EASYOCR_MODELS=os.fspath(easyocr_folder()))


def _readable() -> tuple[str, ...]:
    """Return what the child reads beside the interpreter: our code and tables, the programs it calls, their data."""
    tables = [path for path in (ROOT / "data").glob("*") if path.name != "workspace"]
    tesseract, languages = shutil.which("tesseract"), os.environ.get("TESSDATA_PREFIX")
    programs = [*office_folders(), *([Path(tesseract).resolve().parent] if tesseract else [])]
    folders = [ROOT / "ingestion", *tables, *programs, easyocr_folder(), *([languages] if languages else [])]
    return tuple(str(folder) for folder in folders)


def _refusal(path: Path, answer: Message, limits: ExtractionLimits) -> Refusal:
    reason: OutcomeReason = answer["refused"] if answer["refused"] in get_args(OutcomeReason) else "crashed"
    if reason == "too_much_memory":
        return Refusal(
            reason,
            "{file} needs more than {limit:,} bytes of memory.",
            help="Split it into smaller files.",
            file=path.name,
            limit=limits.memory_bytes,
        )
    if reason == "unexpected":
        return _unexpected(answer["message"])
    return Refusal(reason, answer["message"], help=answer.get("help") or _CONVERT)


_CONVERT = "Save it in another format, such as PDF, and add that."


def _too_slow(path: Path, seconds: float) -> Refusal:
    return Refusal(
        "too_slow",
        "{file} was not read within {seconds:g} seconds.",
        help="Split it into smaller files.",
        file=path.name,
        seconds=round(seconds, 1),
    )


def _unexpected(message: str) -> Refusal:
    cure = kept_sentence("Try again; `sextant doctor` may say why.")
    return Refusal("unexpected", message, help=cure, retryable=True)


def _crashed(path: Path, cause: str) -> Refusal:
    return Refusal(
        "crashed", "{file} broke the program that reads it ({cause}).", help=_CONVERT, file=path.name, cause=cause
    )


class Sandboxes:
    """As many sandboxes as may work at a time; each is started when it is first needed. Safe from several threads."""

    def __init__(self, count: int, limits: ExtractionLimits, ocr: OcrChoice) -> None:
        self._free: queue.SimpleQueue[Sandbox] = queue.SimpleQueue()
        self._all = [Sandbox(limits, ocr) for _ in range(count)]
        for sandbox in self._all:
            self._free.put(sandbox)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        for sandbox in self._all:
            sandbox.__exit__()

    def abort(self) -> None:
        """Kill the child processes. Whoever waits for them gets a refusal."""
        for sandbox in self._all:
            sandbox.abort()

    def read(self, path: Path, patience: float = 1.0) -> FileReading:
        """Return the text, properties and index lines of a file; Refusal when it has no text or breaks its limits."""
        with self._one() as sandbox:
            return sandbox.read(path, patience)

    def lines(self, path: Path, pages: Collection[int]) -> PrintedPages:
        """Return the lines of some pages (from 1) of a PDF and how its pages are numbered; Refusal as `read`."""
        with self._one() as sandbox:
            return sandbox.lines(path, pages)

    @contextmanager
    def _one(self) -> Iterator[Sandbox]:
        sandbox = self._free.get()
        try:
            yield sandbox
        finally:
            self._free.put(sandbox)
