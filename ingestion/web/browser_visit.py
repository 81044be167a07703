"""One visit of Chromium to one address.

It follows the address, holds back forbidden loads, and keeps the file that the way leads to.
"""

from __future__ import annotations

import base64
import hashlib
import re
import time
from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Download, Error, Page
from playwright.sync_api import TimeoutError as TimedOut

from ingestion.config import WebConfig
from ingestion.types.outcome import Refusal
from ingestion.types.source import Fetched
from ingestion.web.address_policy import read_target
from ingestion.web.checked_proxy import USER, CheckedProxy
from ingestion.web.politeness import PolitenessPolicy
from ingestion.web.response import NotAPage, Received, head_of, receive, status_refusal, too_large
from rag_engine.messages import Message

_PAGES = frozenset({"", "text/html", "application/xhtml+xml"})
_READABLE = _PAGES | {"text/plain"}
_UNSEEN = ("Image", "Font", "Media", "Other")
_PATTERNS = [
    {"urlPattern": "*", "resourceType": "Document", "requestStage": "Request"},
    {"urlPattern": "*", "resourceType": "Document", "requestStage": "Response"},
    *({"urlPattern": "*", "resourceType": kind, "requestStage": "Request"} for kind in _UNSEEN),
]
_READ = 2**20
_QUIET_SECONDS = 5.0
# How long a page that is not a file may take to lead to one, once it is quiet.
_PATIENCE_SECONDS = 3.0
# A page is drawn once its text has been the same for so long; one with less text is given all the time there is.
_STILL_SECONDS = 1.5
_DRAWING_SECONDS = 4.0
_FEWEST_CHARACTERS = 100
# Scripts and styles of a page come on top of what is asked for.
_OVERHEAD_BYTES = 50_000_000
_NET_ERROR = re.compile(r"net::(ERR_[A-Z0-9_]+)")


