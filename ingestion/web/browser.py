"""Chromium for pages that need JavaScript, in a separate thread.

It reaches only what the checked proxy lets it.
"""

from __future__ import annotations

import os
import queue
import re
import secrets
import shutil
import threading
from collections.abc import Callable, Collection, Iterator
from concurrent.futures import Future
from concurrent.futures import TimeoutError as StillBusy
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Self, TypeVar

import psutil  # type: ignore[import-untyped]
from playwright.sync_api import Browser, Error, Playwright, sync_playwright

from ingestion.config import WebConfig
from ingestion.types.outcome import Refusal
from ingestion.types.source import Fetched
from ingestion.web.address_policy import HostAndPort, Resolve, resolve_by_system
from ingestion.web.browser_visit import BrowserLostError, download_file, render_page
from ingestion.web.checked_proxy import CheckedProxy
from ingestion.web.http import HttpWeb
from ingestion.web.politeness import PolitenessPolicy
from rag_engine.messages import Message
from rag_engine.types.finding import Finding

_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
# Of several such switches Chromium takes the last: so what Playwright switches off (the lines but the last), and what
# tells a server of Google which fields the forms of a page have.
_FEATURES_OFF = (
    "AvoidUnnecessaryBeforeUnloadCheckSync,DestroyProfileOnBrowserClose,HttpsUpgrades,"
    "HttpsFirstBalancedModeAutoEnable,LensOverlay,MediaRouter,PaintHolding,ThirdPartyStoragePartitioning,"
    "AvoidCorsURLLoaderRestartOnRedirect,TcpPortRandomizationWin,OptimizationHints,NetworkTimeServiceQuerying,"
    "AimEnabled,PreconnectToSearch,msForceBrowserSignIn,msEdgeUpdateLaunchServicesPreferredVersion,"
    "AutofillServerCommunication"
)
_FLAGS = (
    f"--disable-features={_FEATURES_OFF}",
    *("--disable-gpu", "--disable-background-networking", "--disable-component-update"),
    *("--disable-sync", "--disable-extensions", "--disable-quic", "--no-first-run", "--no-default-browser-check"),
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    # What Chromium itself wants of the network leads nowhere: only a visit is given the way through our proxy, and at
    # port 1 nobody but root could listen.
    *("--proxy-server=http://127.0.0.1:1", "--proxy-bypass-list=<-loopback>"),
    *("--disable-client-side-phishing-detection", "--disable-domain-reliability", "--no-pings"),
    # Names are looked up by the proxy, and by nobody else.
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
)
# What a page's process must never find in its environment, were it to break out.
_SECRET = re.compile(r"SEXTANT_.*|.*_KEY|.*_TOKEN|.*PASSWORD.*", re.IGNORECASE | re.DOTALL)
_START_SECONDS = 30.0
_GRACE_SECONDS = 2.0
_STOP_SECONDS = 5.0

_T = TypeVar("_T")
_Work = Callable[[Browser], object]


def find_chromium() -> str | None:
    """Return the path of a Chromium or Chrome: the system's, else Playwright's; None without either."""
    for name in _NAMES:
        if found := shutil.which(name) or shutil.which(name, path="/usr/bin:/usr/local/bin:/snap/bin"):
            return found
    folder = Path(os.environ.get("PLAYWRIGHT_BROWSERS_PATH") or Path.home() / ".cache" / "ms-playwright")
    own = sorted([*folder.glob("chromium-*/chrome-linux*/chrome")])
    return str(own[-1]) if own else None


def check() -> Iterator[Finding]:
    """Yield whether there is a browser."""
    found = find_chromium()
    if found:
        yield Finding("Browser", "good", f"{found}, for pages that need JavaScript or refuse plain requests")
    else:
        missing = "none; pages that need JavaScript cannot be fetched, and say so"
        yield Finding("Browser", "note", missing, "apt-get install chromium, or run `playwright install chromium`.")


