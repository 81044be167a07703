"""Checks of the requests that browsers send to the page, and the headers of every answer to them.

Streamlit checks `server.allowedHosts` for websockets only. It takes websockets of any page of this machine for its own,
no matter which program serves that page.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import SplitResult, urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from rag_engine.loopback import is_loopback

# Streamlit evaluates what its charts and components are made of; nothing comes from or goes to another address.
_POLICY = (
    "default-src 'self'",
    "script-src 'self' 'unsafe-inline' 'unsafe-eval' blob:",
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data: blob:",
    "font-src 'self' data:",
    "media-src 'self' data: blob:",
    "connect-src 'self' data: blob:",
    "worker-src 'self' blob:",
    "frame-src 'self' data: blob:",
    "object-src 'none'",
    "base-uri 'self'",
    "form-action 'self'",
    "frame-ancestors 'self'",
)
_HEADERS = {
    "Content-Security-Policy": "; ".join(_POLICY),
    "X-Frame-Options": "SAMEORIGIN",
    "X-Content-Type-Options": "nosniff",
    # An address of ours may hold a question.
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
_PORTS = {"http": 80, "ws": 80, "https": 443, "wss": 443}


@dataclass(frozen=True, slots=True)
class RequestRules:
    """Names and origins by which browsers may ask the page.

    Names of this machine count only with its port.
    """

    names: Sequence[str] = ()
    origins: Sequence[str] = ()

    def refusal(self, headers: Headers, scheme: str, port: int) -> tuple[int, str] | None:
        """Return status and reason where a request to a port is refused, or None.

        >>> from starlette.datastructures import Headers
        >>> rules = RequestRules(names=("localhost",))
        >>> rules.refusal(Headers({"host": "localhost:8501", "origin": "https://evil.example"}), "http", 8501)
        (403, 'Pages of other sites and programs may not use this server.')
        """
        host = headers.get("host", "")
        asked = _split(f"//{host}")
        if asked is None or asked.netloc != host or "@" in host or not self._is_served(asked, scheme, port):
            return 400, (
                f"This server is not called {host[:200]!r}. Open it at the address that `sextant serve` printed; "
                "the names of a proxy in front of it are given by STREAMLIT_SERVER_ALLOWED_HOSTS."
            )
        origin = headers.get("origin")
        if origin is not None and origin not in self.origins and not _is_same(origin, asked):
            return 403, "Pages of other sites and programs may not use this server."
        elsewhere = headers.get("sec-fetch-site", "none") not in ("same-origin", "none")
        if elsewhere and origin not in self.origins and headers.get("sec-fetch-mode") != "navigate":
            return 403, "Pages of other sites and programs may not load parts of this server."
        return None

    def _is_served(self, asked: SplitResult, scheme: str, port: int) -> bool:
        name = (asked.hostname or "").rstrip(".")
        known = any(_matches(name, one.strip().lower().rstrip(".")) for one in self.names)
        # By another name it is asked through a proxy, whose port may be any.
        return known and (not is_loopback(name) or (asked.port or _PORTS.get(scheme)) == port)


def checked_requests(app: ASGIApp, rules: RequestRules) -> ASGIApp:
    """Return the app behind the rules, with headers that keep its answers out of the pages of others."""

    async def checked(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] in ("http.response.start", "websocket.http.response.start"):
                MutableHeaders(scope=message).update(_HEADERS)
            await send(message)

        refusal = rules.refusal(Headers(scope=scope), scope["scheme"], scope["server"][1])
        if refusal is None:
            await app(scope, receive, send_with_headers)
        else:
            status, reason = refusal
            await PlainTextResponse(reason, status_code=status)(scope, receive, send_with_headers)

    return checked


def _split(url: str) -> SplitResult | None:
    """Return the parts of a URL whose port, where it has one, is a number; None otherwise."""
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError:
        return None
    return parts


def _is_same(origin: str, asked: SplitResult) -> bool:
    """Whether a page of an origin asks the host that it came from; the scheme ends at a proxy."""
    page = _split(origin)
    if page is None or page.scheme not in _PORTS or not page.hostname:
        return False
    default = _PORTS[page.scheme]
    return (page.hostname, page.port or default) == (asked.hostname, asked.port or default)


def _matches(name: str, pattern: str) -> bool:
    """Whether a name is that of `server.allowedHosts`, as Streamlit reads it."""
    return pattern in ("*", name) or (pattern.startswith("*.") and name.endswith(pattern[1:]))
