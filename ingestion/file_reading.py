"""Types of reading one file: its limits, the engine that reads pictures, and the result."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol

from rag_engine.messages import NO_MESSAGE, Message
from rag_engine.types.document import Box, ExtractedText


@dataclass(frozen=True, slots=True)
class ExtractionLimits:
    """Limits on what one file may cost: sizes in bytes, times in seconds.

    `max_bytes` is the page's maxUploadSize. The time grows with the size of the file, from `least_seconds` to
    `seconds`. `ocr_seconds` is added for every page that is read by OCR, as long as the file is large enough for this
    many scans. `unpacked_bytes` and `archive_entries` bound the contents that a zip-based file may claim;
    `archive_ratio` bounds its growth. Of a text only the first `max_characters` are taken.
    """

    max_bytes: int = 500 * 2**20
    max_pages: int = 5_000
    max_characters: int = 15_000_000
    least_seconds: float = 60.0
    seconds_a_megabyte: float = 20.0
    seconds: float = 600.0
    ocr_seconds: float = 60.0
    ocr_least_seconds: float = 600.0
    ocr_seconds_a_megabyte: float = 3000.0
    memory_bytes: int = 4 * 2**30
    unpacked_bytes: int = 2**30
    archive_entries: int = 20_000
    archive_ratio: float = 250.0


def time_for(size: int, limits: ExtractionLimits) -> float:
    """Return the seconds that reading a file of this size in bytes may take, but for OCR.

    >>> limits = ExtractionLimits(seconds=300, least_seconds=60, seconds_a_megabyte=20)
    >>> time_for(5_000_000, limits), time_for(90_000_000, limits)
    (160.0, 300)
    """
    return min(limits.seconds, limits.least_seconds + limits.seconds_a_megabyte * size / 1e6)


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
    def note(self) -> str:
        """Return a note for the analyst on the engine that read; "" for none."""

    def read(self, pictures: Iterable[Picture]) -> Iterator[tuple[OcrLine, ...]]:
        """Yield the lines of each picture in reading order; BackendError if the engine is unavailable."""
        ...


@dataclass(frozen=True, slots=True)
class PlacedLine:
    """A run of text on one baseline of a page; box and size in points.

    `bold` is how many characters begin in bold.
    """

    text: str
    page: int
    box: Box
    size: float
    bold: int = 0


@dataclass(frozen=True, slots=True)
class PrintedPages:
    """The lines of the pages that were asked for, with what tells how the pages of the file are numbered.

    `labels` has one label a page, or is empty if the file has none. `margins` are the first and last lines of pages, as
    (page, text). `height` is that of most pages, in points.
    """

    labels: tuple[str, ...] = ()
    margins: tuple[tuple[int, str], ...] = ()
    lines: tuple[PlacedLine, ...] = ()
    height: float = 0.0

    def margins_by_page(self) -> dict[int, list[str]]:
        """Return the margin lines of each page."""
        pages: dict[int, list[str]] = {}
        for page, text in self.margins:
            pages.setdefault(page, []).append(text)
        return pages


@dataclass(frozen=True, slots=True)
class FileProperties:
    """The properties of a file, each empty if it declares none.

    `date` is the day of publication, an ISO date or its prefix. `created` is the day on which the file was made, which
    may be any later day for a copy or an excerpt. `in_force` is the day from which a law has effect. `margins` are the
    recurrent lines at the head or foot of its first pages. Extraction leaves them out of the text, and journals print
    their date there. `identifiers` are the official ones of the document, such as its CELEX number.
    """

    title: str = ""
    authors: tuple[str, ...] = ()
    publisher: str = ""
    language: str = ""
    date: str = ""
    keywords: tuple[str, ...] = ()
    description: str = ""
    created: str = ""
    margins: tuple[str, ...] = ()
    identifiers: tuple[str, ...] = ()
    in_force: str = ""


@dataclass(frozen=True, slots=True)
class FileReading:
    """Result of reading one file: its text, its properties, and the lines of its index or glossary.

    `index_lines` is None if no page looks like an index or a glossary, or if `index_error` says why they were not read.
    """

    extracted: ExtractedText
    properties: FileProperties = FileProperties()
    index_lines: PrintedPages | None = None
    index_error: Message = NO_MESSAGE
