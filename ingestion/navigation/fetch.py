"""HTTP with browser fallback: a browser asks if a plain request is refused or gives no content."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import quote

from ingestion.catalogues.catalogue_api import catalogue_kind
from ingestion.config import WebConfig
from ingestion.extraction.file_type import content_type
from ingestion.protocols import Browser, OpenBrowser, Web
from ingestion.types.outcome import Refusal
from ingestion.types.source import Fetched, Validators
from ingestion.web.links import suffix_of
from ingestion.web.page import Page, read_page
from ingestion.web.response import PAGES_ONLY, NotAPage, looks_like_file
from rag_engine.messages import Message

_PAGES = ("", "html", "htm", "xhtml", "php", "asp", "aspx", "jsp")


def fetch_with_browser(web: Web, open_browser: OpenBrowser, url: str, into: Path) -> Fetched:
    """Return the answer of an address, fetched by a browser if a plain request is denied.

    A page from the browser is in `body`. Without a browser the refusal stays, and says so.
    """
    try:
        return web.fetch(url, into=into)
    except Refusal as refusal:
        if refusal.reason != "access_denied":
            raise
        browser = open_browser()
        if browser is None:
            raise refusal.again(help=Message("There is no browser to try it with: install Chromium.")) from refusal
        return browser.render(url) if suffix_of(url) in _PAGES else browser.download(url, into)


@dataclass(frozen=True, slots=True)
class Content:
    """Fetched content: a file at `path`, or a page or catalogue in `body`.

    `suffix` and `media_type` follow from its bytes. `catalogue` names the kind of a catalogue in JSON or XML; else it
    is "".
    """

    fetched: Fetched
    suffix: str
    media_type: str
    path: Path
    body: bytes = b""
    catalogue: str = ""

    def page(self) -> Page:
        """Return the page that the body is."""
        return read_page(self.body, self.fetched.charset, self.fetched.url)


class ContentFetcher:
    """Plain requests first, then the browser; every answer passes through the file `into`."""

    def __init__(self, web: Web, open_browser: OpenBrowser, config: WebConfig, into: Path) -> None:
        self._web = web
        self._open_browser = open_browser
        self._config = config
        self._into = into

    def get(self, url: str, *, promised: bool, validators: Validators | None = None) -> Content:
        """Return the content of an address; Refusal "wrong_content" for a page in place of a promised file.

        A browser is tried before. `promised` says that the address is that of a file; a page behind it is an error
        page, even if its status is 200.
        """
        try:
            fetched = self._web.fetch(url, into=self._into, max_bytes=self._config.max_bytes, validators=validators)
        except Refusal as refusal:
            if refusal.reason not in ("access_denied", "wrong_content"):
                raise
            return self._by_browser(url, promised, refusal)
        if fetched.status == 304:
            return Content(fetched, "", "", self._into)
        content = self._identified(fetched)
        if promised and content.suffix == "html":
            return self._by_browser(url, promised, _not_the_file("{url} promises a file and gives a web page.", url))
        return content

    def look(self, url: str) -> Content:
        """Return the page or catalogue behind an address; of a file only its head, with the suffix "".

        The licence of a page that is only looked at is unknown: the body of a file is neither read nor stored.
        """
        try:
            fetched = self._web.fetch(url, max_bytes=self._config.page_bytes, accept=PAGES_ONLY)
        except NotAPage as file:
            return self._unread(file.head)
        except Refusal as refusal:
            if refusal.reason != "access_denied":
                raise
            return self._looked_by_browser(url, refusal)
        return self._unread(fetched) if looks_like_file(fetched.body) else self._identified(fetched)

    def _looked_by_browser(self, url: str, refusal: Refusal) -> Content:
        browser = self._browser(refusal)
        try:
            return self._identified(browser.render(url))
        except NotAPage as file:
            return self._unread(file.head)
        except Refusal as second:
            if second.reason != "wrong_content":
                raise
            return self._unread(Fetched((url,), 200, "", "", b"", how="browser"))

    def _unread(self, fetched: Fetched) -> Content:
        return Content(replace(fetched, body=b""), "", fetched.media_type, self._into)

    def rendered(self, url: str, why: str) -> Content:
        """Return the page after its scripts ran. `why` says what a plain request did not give."""
        return self._identified(self._browser(Refusal("empty_page", why)).render(url))

    def _by_browser(self, url: str, promised: bool, refusal: Refusal) -> Content:
        browser = self._browser(refusal)
        try:
            if not promised:
                return self._identified(browser.render(url))
        except Refusal as second:
            # Its address did not show it, but it is a file.
            if second.reason != "wrong_content":
                raise
        try:
            content = self._identified(browser.download(url, self._into, max_bytes=self._config.max_bytes))
        except Refusal as second:
            if not promised or second.reason != "wrong_content":
                raise
            raise _not_the_file("{url} promises a file and gives a web page, to a browser as well.", url) from second
        if promised and content.suffix == "html":
            raise _not_the_file("{url} promises a file and gives a web page, to a browser as well.", url)
        return content

    def _browser(self, refusal: Refusal) -> Browser:
        browser = self._open_browser()
        if browser is None:
            raise Refusal(
                "browser_missing",
                "{refusal} Only a browser may get further, and there is none.",
                help="Install Chromium or switch the browser on, then run the source again.",
                refused=False,
                refusal=Exception.__str__(refusal),
            )
        return browser

    def _identified(self, fetched: Fetched) -> Content:
        """Return the content, identified by its bytes; pages and catalogues are read into memory."""
        path = Path(fetched.path) if fetched.path else self._into
        if not fetched.path:
            path.write_bytes(fetched.body)
        fetched = replace(fetched, size=path.stat().st_size)
        suggested = quote(fetched.file_name)
        address = suggested if suffix_of(suggested) else fetched.url
        kind = content_type(path, declared=fetched.media_type, address=address)
        if kind.suffix not in ("html", "json", "xml"):
            return Content(fetched, kind.suffix, kind.media_type, path)
        if fetched.size > (most := self._config.page_bytes):
            raise Refusal(
                "too_large",
                "{url} is a page of {size:,} bytes; the limit is {limit:,}.",
                url=fetched.url,
                size=fetched.size,
                limit=most,
            )
        body = path.read_bytes()
        catalogue = "" if kind.suffix == "html" else catalogue_kind(body)
        return Content(fetched, kind.suffix, kind.media_type, path, body, catalogue)


def _not_the_file(message: str, url: str) -> Refusal:
    return Refusal("wrong_content", message, help="Check the address.", url=url)
