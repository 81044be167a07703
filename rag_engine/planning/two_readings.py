"""Choice between the two readings of a question that may lean on the one before it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from rag_engine.types.evidence import Evidence

# A new subject behind that of the question before spoils its search. A follow-up keeps this share of its chance.
# benchmarks/answers/two_readings.py prints how often the choice is right.
_KEPT = 0.7


class Judged(Protocol):
    """A passage with the chance that it answers."""

    @property
    def named(self) -> bool:
        """Whether the question names it."""

    @property
    def chance(self) -> float | None:
        """From 0 to 1; None if no encoder compared it."""


def best_chance(passages: Iterable[Judged]) -> float | None:
    """Return the best chance of some passages, None if none was judged."""
    chances = (1.0 if passage.named else passage.chance for passage in passages)
    return max((one for one in chances if one is not None), default=None)


def is_follow_up(alone: Evidence, joined: Evidence, before: float | None) -> bool:
    """Return whether the question is answered better as a follow-up than alone.

    `alone` and `joined` are what its two readings find, `before` is the best chance that the question before had.
    """
    if (joined.ground == "enough") is not (alone.ground == "enough"):
        return joined.ground == "enough"
    found = best_chance(joined.hits) or 0.0
    kept = before is not None and found >= _KEPT * before
    return kept or found >= (best_chance(alone.hits) or 0.0)
