"""Choice between the two readings of a question that may lean on the one before it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from rag_engine.types.evidence import Evidence

# A new subject behind a question spoils its search: the best chance falls. A follow-up keeps this share of it.
# benchmarks/answers/two_readings.py prints how often these shares choose rightly.
_KEPT = 0.77
_KEPT_WITHOUT_OTHER = 0.7


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
    """Return whether the question answers better behind the one before it.

    `alone` and `joined` are what its two readings find, `before` is the best chance that the question before had.
    """
    if joined.ground != "enough":
        return alone.ground != "enough"
    share = _KEPT if alone.ground == "enough" else _KEPT_WITHOUT_OTHER
    found = best_chance(joined.hits)
    if found is None or before is None:
        return alone.ground != "enough"
    return found >= share * before