def launch_flags(user: int) -> tuple[str, ...]:
    """Return the switches for a Chromium of this user; its own sandbox works for all users but root."""
    return ("--no-sandbox", *_FLAGS) if user == 0 else _FLAGS


def open_browser(
    config: WebConfig,
    *,
    politeness: PolitenessPolicy | None = None,
    resolve: Resolve = resolve_by_system,
    named: Collection[HostAndPort] = (),
) -> ChromiumBrowser | None:
    """Return a browser, to be closed at the end; None if there is none or it is switched off.

    `politeness` is shared with the HttpWeb, so that both keep one turn at each host; without it the browser brings its
    own. `named` are the places, host and port, that the list of sources names.
    """
    executable = find_chromium() if config.browser else None
    if executable is None:
        return None
    return ChromiumBrowser(config, executable, politeness=politeness, resolve=resolve, named=named)


class ChromiumBrowser:
    """See `ingestion.protocols.Browser`. Several threads may call it; they are served one after another.

    Chromium starts with the first call. A call that outlives `browser_seconds` costs the browser its life, and the
    next call starts another one. Chromium ends with its context, and with this process however that ends: Playwright's
    driver ends it when its pipe to us breaks.
    """

    def __init__(
        self,
        config: WebConfig,
        executable: str,
        *,
        politeness: PolitenessPolicy | None = None,
        resolve: Resolve = resolve_by_system,
        named: Collection[HostAndPort] = (),
    ) -> None:
        self._config = config
        self._executable = executable
        self._stack = ExitStack()
        self._proxy = self._stack.enter_context(CheckedProxy(config, resolve=resolve, named=named))
        self._politeness = politeness or self._stack.enter_context(HttpWeb(config, resolve=resolve)).politeness
        self._turn = threading.Lock()
        self._thread: _BrowserThread | None = None
        self._closed = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    @property
    def process_ids(self) -> tuple[int, ...]:
        """The browser's processes, the first one the parent of the others; none before the first call."""
        return tuple(process.pid for process in self._thread.processes()) if self._thread else ()

    @property
    def asked(self) -> tuple[str, ...]:
        """The requests of the latest visit that reached the proxy, as method and place."""
        return tuple(self._proxy.asked)

    def close(self) -> None:
        """Close the browser and its proxy. A call under way ends with a refusal."""
        self._closed = True
        if not self._turn.acquire(timeout=0.2):
            if (thread := self._thread) is not None:
                thread.kill()
            self._turn.acquire()
        try:
            if self._thread is not None:
                self._thread.stop()
                self._thread = None
            self._stack.close()
        finally:
            self._turn.release()

    def render(self, url: str) -> Fetched:
        """Return the page after its scripts ran, as UTF-8 HTML in `body`."""
        return self._call(url, lambda browser: render_page(browser, url, self._config, self._politeness, self._proxy))

    def download(self, url: str, into: Path, *, max_bytes: int | None = None) -> Fetched:
        """Return the file behind an address, streamed to `into`."""
        most = self._config.max_bytes if max_bytes is None else max_bytes
        return self._call(
            url, lambda browser: download_file(browser, url, into, most, self._config, self._politeness, self._proxy)
        )

    def _call(self, url: str, work: Callable[[Browser], _T]) -> _T:
        self._politeness.check(url)
        with self._turn:
            if self._closed:
                raise Refusal("connection_failed", "The browser is closed; {url} was not loaded.", url=url)
            self._politeness.wait(url)
            thread = self._started()
            seconds = self._config.browser_seconds
            limit = seconds + _GRACE_SECONDS
            try:
                try:
                    return thread.submit(work).result(limit)
                except BrowserLostError:
                    # One that was just killed may stand among the processes still; nothing was asked of the site.
                    if self._closed:
                        raise
                    self._drop(thread)
                    thread = self._started()
                    return thread.submit(work).result(limit)
            except StillBusy as error:
                self._drop(thread)
                raise Refusal(
                    "timed_out", "{url} kept the browser busy for more than {seconds:.0f} s.", url=url, seconds=seconds
                ) from error
            except Error as error:
                self._drop(thread)
                why = str(error).partition("\n")[0]
                raise Refusal(
                    "connection_failed", "The browser broke down at {url}: {error}.", url=url, error=why
                ) from error
            except (KeyboardInterrupt, SystemExit):
                self._drop(thread)
                raise

    def _started(self) -> _BrowserThread:
        if self._thread is not None and self._thread.alive:
            return self._thread
        if self._thread is not None:
            self._thread.stop()
        self._thread = _BrowserThread(self._executable)
        try:
            self._thread.started.result(_START_SECONDS)
        except (Error, OSError, StillBusy) as error:
            self._drop(self._thread)
            why = str(error).partition("\n")[0] or Message("no answer in time")
            raise Refusal(
                "browser_missing",
                "{program} does not start: {error}.",
                retryable=True,
                program=self._executable,
                error=why,
            ) from error
        return self._thread

    def _drop(self, thread: _BrowserThread) -> None:
        thread.kill()
        thread.stop()
        self._thread = None


