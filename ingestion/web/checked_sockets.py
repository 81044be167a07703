"""Connections to exactly the address that was checked, within a time and until called off."""

from __future__ import annotations

import socket
import ssl
import threading
import time
import weakref
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import Any

import httpcore

from ingestion.web.address_policy import Exemption, HostAndPort, Resolve, addresses_to_connect


class Countdown:
    """Time budget of a call. Waiting for the rate limiter does not count: see `pause`."""

    def __init__(self, seconds: float) -> None:
        self._end = time.monotonic() + seconds

    @property
    def left(self) -> float:
        """Seconds; 0 or less when the time is over."""
        return self._end - time.monotonic()

    def pause(self, seconds: float) -> None:
        """Leave `seconds` out of the count."""
        self._end += seconds


_CURRENT: ContextVar[Countdown | None] = ContextVar("countdown", default=None)


@contextmanager
def counting(countdown: Countdown) -> Iterator[Countdown]:
    """All that this thread does on checked sockets ends with this countdown, and with the one around it."""
    around = _CURRENT.get()
    if around is not None:
        countdown.pause(min(0.0, around.left - countdown.left))
    token = _CURRENT.set(countdown)
    try:
        yield countdown
    finally:
        _CURRENT.reset(token)


class CheckedSockets(httpcore.NetworkBackend):
    """Network backend of httpcore: the name is looked up, checked and connected to in one go.

    Each single read is cut to the remaining time of the call. Headers or a body that come byte by byte thus last no
    longer. `abort` makes all reads and writes, now and later, end at once.
    """

    def __init__(self, exemptions: Sequence[Exemption], resolve: Resolve, named: Collection[HostAndPort] = ()) -> None:
        self._exemptions = exemptions
        self._resolve = resolve
        self._named = frozenset(named)
        self._plain = httpcore.SyncBackend()
        self._lock = threading.Lock()
        self._streams: weakref.WeakSet[_Stream] = weakref.WeakSet()
        self.ended = threading.Event()

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.NetworkStream:
        """Connect to the first address of the host that answers, each of them checked."""
        seconds = self.allowance(timeout)
        addresses = addresses_to_connect(
            host, port, self._exemptions, self._resolve, seconds=seconds, named=self._named
        )
        error: Exception = httpcore.ConnectError(f"no address of {host} answers")
        end = time.monotonic() + seconds
        for place, address in enumerate(addresses):
            # A silent first address leaves its share of the time to the others.
            share = (end - time.monotonic()) / (len(addresses) - place)
            try:
                stream = self._plain.connect_tcp(address, port, self.allowance(share), local_address, socket_options)
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as failed:
                error = failed
                continue
            return self.keep(stream)
        raise error

    def sleep(self, seconds: float) -> None:
        """Wait, but no longer than until everything is ended."""
        self.ended.wait(seconds)

    def abort(self) -> None:
        """Shut down every connection and make none any more."""
        self.ended.set()
        with self._lock:
            streams = list(self._streams)
        for stream in streams:
            stream.shut_down()

    def keep(self, stream: httpcore.NetworkStream) -> httpcore.NetworkStream:
        """Return the stream, watched."""
        watched = _Stream(stream, self)
        with self._lock:
            self._streams.add(watched)
        return watched

    def allowance(self, timeout: float | None) -> float:
        """Return the seconds that an operation may take; ReadTimeout or ReadError when it may not begin."""
        if self.ended.is_set():
            raise httpcore.ReadError("called off")
        countdown = _CURRENT.get()
        seconds = min(timeout if timeout is not None else 3600.0, countdown.left if countdown else 3600.0)
        if seconds <= 0:
            raise httpcore.ReadTimeout("the time is over")
        return seconds


class _Stream(httpcore.NetworkStream):
    def __init__(self, stream: httpcore.NetworkStream, owner: CheckedSockets) -> None:
        self._stream = stream
        self._owner = owner

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        data = self._stream.read(max_bytes, self._owner.allowance(timeout))
        if not data:
            # A connection that we shut down ourselves must not pass for the end of a body without a length.
            self._owner.allowance(timeout)
        return data

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._stream.write(buffer, self._owner.allowance(timeout))

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        secured = self._stream.start_tls(ssl_context, server_hostname, self._owner.allowance(timeout))
        return self._owner.keep(secured)

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)

    def shut_down(self) -> None:
        """Shut the connection down; a read or write in progress sees its end."""
        connection = self._stream.get_extra_info("socket")
        if isinstance(connection, socket.socket):
            with suppress(OSError):
                # Not SSLSocket's own shutdown, which takes the TLS state away under the reader.
                socket.socket.shutdown(connection, socket.SHUT_RDWR)
