"""A language model with a time limit that follows the length of a request and the model's speed.

A request that hangs is left behind. A limit for a question about a page is too short for a description. On a processor
alone the same model reads 4,000 characters in half a minute and 15,000 in five.
"""

from __future__ import annotations

import queue
import threading
import time
from dataclasses import dataclass, field

from ingestion.protocols import LanguageModel
from rag_engine.errors import BackendError

# What the configured seconds are meant for; a longer request has as much more.
_SHORT_REQUEST = 4_000
# A request may take so many times as long as the slowest so far would lead to expect.
_SLACK = 3.0
_LONGEST = 8.0
_TIMEOUTS = 3


class ModelTimeoutError(BackendError):
    """A model that was not done in its time."""


@dataclass(slots=True)
class PacedModel:
    """A model with a limit for each request; safe from several threads.

    The limit grows with the request's length and with the measured speed. It doubles after a timeout, and stays within
    eight times the seconds that the caller names. After three such requests in a row the model is not asked again.
    """

    model: LanguageModel
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _slowest: float = 0.0
    _timeouts: int = 0

    @property
    def name(self) -> str:
        """Name of the model."""
        return self.model.name

    def limit(self, characters: int, seconds: float) -> float:
        """Return the seconds for a request of `characters`, if `seconds` are right for a short one.

        It is never less than `seconds`.
        """
        grown = seconds * max(1.0, characters / _SHORT_REQUEST) * (1 << self._timeouts)
        return max(seconds, min(_LONGEST * seconds, max(grown, _SLACK * self._slowest * characters)))

    def complete_json(self, system: str, user: str, schema: dict[str, object], *, seconds: float) -> dict[str, object]:
        """Return the reply to a request.

        ModelTimeoutError if it takes longer than `limit`, BackendError if the model fails.
        """
        if self._timeouts >= _TIMEOUTS:
            raise ModelTimeoutError(
                "{model} ran out of time {times} times in a row and is not asked again in this run.",
                help="Use a smaller model, or raise SEXTANT_MODEL_SECONDS.",
                model=self.name,
                times=_TIMEOUTS,
            )
        characters = len(system) + len(user)
        given = self.limit(characters, seconds)
        box: queue.SimpleQueue[dict[str, object] | Exception] = queue.SimpleQueue()

        def run() -> None:
            try:
                box.put(self.model.complete_json(system, user, schema, seconds=given))
            except Exception as error:  # whatever a client breaks with ends here, not in its thread
                box.put(error)

        started = time.monotonic()
        threading.Thread(target=run, name="language-model", daemon=True).start()
        try:
            reply: dict[str, object] | Exception = box.get(timeout=given)
        except queue.Empty:
            reply = TimeoutError()
        spent = time.monotonic() - started
        late = isinstance(reply, Exception) and spent >= 0.95 * given
        self._note(characters, spent, late=late, answered=not isinstance(reply, Exception))
        if late:
            raise ModelTimeoutError(
                "{model} gave no answer within {given:.0f} seconds.",
                help="Use a smaller model, or raise SEXTANT_MODEL_SECONDS.",
                retryable=True,
                model=self.name,
                given=given,
            )
        if isinstance(reply, BackendError):
            raise reply
        if isinstance(reply, Exception):
            raise BackendError(
                "{model} failed with {kind}: {reply}.",
                retryable=True,
                model=self.name,
                kind=type(reply).__name__,
                reply=reply,
            ) from reply
        return reply

    def _note(self, characters: int, spent: float, *, late: bool, answered: bool) -> None:
        with self._lock:
            if late:
                self._timeouts += 1
            elif answered:
                self._timeouts = 0
                self._slowest = max(self._slowest, spent / max(characters, 1))