class Visit:
    """Events of a page so far.

    Main-frame addresses, the last answer, a file, or the refusal that ended it.
    """

    def __init__(self, page: Page, url: str, config: WebConfig, politeness: PolitenessPolicy, key: str) -> None:
        """`key` is the proxy's."""
        self.page = page
        self.urls = [url]
        self.status = 0
        self.media_type = ""
        self.refusal: Refusal | None = None
        self.fetched: Fetched | None = None
        self.downloads: list[Download] = []
        self._config = config
        self._politeness = politeness
        self._into: Path | None = None
        self._most = 0
        self._asked = 0
        self._session = page.context.new_cdp_session(page)
        self._frame = self._session.send("Page.getFrameTree")["frameTree"]["frame"]["id"]
        self._session.on("Fetch.requestPaused", self._paused)
        self._session.on("Fetch.authRequired", lambda event: self._give_key(event, key))
        # The first document is asked for the key; Chromium gives it for all else of the visit by itself.
        self._session.send("Fetch.enable", {"patterns": _PATTERNS, "handleAuthRequests": True})
        page.on("download", self._begin_download)

    def _begin_download(self, download: Download) -> None:
        # Playwright marks its handlers, and a method of a list cannot be marked.
        self.downloads.append(download)

    def take_file(self, into: Path, most: int) -> None:
        """Direct the first answer that is a file and not a page to `into`."""
        self._into, self._most = into, most

    @property
    def ended(self) -> bool:
        """Return whether nothing more is to be awaited."""
        return bool(self.fetched or self.refusal or self.downloads)

    def ask(self) -> None:
        """Let the browser deliver events that came in the meantime."""
        self._session.send("Target.getTargetInfo")

    def _give_key(self, event: dict[str, Any], key: str) -> None:
        # A site that wants a name and a password shows what it shows without.
        answer = {"response": "CancelAuth"}
        if event["authChallenge"].get("source") == "Proxy":
            answer = {"response": "ProvideCredentials", "username": USER, "password": key}
        with suppress(Error):
            self._session.send(
                "Fetch.continueWithAuth", {"requestId": event["requestId"], "authChallengeResponse": answer}
            )

    def _paused(self, event: dict[str, Any]) -> None:
        # An error here means that the page went away in the meantime; whoever waits for it hears of it.
        with suppress(Error):
            try:
                self._decide(event)
            except Refusal as refusal:
                self.refusal = refusal
                self._fail(event)

    def _decide(self, event: dict[str, Any]) -> None:
        answered = "responseStatusCode" in event or "responseErrorReason" in event
        if event["resourceType"] in _UNSEEN:
            self._fail(event)
        elif event.get("frameId") != self._frame:
            self._go_on(event)
        elif answered:
            self._answered(event)
        else:
            self._asked_for(event)

    def _asked_for(self, event: dict[str, Any]) -> None:
        url = str(event["request"]["url"])
        self._asked += 1
        # The first address was checked, and its turn awaited, before the page was opened.
        if self._asked > 1:
            if self._asked > self._config.redirects + 1:
                raise Refusal(
                    "too_many_redirects",
                    "{url} leads on more than {most} times.",
                    url=self.urls[0],
                    most=self._config.redirects,
                )
            self._politeness.check(url)
            self._politeness.wait(url)
            self.urls.append(url)
        self._go_on(event)

    def _answered(self, event: dict[str, Any]) -> None:
        status = int(event.get("responseStatusCode", 0))
        headers = {str(h["name"]).lower(): str(h["value"]) for h in event.get("responseHeaders", [])}
        if 300 <= status < 400 or not status:
            self._go_on(event)
            return
        self.status = status
        self.media_type = headers.get("content-type", "").partition(";")[0].strip().lower()
        disposition = headers.get("content-disposition", "")
        attached = disposition.strip().lower().startswith("attachment")
        if self._into is None and status < 300 and (attached or not _readable(self.media_type)):
            # A page is asked for: its answer ends here, before Chromium loads the file.
            raise NotAPage(self._head(headers))
        if self._into is None or status >= 300 or (self.media_type in _PAGES and not attached):
            self._go_on(event)
            return
        self._take(event, headers)
        self._fail(event)

    def _take(self, event: dict[str, Any], headers: dict[str, str]) -> None:
        assert self._into is not None
        declared = headers.get("content-length", "")
        length = int(declared[:18]) if declared.isascii() and declared.isdigit() else None
        most = min(self._most, self._config.page_bytes) if self.media_type in _PAGES - {""} else self._most
        if length is not None and length > most:
            raise too_large(self.urls[-1], most, length)
        # Closed here and now: a body that is too large would otherwise be closed by whoever drops the refusal, in
        # another thread, and Playwright belongs to this one.
        with closing(self._body(event["requestId"], length, headers)) as body:
            received = receive(body, self._into, self.urls[-1], most)
        self.fetched = self.file(received, headers)

    def file(self, received: Received, headers: dict[str, str]) -> Fetched:
        """Return the file that was received."""
        head = self._head(headers)
        return replace(head, path=str(self._into), size=received.size, sha256=received.sha256)

    def _head(self, headers: dict[str, str]) -> Fetched:
        return replace(head_of(self.urls, self.status or 200, self.media_type, "", headers), how="browser")

    def _body(self, request: str, length: int | None, headers: dict[str, str]) -> Generator[bytes, None, None]:
        handle = self._session.send("Fetch.takeResponseBodyAsStream", {"requestId": request})["stream"]
        size = 0
        try:
            while True:
                part = self._session.send("IO.read", {"handle": handle, "size": _READ})
                data = base64.b64decode(part["data"]) if part.get("base64Encoded") else part["data"].encode("utf-8")
                size += len(data)
                yield data
                if part["eof"]:
                    break
        except Error as error:
            raise _broken(self.urls[-1], Message("the browser lost it")) from error
        finally:
            with suppress(Error):
                self._session.send("IO.close", {"handle": handle})
        # A connection that breaks looks to the stream like the end of the body.
        if length is not None and not headers.get("content-encoding") and size != length:
            raise _broken(self.urls[-1], Message("{size:,} of {length:,} bytes came", size=size, length=length))

    def _go_on(self, event: dict[str, Any]) -> None:
        self._session.send("Fetch.continueRequest", {"requestId": event["requestId"]})

    def _fail(self, event: dict[str, Any]) -> None:
        self._session.send("Fetch.failRequest", {"requestId": event["requestId"], "errorReason": "BlockedByClient"})


