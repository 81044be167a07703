"""A forward proxy on loopback that connects only to checked addresses, a browser's only way out."""

from __future__ import annotations

import asyncio
import hmac
import re
import secrets
import threading
import time
from base64 import b64encode
from collections import deque
from collections.abc import Collection
from contextlib import suppress
from typing import Self

import httpx

from ingestion.config import WebConfig
from ingestion.types.outcome import Refusal
from ingestion.web.address_policy import (
    HostAndPort,
    Resolve,
    addresses_to_connect,
    read_exemptions,
    read_target,
    resolve_by_system,
)
from rag_engine.messages import Message

_CHUNK = 2**16
_MOST_HEAD = 2**18
_AUTHORITY = re.compile(r"(?:\[([0-9a-fA-F:.]{2,45})\]|([^:/@\[\]\s]{1,253})):([0-9]{1,5})")
_KEY = re.compile(rb"\r\nproxy-authorization:[ \t]*([^\r\n]*)", re.IGNORECASE)
# The one answer of ours that a browser gets to see: it gives the key only when it is asked for it.
_KEY_WANTED = (
    b"HTTP/1.1 407 Proxy Authentication Required\r\n"
    b'Proxy-Authenticate: Basic realm="sextant"\r\nContent-Length: 0\r\nConnection: close\r\n\r\n'
)
USER = "sextant"
_MOST_ASKED = 1000
_OWN = (b"connection:", b"keep-alive:", b"proxy-connection:", b"proxy-authorization:")
_STOPPING_SECONDS = 5.0


class _OverLimit(Exception):  # noqa: N818 - never leaves this file
    """More bytes than the visit may cost."""


