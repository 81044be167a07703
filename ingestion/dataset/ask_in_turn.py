"""Asking one thing after the other, with progress, a way to stop, and an end where the model is unavailable."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from ingestion.types import Progress
from rag_engine.errors import BackendError

# Failures one after the other from which the model is taken to be unavailable.
_FAILURES = 3

Askable = TypeVar("Askable")


def ask_in_turn(
    waiting: Sequence[Askable],
    ask: Callable[[Askable], bool],
    failed: Callable[[Askable, BackendError], None],
    name: Callable[[Askable], str],
    *,
    done: int = 0,
    progress: Callable[[Progress], None] = lambda _: None,
    stopped: Callable[[], bool] = lambda: False,
) -> int:
    """Ask each that waits, keeping each before the next is asked, and return how many were asked.

    `ask` and `failed` keep what comes of it, and `ask` returns whether a model has answered; `done` were asked before
    and count in the progress. `stopped` ends it after the one it is at. BackendError where three fail before a model
    answers again, or all of fewer.
    """
    total, asked, failures = done + len(waiting), 0, 0
    for one in waiting:
        if stopped():
            break
        progress(Progress(done + asked, total, 0, 0, name(one)))
        try:
            failures = 0 if ask(one) else failures
        except BackendError as error:
            failed(one, error)
            failures += 1
            if failures == min(_FAILURES, len(waiting)):
                raise
        asked += 1
    progress(Progress(done + asked, total, 0, 0, ""))
    return asked