def render_page(
    browser: Browser, url: str, config: WebConfig, politeness: PolitenessPolicy, proxy: CheckedProxy
) -> Fetched:
    """Return the page after its scripts ran; Refusal if there is none."""
    end = time.monotonic() + config.browser_seconds
    proxy.begin(config.page_bytes + _OVERHEAD_BYTES)
    with _visiting(browser, url, config, politeness, proxy) as visit:
        error = _go(visit, url, end)
        if error is None and not visit.ended:
            _become_quiet(visit.page, end)
            _await_text(visit, end)
        _raise_for(visit, error, proxy, config.page_bytes)
        if visit.downloads or not _readable(visit.media_type):
            raise Refusal("wrong_content", "{url} is a file and not a page.", url=visit.urls[-1])
        body = _document(visit.page, config.page_bytes)
        final = visit.page.url.partition("#")[0]
        urls = visit.urls if final in visit.urls or not final.startswith("http") else [*visit.urls, final]
        digest = hashlib.sha256(body).hexdigest()
        return Fetched(
            tuple(urls), visit.status or 200, "text/html", "utf-8", body, size=len(body), sha256=digest, how="browser"
        )


def download_file(
    browser: Browser,
    url: str,
    into: Path,
    most: int,
    config: WebConfig,
    politeness: PolitenessPolicy,
    proxy: CheckedProxy,
) -> Fetched:
    """Return the file that the address, or the page behind it, leads to without a click.

    Refusal if there is none.
    """
    end = time.monotonic() + config.browser_seconds
    proxy.begin(most + _OVERHEAD_BYTES)
    with _visiting(browser, url, config, politeness, proxy) as visit:
        visit.take_file(into, most)
        error = _go(visit, url, end)
        if error is None and not visit.ended:
            _become_quiet(visit.page, end)
            patience = min(end, time.monotonic() + _PATIENCE_SECONDS)
            with suppress(Error):
                while not visit.ended and time.monotonic() < patience:
                    # A round trip lets Playwright deliver its events; its own timer was seen to hang.
                    visit.ask()
                    time.sleep(0.05)
        if visit.fetched is None and visit.refusal is None and visit.downloads:
            return _saved(visit, into, most, proxy)
        if visit.fetched is None:
            _raise_for(visit, error, proxy, most)
            raise Refusal("wrong_content", "{url} is a page and not a file.", url=visit.urls[-1])
        return visit.fetched


class BrowserLostError(Error):
    """The browser was gone before it was asked for anything: another one can be."""


def _readable(media_type: str) -> bool:
    return media_type in _READABLE or media_type.endswith(("/xml", "+xml"))


@contextmanager
def _visiting(
    browser: Browser, url: str, config: WebConfig, politeness: PolitenessPolicy, proxy: CheckedProxy
) -> Iterator[Visit]:
    # A browser's name, for sites that serve nothing to anybody else, and ours, for those who read their logs.
    major = browser.version.partition(".")[0]
    agent = f"Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/{major}.0.0.0 Safari/537.36"
    try:
        context = browser.new_context(
            accept_downloads=True,
            service_workers="block",
            user_agent=f"{agent} {config.user_agent}",
            locale="en-GB",
            proxy={"server": f"http://127.0.0.1:{proxy.port}", "bypass": "<-loopback>"},
        )
    except Error as error:
        raise BrowserLostError(str(error)) from error
    try:
        page = context.new_page()
        # A window that a page opens is not looked at.
        context.on("page", lambda other: other.close())
        yield Visit(page, url, config, politeness, proxy.key)
    finally:
        with suppress(Error):
            context.close()


def _go(visit: Visit, url: str, end: float) -> Error | None:
    seconds = end - time.monotonic()
    try:
        visit.page.goto(url, wait_until="commit", timeout=1000 * seconds)
        with suppress(TimedOut):
            # A page that never finishes loading is read as far as it came.
            visit.page.wait_for_load_state("load", timeout=600 * seconds)
    except Error as error:
        return error
    return None


