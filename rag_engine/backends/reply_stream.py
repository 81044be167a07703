"""A reply that comes over the network, read so that nobody who waits for it is deaf or stuck."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
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
    # A blocking read could be left neither by another thread nor by the listener.
    with asyncio.Runner() as runner:
        while True:
            coming = runner.get_loop().create_task(_next(parts))
            while not coming.done():
                left = started + seconds - monotonic()
                if left <= 0:
                    raise TimeoutError
                runner.run(_wait(coming, min(left, _PULSE_SECONDS)))
                if monotonic() - called >= _PULSE_SECONDS:
                    called = monotonic()
                    still_waiting(called - started)
            part = coming.result()
            if part is None:
                return
            yield part


async def _next(parts: AsyncIterator[ReplyPart]) -> ReplyPart | None:
    return await anext(parts, None)


async def _wait(coming: asyncio.Task[object], seconds: float) -> None:
    await asyncio.wait({coming}, timeout=seconds)