class CheckedProxy:
    """A proxy for CONNECT and plain http on 127.0.0.1:`port`, in a thread, while the context lasts.

    It serves clients with the name USER and its `key`, so that no other program of this machine goes out by it. A
    refused request ends without an answer, so that no page of ours is mistaken for the site's. `refusal_for` keeps its
    reason.

    `named` are the places, host and port, that may be reached at a port other than 80 and 443. `asked` are the latest
    requests, as method and place.
    """

    def __init__(
        self,
        config: WebConfig,
        *,
        resolve: Resolve = resolve_by_system,
        named: Collection[HostAndPort] = (),
        most_connections: int = 64,
        idle_seconds: float = 60.0,
    ) -> None:
        self._config = config
        self._resolve = resolve
        self._named = frozenset(named)
        self._exemptions = read_exemptions(config.intranet)
        self._most_connections = most_connections
        self._idle = idle_seconds
        self._tasks: set[asyncio.Task[None]] = set()
        self._refusals: dict[tuple[str, int], Refusal] = {}
        self._limit: int | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stop = asyncio.Event()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._run()), name="checked proxy", daemon=True)
        self.port = 0
        self.key = secrets.token_urlsafe(24)
        self._expected = b"Basic " + b64encode(f"{USER}:{self.key}".encode())
        self.asked: deque[str] = deque(maxlen=_MOST_ASKED)
        self.relayed = 0
        self.over_limit = False

    def __enter__(self) -> Self:
        self._thread.start()
        self._ready.wait()
        if not self.port:
            raise OSError("the proxy of the browser found no free port on 127.0.0.1")
        return self

    def __exit__(self, *_error: object) -> None:
        if self._loop is not None:
            with suppress(RuntimeError):
                self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(_STOPPING_SECONDS)

    def begin(self, most_bytes: int | None) -> None:
        """Count from zero, forget refusals, and end every connection once `most_bytes` are relayed."""
        self._refusals = {}
        self.asked.clear()
        self._limit = most_bytes
        self.relayed = 0
        self.over_limit = False

    def refusal_for(self, host: str, port: int) -> Refusal | None:
        """Return why the last connection to this place was refused since `begin`."""
        return self._refusals.get((host.lower(), port))

    async def _run(self) -> None:
        try:
            server = await asyncio.start_server(self._accept, "127.0.0.1", 0, limit=_MOST_HEAD)
            self._loop = asyncio.get_running_loop()
            self.port = server.sockets[0].getsockname()[1]
        finally:
            self._ready.set()
        await self._stop.wait()
        server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await server.wait_closed()

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if len(self._tasks) >= self._most_connections or self.over_limit:
            writer.transport.abort()
            return
        task = asyncio.ensure_future(self._serve(reader, writer))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), self._idle)
            method, place, _version = head.split(b"\r\n", 1)[0].decode("latin-1").split(" ")
            self.asked.append(f"{method} {place}")
            given = _KEY.search(head)
            if not hmac.compare_digest(given[1] if given else b"", self._expected):
                writer.write(_KEY_WANTED)
                await writer.drain()
                writer.write_eof()
                await asyncio.wait_for(reader.read(), _STOPPING_SECONDS)
            elif method == "CONNECT":
                await self._tunnel(place, reader, writer)
            else:
                await self._forward(method, place, head, reader, writer)
        except (OSError, ValueError, EOFError, asyncio.LimitOverrunError, TimeoutError, Refusal, _OverLimit):
            # The browser sees the connection end; `refusal_for` and `over_limit` tell why.
            pass
        finally:
            writer.transport.abort()

    async def _tunnel(self, place: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        match = _AUTHORITY.fullmatch(place)
        if match is None:
            return
        far_reader, far_writer = await self._connect(match[1] or match[2], int(match[3]))
        try:
            writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
            await self._relay((reader, far_writer), (far_reader, writer))
        finally:
            far_writer.transport.abort()

    async def _forward(
        self, method: str, place: str, head: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        target = read_target(place)
        if target.scheme != "http":
            return
        far_reader, far_writer = await self._connect(target.host, target.port)
        path = httpx.URL(place).raw_path.decode("ascii")
        try:
            # One request for each connection: the next one may be for another host.
            far_writer.write(_closing(head, f"{method} {path} HTTP/1.1".encode("latin-1")))
            sending = asyncio.ensure_future(self._pump(reader, far_writer, [time.monotonic()]))
            try:
                while True:
                    answer = await asyncio.wait_for(far_reader.readuntil(b"\r\n\r\n"), self._idle)
                    final = not answer[8:11].strip().startswith(b"1")
                    writer.write(_closing(answer, answer.split(b"\r\n", 1)[0]) if final else answer)
                    self._count(len(answer))
                    if final:
                        break
            finally:
                sending.cancel()
                await asyncio.gather(sending, return_exceptions=True)
            await self._relay((reader, far_writer), (far_reader, writer))
        finally:
            far_writer.transport.abort()

    async def _connect(self, host: str, port: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        try:
            seconds = self._config.connect_seconds
            addresses = await asyncio.to_thread(
                addresses_to_connect,
                host,
                port,
                self._exemptions,
                self._resolve,
                seconds=seconds,
                named=self._named,
            )
            for place, address in enumerate(addresses):
                try:
                    return await asyncio.wait_for(
                        asyncio.open_connection(address, port, limit=_MOST_HEAD), max(seconds / len(addresses), 1.0)
                    )
                except (OSError, TimeoutError) as error:
                    if place + 1 == len(addresses):
                        why = str(error) or Message("no answer in time")
                        raise Refusal(
                            "connection_failed",
                            "The connection to {host}:{port} failed: {error}.",
                            host=host,
                            port=port,
                            error=why,
                        ) from error
            raise AssertionError("addresses_to_connect gives at least one")
        except Refusal as refusal:
            self._refusals[host.lower(), port] = refusal
            raise

    async def _relay(self, *ways: tuple[asyncio.StreamReader, asyncio.StreamWriter]) -> None:
        active = [time.monotonic()]
        pumps = [asyncio.ensure_future(self._pump(reader, writer, active)) for reader, writer in ways]
        try:
            await asyncio.wait(pumps, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for pump in pumps:
                pump.cancel()
            await asyncio.gather(*pumps, return_exceptions=True)
        # What was written last is on its way before the connection is cut.
        for _reader, writer in ways:
            with suppress(OSError, TimeoutError):
                if not writer.is_closing() and not self.over_limit:
                    writer.close()
                    await asyncio.wait_for(writer.wait_closed(), _STOPPING_SECONDS)

    async def _pump(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, active: list[float]) -> None:
        while True:
            try:
                chunk = await asyncio.wait_for(reader.read(_CHUNK), self._idle)
            except TimeoutError:
                # The other way may be busy: a download is silent in one direction.
                if time.monotonic() - active[0] < self._idle:
                    continue
                return
            if not chunk:
                return
            active[0] = time.monotonic()
            self._count(len(chunk))
            writer.write(chunk)
            await writer.drain()

    def _count(self, size: int) -> None:
        self.relayed += size
        if self._limit is not None and self.relayed > self._limit:
            self.over_limit = True
            current = asyncio.current_task()
            for task in self._tasks:
                if task is not current:
                    task.cancel()
            raise _OverLimit


def _closing(head: bytes, first: bytes) -> bytes:
    """Return the head with another first line, and with the end of the connection announced."""
    lines = [line for line in head.split(b"\r\n")[1:-2] if not line.lower().startswith(_OWN)]
    return b"\r\n".join([first, *lines, b"Connection: close", b"", b""])