def _become_quiet(page: Page, end: float) -> None:
    with suppress(Error):
        # Playwright takes 0 for no limit at all.
        seconds = min(_QUIET_SECONDS, max(0.1, (end - time.monotonic()) / 2))
        page.wait_for_load_state("networkidle", timeout=1000 * seconds)


def _await_text(visit: Visit, end: float) -> None:
    """Wait until the text of the page no longer changes; longer for a page that is nearly empty."""
    started = changed = time.monotonic()
    length = -1
    while not visit.ended and (now := time.monotonic()) < min(end, started + _DRAWING_SECONDS):
        with suppress(Error):
            present = int(visit.page.evaluate("document.body ? document.body.innerText.length : 0"))
            if present != length:
                length, changed = present, now
        if now - changed >= _STILL_SECONDS and length >= _FEWEST_CHARACTERS:
            return
        time.sleep(0.1)


def _document(page: Page, most: int) -> bytes:
    for last in (False, True):
        try:
            length = int(page.evaluate("document.documentElement ? document.documentElement.outerHTML.length : 0"))
            if length > most:
                raise too_large(page.url, most)
            body = page.content().encode("utf-8", "replace")
        except Error as error:
            # A script sends the page on at this very moment: once more, when it has arrived.
            if last:
                raise _broken(page.url, str(error).partition("\n")[0]) from error
            _become_quiet(page, time.monotonic() + 2 * _QUIET_SECONDS)
            continue
        if len(body) > most:
            raise too_large(page.url, most)
        return body
    raise AssertionError("the second attempt returns or raises")


def _saved(visit: Visit, into: Path, most: int, proxy: CheckedProxy) -> Fetched:
    # Files that a script makes (blob:) or links with the download attribute do not pass as documents.
    download = visit.downloads[0]
    try:
        path = Path(download.path())
    except Error as error:
        if proxy.over_limit:
            raise too_large(visit.urls[-1], most) from error
        raise _broken(visit.urls[-1], str(error).partition("\n")[0]) from error
    if path.stat().st_size > most:
        raise too_large(visit.urls[-1], most, path.stat().st_size)
    with path.open("rb") as file:
        received = receive(iter(lambda: file.read(_READ), b""), into, visit.urls[-1], most)
    visit.media_type = ""
    name = download.suggested_filename.replace('"', "")
    if download.url.startswith("http") and download.url != visit.urls[-1]:
        visit.urls.append(download.url)
    return visit.file(received, {"content-disposition": f'attachment; filename="{name}"'})


def _raise_for(visit: Visit, error: Error | None, proxy: CheckedProxy, most: int) -> None:
    """Raise the refusal that best explains why the visit led to no page, unless it did."""
    if visit.refusal is not None:
        raise visit.refusal
    if proxy.over_limit:
        raise too_large(visit.urls[-1], most)
    if error is not None and not visit.downloads:
        target = read_target(visit.urls[-1])
        refused = proxy.refusal_for(target.host, target.port)
        raise refused if refused is not None else _net_refusal(error, visit.urls[-1])
    if visit.status >= 400:
        raise status_refusal(visit.status, visit.urls[-1])


def _net_refusal(error: Error, url: str) -> Refusal:
    found = _NET_ERROR.search(str(error))
    code = found[1] if found else str(error).partition("\n")[0]
    if code.startswith("ERR_CERT_"):
        return Refusal("certificate_invalid", "The certificate of {url} is not valid: {code}.", url=url, code=code)
    if isinstance(error, TimedOut) or "TIMED_OUT" in code:
        return Refusal("timed_out", "{url} did not answer the browser in time.", url=url)
    if code == "ERR_TOO_MANY_REDIRECTS":
        return Refusal("too_many_redirects", "{url} leads on without end.", url=url)
    if code == "ERR_ABORTED":
        return Refusal("wrong_content", "{url} is a file and not a page.", url=url)
    return _broken(url, code)


def _broken(url: str, why: str) -> Refusal:
    return Refusal("connection_failed", "The browser could not load {url}: {error}.", url=url, error=why)
