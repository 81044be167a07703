"""A reply that comes over the network, read so that nobody who waits for it is deaf or stuck."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import wait
from contextlib import contextmanager
from time import monotonic
from typing import TypeVar

from rag_engine.waiting import still_waiting

ReplyPart = TypeVar("ReplyPart")

_PULSE_SECONDS = 1.0


def read_parts(parts: AsyncIterator[ReplyPart], *, seconds: float) -> Iterator[ReplyPart]:
    """Yield the parts of a reply as they come; TimeoutError when `seconds` have passed and another is waited for.

    About once a second, whether parts come or not, whoever listens is called (rag_engine/waiting.py). What that raises,
    an interrupt, and the closing of this iterator end the request at once, so that its server is free for the next.
    """
    started = called = monotonic()
    with _event_loop() as loop:
        while True:
            coming = asyncio.run_coroutine_threadsafe(_next(parts), loop)
            while not coming.done():
                left = started + seconds - monotonic()
                if left <= 0:
                    raise TimeoutError
                wait([coming], min(left, _PULSE_SECONDS))
                if monotonic() - called >= _PULSE_SECONDS:
                    called = monotonic()
                    still_waiting(called - started)
            part = coming.result()
            if part is None:
                return
            yield part


@contextmanager
def _event_loop() -> Iterator[asyncio.AbstractEventLoop]:
    """Give an event loop that runs in a thread of its own; what it still does at the end is cancelled.

    The asking thread may have a running loop already, as in a notebook, and a blocking read could not be left.
    """
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="read a reply", daemon=True)
    thread.start()
    try:
        yield loop
    finally:
        asyncio.run_coroutine_threadsafe(_cancel_tasks(), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


async def _next(parts: AsyncIterator[ReplyPart]) -> ReplyPart | None:
    return await anext(parts, None)


async def _cancel_tasks() -> None:
    """Cancel every other task of the loop and close its generators, which hangs up."""
    # A connection attempt that has not begun could not be cancelled without a warning of the client's library.
    await asyncio.sleep(0)
    # A task that is cancelled may begin another.
    while tasks := asyncio.all_tasks() - {asyncio.current_task()}:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    await asyncio.get_running_loop().shutdown_asyncgens()
