"""Several child processes that read files side by side."""

from __future__ import annotations

import os
import queue
import signal
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Self

from ingestion.backends.sandbox import Sandbox
from ingestion.declared import Declared
from ingestion.printed import PrintedPages
from ingestion.types import ExtractionLimits
from rag_engine.config import OcrChoice
from rag_engine.types import ExtractedText


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
        """What the file says; FileRefused when it says nothing or breaks its limits."""
        with self._one() as sandbox:
            return sandbox.extract(path)

    def declared(self, path: Path) -> Declared:
        """What the file says of itself; an empty one where it says nothing or cannot be read."""
        with self._one() as sandbox:
            return sandbox.declared(path)

    def printed(self, path: Path, pages: Collection[int]) -> PrintedPages:
        """The lines of some pages (from 1) of a PDF and how its pages are numbered; FileRefused as `extract`."""
        with self._one() as sandbox:
            return sandbox.printed(path, pages)

    @contextmanager
    def _one(self) -> Iterator[Sandbox]:
        sandbox = self._free.get()
        try:
            yield sandbox
        finally:
            self._free.put(sandbox)
