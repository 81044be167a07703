"""A lock for each key: work on one thing waits its turn, other work goes on."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from weakref import WeakValueDictionary


class KeyedLocks:
    """Locks by key, each kept only as long as somebody holds it or waits for it. For several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._locks: WeakValueDictionary[str, threading.Lock] = WeakValueDictionary()

    @contextmanager
    def held(self, key: str) -> Iterator[None]:
        """Hold the key's lock; other callers with the same key wait."""
        with self._lock:
            lock = self._locks.setdefault(key, threading.Lock())
        with lock:
            yield
