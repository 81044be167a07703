"""Foreign files are parsed in a process of their own, with limits on time, memory and pages."""

from __future__ import annotations

import fcntl
import os
import queue
import select
import signal
import subprocess
import sys
import time
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict
from pathlib import Path
from types import TracebackType
from typing import Self, get_args

from ingestion.extraction.sandbox.wire import (
    Message,
    Reassembler,
    encode,
    from_json,
    lines_from_json,
    reading_from_json,
    write_all,
)
from ingestion.types import ExtractionLimits, FileReading, OutcomeReason, PrintedPages, Refusal
from rag_engine.config import ROOT, OcrChoice

_CHUNK = 2**20


class Sandbox:
    """One child process that reads file after file and is replaced when a file breaks it.

    Use it as a context manager, from one thread at a time. The child dies with its parent.
    """

    def __init__(self, limits: ExtractionLimits | None = None, ocr: OcrChoice = "auto") -> None:
        self._limits = limits or ExtractionLimits()
        self._ocr: OcrChoice = ocr
        self._child: subprocess.Popen[bytes] | None = None
        self._stream = Reassembler()

    def __enter__(self) -> Self:
        self._started()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop()

    def abort(self) -> None:
        """Kill the child, from any thread. Whoever waits for it gets a refusal."""
        process_id = self.process_id
        if process_id is not None:
            with suppress(ProcessLookupError):
                os.killpg(process_id, signal.SIGKILL)

    @property
    def process_id(self) -> int | None:
        """Process id of the child; None while there is none."""
        return self._child.pid if self._child else None

    def read(self, path: Path) -> FileReading:
        """Return the text, properties and index lines of a file; Refusal when it has no text or breaks its limits.

        A file whose text was read is not refused for want of the rest.
        """
        path = path.absolute()
        extracted = self._ask(path, {"path": os.fspath(path)})
        try:
            return reading_from_json({**extracted, **self._await(path)})
        except Refusal as refusal:
            return FileReading(from_json(extracted["extracted"]), index_error=str(refusal))

    def lines(self, path: Path, pages: Collection[int]) -> PrintedPages:
        """Return the lines of some pages (from 1) of a PDF and how its pages are numbered; Refusal as `read`."""
        path = path.absolute()
        return lines_from_json(self._ask(path, {"path": os.fspath(path), "pages": sorted(pages)}))

    def _ask(self, path: Path, request: Message) -> Message:
        """Return the child's first answer to a request about a file."""
        _send(self._started(), request)
        return self._await(path)

    def _await(self, path: Path) -> Message:
        """Return the child's next answer; Refusal when it is one. A child that gives none is stopped."""
        healthy = False
        try:
            assert self._child is not None
            answer = self._answer(self._child, path)
            healthy = answer.get("refused") not in ("too_much_memory", "crashed")
        except ValueError as error:
            raise _crashed(path, str(error)) from error
        finally:
            # Also after an interrupt: a child in the middle of a file would answer the next question with it.
            if not healthy:
                self._stop()
        if "refused" in answer:
            raise _refusal(path, answer, self._limits)
        return answer

    def _answer(self, child: subprocess.Popen[bytes], path: Path) -> Message:
        assert child.stdout is not None
        descriptor = child.stdout.fileno()
        deadline = time.monotonic() + self._limits.seconds
        while True:
            while (message := self._stream.next()) is not None:
                if "ocr_page" not in message:
                    return message
                deadline += self._limits.ocr_seconds
            remaining = deadline - time.monotonic()
            if remaining <= 0 or not select.select([descriptor], [], [], remaining)[0]:
                raise _too_slow(path, self._limits)
            piece = os.read(descriptor, _CHUNK)
            if not piece:
                raise _ended(path, child, self._limits)
            self._stream.feed(piece)

    def _started(self) -> subprocess.Popen[bytes]:
        if self._child is not None and self._child.poll() is None:
            return self._child
        self._stop()
        self._stream = Reassembler()
        self._child = subprocess.Popen(
            # -P: modules are found by PYTHONPATH alone, not in whatever folder we were started in.
            [sys.executable, "-P", "-m", "ingestion.extraction.sandbox.child"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
            env=_environment(),
        )
        _widen(self._child)
        _send(self._child, {"limits": asdict(self._limits), "ocr": self._ocr})
        return self._child

    def _stop(self) -> None:
        self.abort()
        child, self._child = self._child, None
        if child is None:
            return
        child.wait()
        for stream in (child.stdin, child.stdout, child.stderr):
            if stream is not None:
                stream.close()


def _environment() -> dict[str, str]:
    """Our environment without our own settings: a parser has no use for keys and addresses."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("SEXTANT_")}
    return {**kept, "PYTHONPATH": os.pathsep.join(filter(None, [str(ROOT), kept.get("PYTHONPATH")]))}


def _widen(child: subprocess.Popen[bytes]) -> None:
    """Make room for most answers as a whole: through 64 KiB at a time, each side waits for the other's turn."""
    assert child.stdout is not None
    # The system may have less to give, or know no such request.
    with suppress(OSError, AttributeError):
        fcntl.fcntl(child.stdout.fileno(), fcntl.F_SETPIPE_SZ, _CHUNK)


def _send(child: subprocess.Popen[bytes], message: Message) -> None:
    assert child.stdin is not None
    # A child that has ended gives no answer, and is asked for its exit code then.
    with suppress(BrokenPipeError):
        write_all(child.stdin.fileno(), encode(message))


def _refusal(path: Path, answer: Message, limits: ExtractionLimits) -> Refusal:
    reason: OutcomeReason = answer["refused"] if answer["refused"] in get_args(OutcomeReason) else "crashed"
    if reason == "too_much_memory":
        return Refusal(
            reason,
            f"{path.name} needs more than {limits.memory_bytes:,} bytes of memory.",
            help="Split it into smaller files.",
        )
    return Refusal(reason, answer["message"], help=answer.get("help") or _CONVERT)


_CONVERT = "Save it in another format, such as PDF, and add that."


def _too_slow(path: Path, limits: ExtractionLimits) -> Refusal:
    return Refusal(
        "too_slow",
        f"{path.name} was not read within {limits.seconds:g} seconds.",
        help="Split it into smaller files.",
    )


def _ended(path: Path, child: subprocess.Popen[bytes], limits: ExtractionLimits) -> Refusal:
    code = child.wait()
    if code == -signal.SIGXCPU:
        return _too_slow(path, limits)
    assert child.stderr is not None
    *_, said = [f"exit code {code}", *child.stderr.read().decode("utf-8", "replace").splitlines()]
    return _crashed(path, f"signal {-code}" if code < 0 else said)


def _crashed(path: Path, cause: str) -> Refusal:
    return Refusal("crashed", f"{path.name} broke the program that reads it ({cause}).", help=_CONVERT)


class Sandboxes:
    """As many sandboxes as may work at a time; each is started when it is first needed. Safe from several threads."""

    def __init__(self, count: int, limits: ExtractionLimits, ocr: OcrChoice) -> None:
        self._free: queue.SimpleQueue[Sandbox] = queue.SimpleQueue()
        self._all = [Sandbox(limits, ocr) for _ in range(count)]
        for sandbox in self._all:
            self._free.put(sandbox)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for sandbox in self._all:
            sandbox.__exit__(kind, error, trace)

    def abort(self) -> None:
        """Kill the child processes. Whoever waits for them gets a refusal."""
        for sandbox in self._all:
            sandbox.abort()

    def read(self, path: Path) -> FileReading:
        """Return the text, properties and index lines of a file; Refusal when it has no text or breaks its limits."""
        with self._one() as sandbox:
            return sandbox.read(path)

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
