"""Process in which foreign files are parsed; started by `Sandbox`, never by hand.

Its arguments are the files within its reach, its limits, its choice of OCR and the connection. On this it reads
requests and answers. Nothing is ever written on its standard input, on which the kernel tells that the parent is gone.
Its standard error carries the messages of a failed start. It is moved away then, so that no library and no document can
write on it.
"""

from __future__ import annotations

import errno
import gc
import os
import queue
import resource
import signal
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from functools import cache, partial
from multiprocessing.connection import Connection
from pathlib import Path

from ingestion.extraction.extract import extract
from ingestion.extraction.file_type import MEDIA_TYPES
from ingestion.extraction.ocr.choose import choose_ocr
from ingestion.extraction.properties import read_properties
from ingestion.extraction.wire import (
    Packet,
    clues_to_json,
    decode,
    encode,
    lines_to_json,
    to_json,
)
from ingestion.file_reading import ExtractionLimits, FileReading, OcrEngine, OcrLine, Picture, PrintedPages
from ingestion.types.outcome import Refusal
from rag_engine.config import OcrChoice
from rag_engine.confinement.confine import Reach, confine
from rag_engine.confinement.parent import end_with_parent, limit_processor_time
from rag_engine.confinement.pool import READY
from rag_engine.errors import BackendError
from rag_engine.messages import NO_MESSAGE, Message
from rag_engine.types.document import ExtractedText

# Written out by hand when there is no memory left to build it.
_OBJECTS_BETWEEN_COLLECTIONS = 50_000
_OUT_OF_MEMORY = encode({"refused": "too_much_memory"})
# The machine's state and not the file's: tried again unchanged, the file may well be read.
_OF_THE_MACHINE = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EMFILE, errno.ENFILE, errno.EIO})


def main() -> None:
    """Serve requests until the parent closes the pipe."""
    confine(Reach.from_argument(sys.argv[1]))
    # A parser that holds the interpreter keeps `_listen` from seeing that the parent is gone.
    end_with_parent(group=True)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    settings, parent = decode(sys.argv[2].encode()), Connection(int(sys.argv[3]))
    requests: queue.SimpleQueue[Packet] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(parent, requests.put), daemon=True).start()
    limits = ExtractionLimits(**settings["limits"])
    # A page is thousands of small objects without a cycle: looking for cycles among them took a tenth of the time.
    gc.set_threshold(_OBJECTS_BETWEEN_COLLECTIONS)
    resource.setrlimit(resource.RLIMIT_AS, (limits.memory_bytes, limits.memory_bytes))
    # A file that is written is a converted copy, or what a program unpacks.
    resource.setrlimit(resource.RLIMIT_FSIZE, (limits.unpacked_bytes, limits.unpacked_bytes))
    ocr = None if settings["ocr"] == "none" else _LazyOcr(settings["ocr"], limits, parent)
    parent.send_bytes(READY)
    while True:
        request = requests.get()
        allowed = replace(limits, seconds=request["seconds"])
        _allow(allowed.seconds)
        try:
            for answer in _answers(request, allowed, ocr):
                parent.send_bytes(encode(answer))
        except Refusal as refused:
            answer = {"refused": refused.reason, "message": refused.fault, "help": refused.help}
            parent.send_bytes(encode(answer))
        except MemoryError:
            parent.send_bytes(_OUT_OF_MEMORY)
        except Exception as error:
            # No reader knows every way of being damaged; whatever is left of this process is replaced.
            cause = f"{type(error).__name__}: {error}"
            name = Path(request["path"]).name
            if isinstance(error, OSError) and error.errno in _OF_THE_MACHINE:
                refusal = {"refused": "unexpected", "message": f"{name} could not be read ({cause})."}
            else:
                refusal = {"refused": "crashed", "message": f"{name} broke its reader ({cause})."}
            parent.send_bytes(encode(refusal))
        if not gc.get_freeze_count():
            # Modules, patterns and tables are there to stay: no later collection has to look through them.
            gc.collect()
            gc.freeze()


def _answers(request: Packet, limits: ExtractionLimits, ocr: OcrEngine | None) -> Iterator[Packet]:
    """Yield the lines of pages if a request names them, else a file's text and then its other data."""
    path = Path(request["path"])
    if "pages" in request:
        from ingestion.extraction.formats.pdf_lines import read_lines

        yield lines_to_json(read_lines(path, set(request["pages"])))
        return
    extracted = extract(path, limits, ocr)
    # At once: whatever breaks after it, the text is read.
    yield {"extracted": to_json(extracted)}
    _allow(limits.seconds)
    lines, error = _index_lines(path, extracted)
    yield clues_to_json(FileReading(extracted, read_properties(path, limits), lines, error))


def _index_lines(path: Path, extracted: ExtractedText) -> tuple[PrintedPages | None, Message]:
    """Return the lines of the pages that look like an index or a glossary, and why they were not read."""
    if extracted.media_type != MEDIA_TYPES["pdf"]:
        return None, NO_MESSAGE
    from ingestion.book_index.find_pages import glossary_pages, index_pages

    indexed = index_pages(extracted)
    pages = {*indexed, *glossary_pages(extracted)}
    if not pages:
        return None, NO_MESSAGE
    from ingestion.extraction.formats.pdf_lines import read_lines

    try:
        return read_lines(path, pages, numbered=bool(indexed)), NO_MESSAGE
    except Refusal as refusal:
        return None, refusal.message


def _listen(parent: Connection, deliver: Callable[[Packet], None]) -> None:
    """Deliver requests; when the parent is gone, take the whole group (a running tesseract too) along."""
    with suppress(EOFError, OSError):
        while True:
            deliver(decode(parent.recv_bytes()))
    os.killpg(os.getpgrp(), signal.SIGKILL)


def _allow(seconds: float) -> None:
    limit_processor_time(seconds * (os.cpu_count() or 1))


class _LazyOcr:
    """The engine, found at the first scan, which tells the parent of every page so that it waits longer."""

    def __init__(self, choice: OcrChoice, limits: ExtractionLimits, parent: Connection) -> None:
        self._choose = cache(partial(choose_ocr, choice, limits))
        self._limits = limits
        self._parent = parent

    @property
    def note(self) -> str:
        """Return the note of the engine on itself."""
        engine = self._choose()
        return engine.note if engine else ""

    def read(self, pictures: Iterable[Picture]) -> Iterator[tuple[OcrLine, ...]]:
        """Return the engine's lines for each picture."""
        engine = self._choose()
        if engine is None:
            raise BackendError("No OCR is installed.", help="Install Tesseract.")
        return engine.read(map(self._announced, pictures))

    def _announced(self, picture: Picture) -> Picture:
        self._parent.send_bytes(encode({"ocr_page": picture.page}))
        _allow(self._limits.seconds)
        return picture


if __name__ == "__main__":
    main()
