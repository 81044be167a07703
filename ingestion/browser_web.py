"""Plain requests, and where a page turns those away, a real browser."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path

from ingestion.links import suffix_of
from ingestion.outcomes import Fetched, Refused, Validators
from ingestion.protocols import OpenBrowser, Web

_PAGES = ("", "html", "htm", "xhtml", "php", "asp", "aspx", "jsp")


class BrowserWeb:
    """A Web whose refused pages are looked at by a browser; without a browser the refusal stands, and says so."""

    def __init__(self, web: Web, open_browser: OpenBrowser) -> None:
        self._web = web
        self._open_browser = open_browser

    def fetch(
        self,
        url: str,
        *,
        into: Path | None = None,
        max_bytes: int | None = None,
        validators: Validators | None = None,
        accept: str = "",
    ) -> Fetched:
        """What the address gives; the refusals are those of the plain request where the browser fares no better."""
        try:
            return self._web.fetch(url, into=into, max_bytes=max_bytes, validators=validators, accept=accept)
        except Refused as refusal:
            if refusal.reason != "access_denied":
                raise
            return self._by_browser(url, into, max_bytes, refusal)

    def _by_browser(self, url: str, into: Path | None, max_bytes: int | None, refusal: Refused) -> Fetched:
        browser = self._open_browser()
        if browser is None:
            help = "There is no browser to try it with: install Chromium."
            raise Refused(refusal.reason, refusal.args[0], help=help) from refusal
        if into is not None and suffix_of(url) not in _PAGES:
            return browser.download(url, into, max_bytes=max_bytes)
        page = browser.render(url)
        if into is None:
            return page
        into.write_bytes(page.body)
        digest = hashlib.sha256(page.body).hexdigest()
        return replace(page, body=b"", path=str(into), size=len(page.body), sha256=digest)
