"""A stand-in for a language model at an OpenAI-compatible address: it writes a set answer by words."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

ANSWER = (
    "## Validity\n\nA **local flood plan** remains valid for six years [Source 1]. "
    "![x](http://evil.example/x.png) <b>bold</b>\n\n- First, the council prepares it [Sources 1].\n- The last-words."
)

CITING_TWO = "A local flood plan remains valid for six years [Source 1]. Others say more [Source 2]. The last-words."


class _Model(BaseHTTPRequestHandler):
    """Plans nothing, and writes its answer as the test lets it go on."""

    go_on: threading.Event
    silent: bool
    answer: str

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if "response_format" in asked:
            self.send_error(503)
            return
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        # Nobody listens any more once the person has stopped the answer.
        with suppress(ConnectionError):
            self._write()

    def do_GET(self) -> None:
        self.send_error(404)

    def log_message(self, format: str, *args: object) -> None:
        """Log nothing."""

    def _write(self) -> None:
        *words, last = self.answer.split(" ")
        if self.silent:
            self.go_on.wait(60)
        for word in words:
            self._send({"delta": {"content": f"{word} "}, "finish_reason": None})
        self.go_on.wait(60)
        self._send({"delta": {"content": last}, "finish_reason": None})
        self._send({"delta": {}, "finish_reason": "stop"})
        self.wfile.write(b"data: [DONE]\n\n")

    def _send(self, choice: dict[str, object]) -> None:
        chunk = {"id": "1", "object": "chat.completion.chunk", "created": 0, "model": "slow"}
        piece = json.dumps({**chunk, "choices": [{"index": 0, **choice}]})
        self.wfile.write(f"data: {piece}\n\n".encode())
        self.wfile.flush()


@contextmanager
def slow_model(answer: str = ANSWER, *, silent: bool = False) -> Iterator[tuple[str, threading.Event]]:
    """Its address, and the event that lets it write its last words; one that is silent writes none before."""
    go_on = threading.Event()
    kind = type("Model", (_Model,), {"go_on": go_on, "silent": silent, "answer": answer})
    server = ThreadingHTTPServer(("127.0.0.1", 0), kind)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1", go_on
    finally:
        go_on.set()
        server.shutdown()
        server.server_close()
        thread.join()
