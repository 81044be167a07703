"""Turns at each host: requests to one host start at least so many seconds apart, those to others do not wait."""

from __future__ import annotations

import threading
import time


class Turns:
    """When each host may next be asked. For several threads; `ended` makes those who wait go on at once."""

    def __init__(self, ended: threading.Event | None = None) -> None:
        self._ended = ended or threading.Event()
        self._lock = threading.Lock()
        self._next: dict[str, float] = {}

    def wait(self, host: str, delay: float) -> float:
        """Seconds waited for a turn; the one after it comes `delay` seconds later at the earliest."""
        with self._lock:
            now = time.monotonic()
            start = max(now, self._next.get(host, now))
            self._next[host] = start + delay
            if len(self._next) > 10_000:
                self._next = {name: at for name, at in self._next.items() if at > now}
        if start > now:
            self._ended.wait(start - now)
        return time.monotonic() - now

    def postpone(self, host: str, seconds: float) -> None:
        """Nothing; the host asked to be left alone for so long."""
        with self._lock:
            self._next[host] = max(self._next.get(host, 0.0), time.monotonic() + seconds)
