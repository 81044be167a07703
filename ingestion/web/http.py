"""HTTP client: plain requests under limits and the politeness policy, to checked addresses alone."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from email.message import Message
from pathlib import Path
from typing import Generic, Self, TypeVar

import httpcore
import httpx

from ingestion.config import WebConfig
from ingestion.types.outcome import Refusal
from ingestion.types.source import Fetched, Validators
from ingestion.web.address_policy import HostAndPort, Resolve, Target, read_exemptions, read_target, resolve_by_system
from ingestion.web.checked_sockets import CheckedSockets, Countdown, counting
from ingestion.web.politeness import MOST_ROBOTS_BYTES, PolitenessPolicy, RateLimiter
from ingestion.web.response import (
    HTML,
    PAGES_ONLY,
    BrokenBody,
    NotAPage,
    decoded,
    error_refusal,
    head_of,
    looks_like_file,
    receive,
    retry_after_seconds,
    says_file,
    status_refusal,
    too_large,
    with_start,
)

_ACCEPT = "text/html,application/xhtml+xml,application/pdf;q=0.9,application/xml;q=0.9,*/*;q=0.8"
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_NO_ANSWER = (httpcore.NetworkError, httpcore.RemoteProtocolError, httpcore.ConnectTimeout)
_PASSING = frozenset({429, 502, 503, 504})
_CLOSE_SECONDS = 5.0

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class _Answer:
    """Status and headers of one response, its body still to come."""

    status: int
    headers: httpx.Headers
    chunks: Iterator[bytes]


@dataclass(frozen=True, slots=True)
class _Ask(Generic[_T]):
    """Request headers of each hop and the reader of the last answer.

    `polite` is False for robots.txt itself.
    """

    headers: tuple[tuple[str, str], ...]
    take: Callable[[list[str], _Answer], _T]
    polite: bool


class HttpWeb:
    """The network for plain requests; see `ingestion.protocols.Web`. For several threads.

    Close it at the end.

    Every connection goes to a checked address; redirects and name servers change nothing about it. Proxies in the
    environment are not used. `named` are the places that may be reached at another port than 80 and 443. `close` from
    another thread ends calls that are under way.
    """

    def __init__(
        self, config: WebConfig, *, resolve: Resolve = resolve_by_system, named: Collection[HostAndPort] = ()
    ) -> None:
        self._config = config
        self._sockets = CheckedSockets(read_exemptions(config.intranet), resolve, named)
        self._pool = httpcore.ConnectionPool(
            # certifi's authorities, or those that SSL_CERT_FILE names.
            ssl_context=httpx.create_ssl_context(),
            max_connections=max(4 * config.parallel, 16),
            max_keepalive_connections=2 * config.parallel,
            keepalive_expiry=15.0,
            network_backend=self._sockets,
        )
        self.politeness = PolitenessPolicy(config, self._fetch_robots, limiter=RateLimiter(self._sockets.ended))
        self._idle = threading.Condition()
        self._calls = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the network: calls under way end with a refusal, and later ones do not begin."""
        self._sockets.abort()
        with self._idle:
            self._idle.wait_for(lambda: self._calls == 0, timeout=_CLOSE_SECONDS)
        self._pool.close()

    def fetch(
        self,
        url: str,
        *,
        into: Path | None = None,
        max_bytes: int | None = None,
        validators: Validators | None = None,
        accept: str = "",
    ) -> Fetched:
        """Return the body in memory, or streamed to the file `into`; Refusal for everything else.

        Without `max_bytes` the limit is the configured one for files with `into`, and for pages without it. A declared
        page is never larger than pages may be. With `accept` PAGES_ONLY a file ends at its head, with NotAPage.
        """
        most = max_bytes if max_bytes is not None else self._config.max_bytes if into else self._config.page_bytes
        conditional = _conditions(validators)

        def take(urls: list[str], answer: _Answer) -> Fetched:
            if answer.status == 304 and conditional:
                return _unchanged(urls, answer, validators or Validators())
            if not 200 <= answer.status < 300 or answer.status == 206:
                raise status_refusal(answer.status, urls[-1], _retry_after(answer))
            return _taken(urls, answer, into, most, self._config.page_bytes, accept == PAGES_ONLY)

        ask = _Ask((("accept", accept or _ACCEPT), *conditional), take, polite=True)
        with self._call(), counting(Countdown(self._config.total_seconds)) as countdown:
            return self._follow(url, ask, countdown)

    def _fetch_robots(self, url: str) -> tuple[int, str]:
        def take(_urls: list[str], answer: _Answer) -> tuple[int, str]:
            if not 200 <= answer.status < 300:
                return answer.status, ""
            text = bytearray()
            for chunk in decoded(answer.chunks, answer.headers.get("content-encoding", "")):
                text += chunk
                if len(text) >= MOST_ROBOTS_BYTES:
                    break
            return answer.status, bytes(text[:MOST_ROBOTS_BYTES]).decode("utf-8", "replace")

        seconds = min(self._config.connect_seconds + self._config.read_seconds, self._config.total_seconds)
        with self._call(), counting(Countdown(seconds)) as countdown:
            try:
                return self._follow(url, _Ask((("accept", "text/plain,*/*;q=0.5"),), take, polite=False), countdown)
            except Refusal as refusal:
                if refusal.reason in ("too_many_redirects", "http_error") and not refusal.retryable:
                    return 404, ""
                raise

    def _follow(self, url: str, ask: _Ask[_T], countdown: Countdown) -> _T:
        urls = [url]
        target = read_target(url)
        # Consent and session cookies between the hops of one call; nothing is remembered after it.
        cookies = httpx.Cookies()
        by_http: Refusal | None = None
        for _hop in range(self._config.redirects + 1):
            try:
                if ask.polite:
                    self.politeness.check(target.url)
                result: _T | Target = self._exchange(target, urls, ask, cookies, countdown)
            except Refusal as refusal:
                if not isinstance(refusal.__cause__, _NO_ANSWER):
                    raise
                if by_http or target.scheme != "http" or self._sockets.ended.is_set():
                    raise by_http or refusal from refusal.__cause__
                # Many hosts serve https alone; the way back to http is never taken.
                by_http, result = refusal, read_target(f"https{target.url.removeprefix('http')}")
            if not isinstance(result, Target):
                return result
            target = result
            urls.append(target.url)
        raise Refusal(
            "too_many_redirects", "{url} leads on more than {most} times.", url=url, most=self._config.redirects
        )

    def _exchange(
        self, target: Target, urls: list[str], ask: _Ask[_T], cookies: httpx.Cookies, countdown: Countdown
    ) -> _T | Target:
        attempt = 0
        while True:
            attempt += 1
            if ask.polite:
                countdown.pause(self.politeness.wait(target.url))
            try:
                with self._opened(target, ask.headers, cookies) as answer:
                    delay = self._delay_for(target, answer, attempt)
                    if delay is None:
                        return _next_hop(target, answer) or ask.take(urls, answer)
            except (httpcore.NetworkError, httpcore.RemoteProtocolError, BrokenBody) as error:
                refusal = error_refusal(error, target.url)
                delay = self._config.backoff * 2 ** (attempt - 1)
                if (
                    refusal.reason != "connection_failed"
                    or attempt >= self._config.tries
                    or self._sockets.ended.is_set()
                ):
                    raise refusal from error
            except (httpcore.TimeoutException, httpcore.ProtocolError, httpcore.UnsupportedProtocol) as error:
                raise error_refusal(error, target.url) from error
            if delay >= countdown.left:
                raise Refusal(
                    "timed_out",
                    "{url} could not be had within {seconds:.0f} s.",
                    url=target.url,
                    seconds=self._config.total_seconds,
                )
            self._sockets.ended.wait(delay)

    def _delay_for(self, target: Target, answer: _Answer, attempt: int) -> float | None:
        """Return the seconds until it is worth asking again; None if this answer is final."""
        asked = _retry_after(answer)
        if answer.status not in _PASSING:
            return None
        if asked:
            self.politeness.postpone(target.url, asked)
        if attempt >= self._config.tries:
            return None
        delay = asked if asked is not None else self._config.backoff * 2 ** (attempt - 1)
        # Coming back sooner than asked would be rude, and later than that somebody tries the source again anyway.
        return delay if delay <= self._config.most_delay else None

    @contextmanager
    def _opened(
        self, target: Target, headers: tuple[tuple[str, str], ...], cookies: httpx.Cookies
    ) -> Iterator[_Answer]:
        url = httpx.URL(target.url)
        request = httpx.Request("GET", url, headers=[("user-agent", self._config.user_agent), *headers])
        request.headers["accept-language"] = "en-GB,en;q=0.9,*;q=0.5"
        request.headers["accept-encoding"] = "gzip, deflate"
        cookies.set_cookie_header(request)
        place = httpcore.URL(scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path)
        read, connect = self._config.read_seconds, self._config.connect_seconds
        limits = {"connect": connect, "read": read, "write": read, "pool": read}
        with self._pool.stream("GET", place, headers=request.headers.raw, extensions={"timeout": limits}) as response:
            answer = httpx.Response(response.status, headers=response.headers, request=request)
            cookies.extract_cookies(answer)
            chunks = iter(response.iter_stream())
            yield _Answer(response.status, answer.headers, chunks)
            declared = answer.headers.get("content-length", "")
            if response.status in (204, 304) or (declared.isdigit() and len(declared) < 6):
                # A short rest is read, so that the connection serves the next request too.
                with suppress(httpcore.NetworkError, httpcore.TimeoutException, httpcore.ProtocolError):
                    deque(chunks, maxlen=0)

    @contextmanager
    def _call(self) -> Iterator[None]:
        if self._sockets.ended.is_set():
            raise Refusal("connection_failed", "The network is closed; the call was not made.")
        with self._idle:
            self._calls += 1
        try:
            yield
        finally:
            with self._idle:
                self._calls -= 1
                self._idle.notify_all()


