"""What passes between the steps that turn files into documents.

Extraction knows two kinds of failure: a file that is at fault is rejected and stays so until it is
changed; a file we could not read in time, in memory or for lack of a tool has failed and may be tried again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal, Protocol

from rag_engine.errors import SextantError
from rag_engine.types import Box

Reason = Literal[
    "empty",
    "unsupported_type",
    "mislabelled",
    "encrypted",
    "damaged",
    "no_pages",
    "too_many_pages",
    "too_large",
    "no_text",
    "not_utf8",
    "too_slow",
    "too_much_memory",
    "crashed",
    "ocr_missing",
    "office_missing",
]
RefusalStatus = Literal["rejected", "failed"]

_OUR_FAILURES: frozenset[Reason] = frozenset(
    {"too_slow", "too_much_memory", "crashed", "ocr_missing", "office_missing"}
)


class FileRefused(SextantError):  # noqa: N818 - refusing is an answer, not an accident
    """A file that gave no text, with the reason from the fixed list."""

    def __init__(self, reason: Reason, message: str, *, help: str) -> None:
        super().__init__(message, help=help, retryable=reason in _OUR_FAILURES)
        self.reason: Reason = reason

    @property
    def status(self) -> RefusalStatus:
        """ "rejected" when the file is at fault, "failed" when we could not."""
        return "failed" if self.reason in _OUR_FAILURES else "rejected"


@dataclass(frozen=True, slots=True)
class ExtractionLimits:
    """What one file may cost: sizes in bytes, times in seconds.

    `ocr_seconds` is added to `seconds` for every page that is read by OCR. `unpacked_bytes` and
    `archive_entries` bound what a zip-based file may claim to hold, `archive_ratio` how much larger than
    itself it may grow.
    """

    max_bytes: int = 500_000_000
    max_pages: int = 5_000
    seconds: float = 600.0
    ocr_seconds: float = 60.0
    memory_bytes: int = 4 * 2**30
    unpacked_bytes: int = 2**30
    archive_entries: int = 20_000
    archive_ratio: float = 250.0


@dataclass(frozen=True, slots=True)
class Picture:
    """A rendered page: grey samples, one byte each, row by row without padding."""

    page: int
    width: int
    height: int
    dpi: int
    samples: bytes


@dataclass(frozen=True, slots=True)
class OcrLine:
    """A line read from a picture; the box is in pixels; lines of one `block` belong to one paragraph."""

    text: str
    box: Box
    block: int


class OcrEngine(Protocol):
    """Pictures of pages to lines of text."""

    @property
    def name(self) -> str: ...

    def read(self, pictures: Iterable[Picture]) -> Iterator[tuple[OcrLine, ...]]:
        """For each picture of one document its lines in reading order; BackendError when the engine is away."""
        ...
