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

from ingestion.extraction.formats.pdf_lines import printed_from_json
from ingestion.extraction.sandbox.wire import Message, Reassembler, encode, from_json, write_all
from ingestion.types import ExtractionLimits, FileProperties, OutcomeReason, PrintedPages, Refusal
from rag_engine.config import ROOT, OcrChoice
from rag_engine.types import ExtractedText

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

    @property
    def process_id(self) -> int | None:
        """The child's process id; None while there is none."""
        return self._child.pid if self._child else None

    def extract(self, path: Path) -> ExtractedText:
        """What the file says; Refusal when it says nothing or breaks its limits."""
        path = path.absolute()
        answer = self._asked(path, {"path": os.fspath(path)})
        if "refused" in answer:
            raise _refusal(path, answer, self._limits)
        return from_json(answer["extracted"])

    def declared(self, path: Path) -> FileProperties:
        """What the file says of itself; an empty one where it says nothing or cannot be read."""
        path = path.absolute()
        try:
            answer = self._asked(path, {"declare": os.fspath(path)})
        except Refusal:
            return FileProperties()
        told: Message = {
            name: tuple(value) if isinstance(value, list) else value
            for name, value in answer.get("declared", {}).items()
        }
        return FileProperties(**told)

    def printed(self, path: Path, pages: Collection[int]) -> PrintedPages:
        """The lines of some pages (from 1) of a PDF and how its pages are numbered; Refusal as `extract`."""
        path = path.absolute()
        answer = self._asked(path, {"printed": os.fspath(path), "pages": sorted(pages)})
        if "refused" in answer:
            raise _refusal(path, answer, self._limits)
        return printed_from_json(answer["lines"])

    def _asked(self, path: Path, request: Message) -> Message:
        """The child's answer to a request about a file; a child that gave none is stopped."""
        healthy = False
        try:
            child = self._started()
            _send(child, request)
            answer = self._answer(child, path)
            healthy = answer.get("refused") not in ("too_much_memory", "crashed")
        except (BrokenPipeError, ValueError) as error:
            raise _crashed(path, str(error)) from error
        finally:
            # Also after an interrupt: a child in the middle of a file would answer the next question with it.
            if not healthy:
                self._stop()
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
            start_new_session=True,
            env=_environment(),
        )
        _widen(self._child)
        _send(self._child, {"limits": asdict(self._limits), "ocr": self._ocr})
        return self._child

    def _stop(self) -> None:
        child, self._child = self._child, None
        if child is None:
            return
        with suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)
        child.wait()
        for stream in (child.stdin, child.stdout):
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
    return _crashed(path, f"signal {-code}" if code < 0 else f"exit code {code}")


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
        """Nothing; ends what the child processes are at. Whoever waits for them hears that they broke."""
        for sandbox in self._all:
            child = sandbox.process_id
            if child is not None:
                with suppress(ProcessLookupError):
                    os.killpg(child, signal.SIGKILL)

    def extract(self, path: Path) -> ExtractedText:
        """What the file says; Refusal when it says nothing or breaks its limits."""
        with self._one() as sandbox:
            return sandbox.extract(path)

    def declared(self, path: Path) -> FileProperties:
        """What the file says of itself; an empty one where it says nothing or cannot be read."""
        with self._one() as sandbox:
            return sandbox.declared(path)

    def printed(self, path: Path, pages: Collection[int]) -> PrintedPages:
        """The lines of some pages (from 1) of a PDF and how its pages are numbered; Refusal as `extract`."""
        with self._one() as sandbox:
            return sandbox.printed(path, pages)

    @contextmanager
    def _one(self) -> Iterator[Sandbox]:
        sandbox = self._free.get()
        try:
            yield sandbox
        finally:
            self._free.put(sandbox)
