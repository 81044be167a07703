"""Sign of life from a slow request: its caller is called about once a second.

The caller may end the request by raising. `rest` lets other threads run.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

# Called with the seconds that a request has taken so far.
WaitingListener = Callable[[float], object]

_listener: ContextVar[WaitingListener | None] = ContextVar("waiting_listener", default=None)


@contextmanager
def while_waiting(listener: WaitingListener) -> Iterator[None]:
    """Call the listener while this block waits for a model; an error it raises ends the request."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


def still_waiting(seconds: float) -> None:
    """Call the listener with the seconds that the request has taken so far."""
    listener = _listener.get()
    if listener is not None:
        listener(seconds)


def rest(seconds: float) -> None:
    """Leave Python to the other threads of the process for a moment.

    One of them may be sending what this thread has made.
    """
    time.sleep(seconds)