class _BrowserThread:
    """Playwright's synchronous interface belongs to one thread: this one. Work comes in through a queue."""

    def __init__(self, executable: str) -> None:
        self._executable = executable
        # Marks our browser among this process's children; Chromium ignores switches that it does not know.
        self._mark = f"--sextant-browser={secrets.token_hex(8)}"
        self._work: queue.SimpleQueue[tuple[_Work, Future[object]] | None] = queue.SimpleQueue()
        self.started: Future[None] = Future()
        self.healthy = True
        self._thread = threading.Thread(target=self._run, name="browser", daemon=True)
        self._thread.start()

    def submit(self, work: Callable[[Browser], _T]) -> Future[_T]:
        """Queue the work and return its future result."""
        future: Future[_T] = Future()
        self._work.put((work, future))  # type: ignore[arg-type]
        return future

    def processes(self) -> list[psutil.Process]:
        """Return the browser's processes, parent first."""
        for process in psutil.Process().children(recursive=True):
            with suppress(psutil.Error):
                if self._mark in process.cmdline():
                    return [process, *process.children(recursive=True)]
        return []

    @property
    def alive(self) -> bool:
        """Return whether the browser may be given work: it is neither stopped nor killed."""
        return self.healthy and bool(self.processes())

    def kill(self) -> None:
        """Kill the browser's processes, which ends all that waits for them."""
        self.healthy = False
        for process in self.processes():
            with suppress(psutil.Error):
                process.kill()

    def stop(self) -> None:
        """End the browser, by force when it does not end by itself."""
        self.healthy = False
        self._work.put(None)
        self._thread.join(_STOP_SECONDS)
        self.kill()

    def _run(self) -> None:
        try:
            with sync_playwright() as playwright:
                browser = self._launched(playwright)
                self.started.set_result(None)
                self._serve(browser)
                with suppress(Error):
                    browser.close()
        except Exception as error:
            self.healthy = False
            if not self.started.done():
                self.started.set_exception(error)

    def _launched(self, playwright: Playwright) -> Browser:
        return playwright.chromium.launch(
            executable_path=self._executable,
            # Without this Playwright gives up the sandbox for everybody.
            chromium_sandbox=os.geteuid() != 0,
            env={name: value for name, value in os.environ.items() if not _SECRET.fullmatch(name)},
            args=[*launch_flags(os.geteuid()), self._mark],
            handle_sigint=False,
            handle_sigterm=False,
            handle_sighup=False,
            timeout=1000 * _START_SECONDS,
        )

    def _serve(self, browser: Browser) -> None:
        while (item := self._work.get()) is not None:
            work, future = item
            try:
                future.set_result(work(browser))
            except BaseException as error:
                future.set_exception(error)
            if not browser.is_connected():
                self.healthy = False
