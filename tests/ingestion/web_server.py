"""A real web server on loopback whose answers a test writes as functions."""

from __future__ import annotations

import ssl
import subprocess
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from ingestion.config import WebConfig
from ingestion.types.outcome import Refusal
from ingestion.web.http import HttpWeb

Answer = Callable[[BaseHTTPRequestHandler], None]

QUICK = WebConfig(
    connect_seconds=3.0,
    read_seconds=3.0,
    total_seconds=6.0,
    host_seconds=0.0,
    backoff=0.01,
    most_delay=0.5,
    browser_seconds=25.0,
)


@dataclass
class Site:
    """Where the server answers, what it was asked for, and how it answers each path."""

    origin: str
    port: int
    answers: dict[str, Answer]
    asked: Counter[str] = field(default_factory=Counter)
    headers: list[Mapping[str, str]] = field(default_factory=list)
    released: threading.Event = field(default_factory=threading.Event)

    def config(self, **changes: Any) -> WebConfig:
        """Small limits, and leave to fetch this server alone."""
        return replace(QUICK, intranet=(f"127.0.0.1:{self.port}",), **changes)

    def url(self, path: str) -> str:
        return self.origin + path


def page(body: str | bytes, media_type: str = "text/html; charset=utf-8", status: int = 200, **headers: str) -> Answer:
    """Return a whole answer at once; header names are written with _ for -."""
    content = body.encode() if isinstance(body, str) else body

    def answer(request: BaseHTTPRequestHandler) -> None:
        request.send_response(status)
        request.send_header("Content-Type", media_type)
        if "Content_Length" not in headers:
            request.send_header("Content-Length", str(len(content)))
        for name, value in headers.items():
            request.send_header(name.replace("_", "-"), value)
        request.end_headers()
        request.wfile.write(content)

    return answer


def refusal_of(web: HttpWeb, url: str, **options: object) -> Refusal:
    """How an address is refused."""
    with pytest.raises(Refusal) as refused:
        web.fetch(url, **options)  # type: ignore[arg-type]
    return refused.value


def redirect(location: str, status: int = 302) -> Answer:
    return page("", status=status, Location=location)


@contextmanager
def serving(answers: Mapping[str, Answer], *, tls: ssl.SSLContext | None = None) -> Iterator[Site]:
    """Yield the site while the context lasts; an address without an answer gives 404."""
    site = Site("", 0, dict(answers))

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_GET(self) -> None:
            path = self.path.partition("?")[0]
            site.asked[path] += 1
            site.headers.append({name.lower(): value for name, value in self.headers.items()})
            with suppress(ConnectionError, ssl.SSLError):
                site.answers.get(path, page("nothing here", status=404))(self)

        def log_message(self, *_parts: object) -> None:
            pass

    class Server(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, *_parts: object) -> None:
            pass

    server = Server(("127.0.0.1", 0), Handler)
    if tls is not None:
        server.socket = tls.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    site.port = server.server_address[1]
    site.origin = f"{'https' if tls else 'http'}://127.0.0.1:{site.port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield site
    finally:
        site.released.set()
        server.shutdown()
        server.server_close()
        thread.join()


def self_signed(folder: Path) -> Path:
    """Return a self-signed certificate for 127.0.0.1 and named.example with its key, in one file."""
    command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    command += ["-keyout", "key.pem", "-out", "cert.pem", "-days", "2", "-subj", "/CN=test"]
    command += ["-addext", "subjectAltName=IP:127.0.0.1,DNS:named.example"]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    both = folder / "both.pem"
    both.write_text(
        (folder / "key.pem").read_text(encoding="utf-8") + (folder / "cert.pem").read_text(encoding="utf-8")
    )
    return both


def context_of(certificate: Path) -> ssl.SSLContext:
    """Return what a server needs to speak under a certificate."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    return context
