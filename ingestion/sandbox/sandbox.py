"""Sandbox: foreign files are parsed in child processes, with limits on time, memory and pages."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Self, get_args

from ingestion.extraction.wire import (
    Packet,
    decode,
    encode,
    from_json,
    lines_from_json,
    reading_from_json,
)
from ingestion.file_reading import ExtractionLimits, FileReading, PrintedPages, time_for
from ingestion.types.outcome import OutcomeReason, Refusal
from rag_engine.backends.office.program import office_folders
from rag_engine.config import ROOT, OcrChoice, easyocr_folder
from rag_engine.confinement.confine import unprivileged_user
from rag_engine.confinement.pool import ChildPool, ConfinedChild
from rag_engine.confinement.scratch import Scratch
from rag_engine.messages import Message

_CONVERT = "Save it in another format, such as PDF, and add that."


class Sandbox:
    """Child processes that read files, `count` at a time; a broken child is replaced.

    A child reaches the file that is lent to it, a folder for itself, the programs that it calls, and nothing else. It
    is started when it is first needed, and dies with its parent. Safe from several threads.
    """

    def __init__(self, limits: ExtractionLimits | None = None, ocr: OcrChoice = "auto", count: int = 1) -> None:
        self._limits = limits or ExtractionLimits()
        self._pool = ChildPool(partial(_FileReader, self._limits, ocr))
        self._turns = threading.Semaphore(count)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self._pool.end()

    def abort(self) -> None:
        """Kill the children, from any thread, and read no more: every reading ends with a refusal."""
        self._pool.kill()

    @property
    def process_id(self) -> int | None:
        """Process id of the first child; None while there is none."""
        return next(iter(self._pool.process_ids), None)

    def read(self, path: Path, patience: float = 1.0) -> FileReading:
        """Return text, properties and index lines; Refusal of a file without text or beyond its limits.

        A file whose text was read is not refused for want of the rest. With `patience` it may take that many times as
        long as others of its size.
        """
        with self._asked(path, patience) as answer:
            extracted = answer()
            try:
                return reading_from_json({**extracted, **answer()})
            except Refusal as refusal:
                return FileReading(from_json(extracted["extracted"]), index_error=refusal.message)

    def lines(self, path: Path, pages: Collection[int]) -> PrintedPages:
        """Return the lines of some pages (from 1) of a PDF and how its pages are numbered; Refusal as `read`."""
        with self._asked(path, pages=sorted(pages)) as answer:
            return lines_from_json(answer())

    @contextmanager
    def _asked(self, path: Path, patience: float = 1.0, **more: object) -> Iterator[Callable[[], Packet]]:
        """Lend a file to a child and ask about it; yield what waits for the next answer, as `_answer` does."""
        size = path.stat().st_size if path.is_file() else 0
        seconds, ocr_seconds = (patience * allowed(size, self._limits) for allowed in (time_for, ocr_time_for))
        with self._turns:
            if self._pool.closed:
                raise _unexpected(f"{path.name} was not read: it was broken off.")
            child = self._pool.take()
            try:
                with child.scratch.lend(path) as lent:
                    self._await_start(child, path)
                    child.send(encode({"path": os.fspath(lent), "seconds": seconds, **more}))
                    yield partial(self._answer, child, path, seconds, ocr_seconds)
            finally:
                self._pool.give_back(child)

    def _await_start(self, child: _FileReader, path: Path) -> None:
        """Return when a child is ready; Refusal, which is not the file's fault, where it does not start."""
        if child.is_up():
            return
        child.kill()
        ended = f"the program that reads it does not start ({child.last_words()})"
        self._pool.dismiss(child)
        cause = "it was broken off" if self._pool.closed else ended
        raise _unexpected(f"{path.name} was not read: {cause}.")

    def _answer(self, child: _FileReader, path: Path, seconds: float, ocr_seconds: float) -> Packet:
        """Return a child's next answer; Refusal if it is one. A child that gives none is dismissed."""
        healthy = False
        try:
            answer = self._received(child, path, seconds, ocr_seconds)
            healthy = answer.get("refused") not in ("too_much_memory", "crashed", "unexpected")
        finally:
            # Also after an interrupt: a child in the middle of a file would answer the next question with it.
            if not healthy:
                self._pool.dismiss(child)
        if "refused" in answer:
            raise _refusal(path, answer, self._limits)
        return answer

    def _received(self, child: _FileReader, path: Path, seconds: float, ocr_seconds: float) -> Packet:
        deadline, left = time.monotonic() + seconds, ocr_seconds
        while body := child.receive(deadline - time.monotonic(), seconds):
            try:
                message = decode(body)
            except ValueError as error:
                raise _crashed(path, str(error)) from error
            if "ocr_page" not in message:
                return message
            more = min(self._limits.ocr_seconds, left)
            deadline, left = deadline + more, left - more
        if body == b"" and self._pool.closed:
            raise _unexpected(f"{path.name} was not read to its end: it was broken off.")
        if body is None or child.exit_code() == -signal.SIGXCPU:
            raise Refusal(
                "too_slow",
                "{file} was not read within {seconds:g} seconds.",
                help="Split it into smaller files.",
                file=path.name,
                seconds=round(seconds + ocr_seconds - left, 1),
            )
        raise _crashed(path, child.last_words())


class _FileReader(ConfinedChild):
    """A child process and the folder where files are lent to it."""

    def __init__(self, limits: ExtractionLimits, ocr: OcrChoice) -> None:
        # The paths that the child reads: our code and tables, its programs and their data.
        tables = [path for path in (ROOT / "data").glob("*") if path.name != "workspace"]
        tesseract, languages = shutil.which("tesseract"), os.environ.get("TESSDATA_PREFIX")
        programs = [*office_folders(), *([Path(tesseract).resolve().parent] if tesseract else [])]
        folders = [ROOT / "ingestion", *tables, *programs, easyocr_folder(), *([languages] if languages else [])]
        readable = tuple(str(folder) for folder in folders)
        self.scratch = Scratch(unprivileged_user(readable))
        settings = encode({"limits": asdict(limits), "ocr": ocr}).decode()
        variables = {**self.scratch.variables(), "SEXTANT_EASYOCR_MODELS": os.fspath(easyocr_folder())}
        module, reach = "ingestion.sandbox.child", self.scratch.reach(readable)
        try:
            super().__init__(module, reach, settings, variables=variables, stderr=subprocess.PIPE)
        except OSError:
            self.scratch.close()
            raise

    def end(self) -> None:
        """End the process, and remove the folder."""
        super().end()
        self.scratch.close()


def ocr_time_for(size: int, limits: ExtractionLimits) -> float:
    """Return the seconds that OCR of a file of this size in bytes may take altogether.

    A scan of a page has 20,000 bytes at least; more pages than that only repeat one.
    """
    return limits.ocr_least_seconds + limits.ocr_seconds_a_megabyte * size / 1e6


def _refusal(path: Path, answer: Packet, limits: ExtractionLimits) -> Refusal:
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


def _unexpected(message: str) -> Refusal:
    cure = Message("Try again; `sextant doctor` may say why.")
    return Refusal("unexpected", message, help=cure, retryable=True)


def _crashed(path: Path, cause: str) -> Refusal:
    return Refusal(
        "crashed", "{file} broke the program that reads it ({cause}).", help=_CONVERT, file=path.name, cause=cause
    )
