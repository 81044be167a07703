"""A web server on this machine that answers each path with the bytes it was told to, piece by piece."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Reply:
    """Response of one path: `drops` closes in the middle, `stalls` never continues.

    `location` is where a redirect leads.
    """

    pieces: tuple[bytes, ...]
    status: int = 200
    location: str = ""
    drops: bool = False
    stalls: bool = False


@dataclass
class Script:
    """Replies by path, and what was asked, in order. `released` ends every stall."""

    replies: dict[str, Reply | list[Reply]] = field(default_factory=dict)
    asked: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    url: str = ""
    released: threading.Event = field(default_factory=threading.Event)


@contextmanager
def serving(script: Script) -> Iterator[Script]:
    """Yield the script with the address at which it is served."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            self.answer({})

        def do_POST(self) -> None:
            self.answer(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))

        def answer(self, body: dict[str, Any]) -> None:
            script.asked.append((self.path, body))
            script.headers.append(dict(self.headers))
            reply = script.replies.get(self.path, Reply((b'{"error": "not found"}',), status=404))
            if isinstance(reply, list):
                reply = reply.pop(0)
            self.send_response(reply.status)
            self.send_header("Content-Type", "text/event-stream" if self.path.startswith("/v1") else "application/json")
            if reply.location:
                self.send_header("Location", reply.location)
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            for piece in reply.pieces:
                self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
                self.wfile.flush()
            if reply.stalls:
                script.released.wait(10)
            if reply.drops or reply.stalls:
                self.close_connection = True
                return
            self.wfile.write(b"0\r\n\r\n")

        def log_message(self, *_: object) -> None:
            """Log nothing: the tests read `asked`."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    script.url = f"http://127.0.0.1:{server.server_port}"
    try:
        yield script
    finally:
        script.released.set()
        server.shutdown()
        server.server_close()
        thread.join()