def _next_hop(target: Target, answer: _Answer) -> Target | None:
    location = answer.headers.get("location", "")
    if answer.status not in _REDIRECTS or not location.strip():
        return None
    try:
        return read_target(str(httpx.URL(target.url).join(location.strip())))
    except httpx.InvalidURL as error:
        raise Refusal(
            "url_invalid",
            "{url} leads on to {location!r}: {error}.",
            url=target.url,
            location=location[:200],
            error=error,
        ) from error


def _taken(
    urls: list[str], answer: _Answer, into: Path | None, most: int, most_of_page: int, pages_only: bool
) -> Fetched:
    headers = answer.headers
    media_type, charset = _media_type(headers.get("content-type", ""))
    head = head_of(urls, answer.status, media_type, charset, headers)
    if pages_only and says_file(head.media_type, headers.get("content-disposition", ""), head.file_name):
        raise NotAPage(head)
    if head.media_type in HTML:
        most = min(most, most_of_page)
    declared = headers.get("content-length", "")
    if declared.isascii() and declared.isdigit() and int(declared[:18]) > most:
        raise too_large(urls[-1], most, int(declared[:18]))
    chunks = decoded(answer.chunks, headers.get("content-encoding", ""))
    if pages_only:
        start, chunks = with_start(chunks)
        if looks_like_file(start):
            raise NotAPage(head)
    received = receive(chunks, into, urls[-1], most)
    path = str(into) if into else ""
    return replace(head, body=received.content, path=path, size=received.size, sha256=received.sha256)


def _unchanged(urls: list[str], answer: _Answer, validators: Validators) -> Fetched:
    etag = answer.headers.get("etag", "") or validators.etag
    modified = answer.headers.get("last-modified", "") or validators.last_modified
    return Fetched(tuple(urls), 304, "", "", b"", etag=etag, last_modified=modified)


def _conditions(validators: Validators | None) -> tuple[tuple[str, str], ...]:
    if validators is None:
        return ()
    pairs = (("if-none-match", validators.etag), ("if-modified-since", validators.last_modified))
    # What was kept from a foreign header goes back into one only where it is text that a header may hold.
    return tuple((name, value) for name, value in pairs if value and value.isascii() and value.isprintable())


def _media_type(value: str) -> tuple[str, str]:
    message = Message()
    message["content-type"] = value[:500].replace("\r", " ").replace("\n", " ")
    charset = message.get_content_charset("") or ""
    return (message.get_content_type() if "/" in value else ""), charset.lower()


def _retry_after(answer: _Answer) -> float | None:
    return retry_after_seconds(answer.headers.get("retry-after", ""))
