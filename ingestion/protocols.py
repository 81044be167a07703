"""Protocols of tools outside: web, browser, reader of files, language model. Tests use small fakes."""

from __future__ import annotations

from collections.abc import Callable, Collection
from pathlib import Path
from typing import Protocol

from ingestion.file_reading import FileReading, PrintedPages
from ingestion.types.source import Fetched, Validators


class Web(Protocol):
    """Plain requests to addresses that may be fetched; `Refusal` with the reason for everything else.

    Safe from several threads. It waits its turn at each host and keeps to robots.txt.
    """

    def fetch(
        self,
        url: str,
        *,
        into: Path | None = None,
        max_bytes: int | None = None,
        validators: Validators | None = None,
        accept: str = "",
    ) -> Fetched:
        """Return the body in memory, or streamed to the file `into` (which appears only when it is whole).

        A status of 400 or more is a refusal (not_found, access_denied, rate_limited, http_error); 304 is not.
        """


class Browser(Protocol):
    """A real browser, for one thread, for pages with JavaScript and files that refuse plain requests."""

    def render(self, url: str) -> Fetched:
        """Return the page as it is after its scripts ran, as UTF-8 HTML in `body`."""

    def download(self, url: str, into: Path, *, max_bytes: int | None = None) -> Fetched:
        """Return the file behind an address, streamed to `into`."""

    def close(self) -> None:
        """End the browser and its work, from any thread."""


# Opens the browser when it is first needed; None where there is none or it is switched off.
OpenBrowser = Callable[[], Browser | None]


class Extractor(Protocol):
    """Reader of foreign files, under limits; Refusal with the reason."""

    def read(self, path: Path, patience: float = 1.0) -> FileReading:
        """Return text, properties and index lines of a file, within `patience` times the usual limit."""

    def lines(self, path: Path, pages: Collection[int]) -> PrintedPages:
        """Return the lines of some pages (from 1) of a PDF and how its pages are numbered."""

    def abort(self) -> None:
        """End the reading, from any thread; its caller gets a refusal."""


class LanguageModel(Protocol):
    """A language model that fills a JSON schema; BackendError if it does not in time."""

    @property
    def name(self) -> str:
        """Name of the model."""

    def complete_json(self, system: str, user: str, schema: dict[str, object], *, seconds: float) -> dict[str, object]:
        """Return the reply, valid under the schema; BackendError if there is none in time."""
