"""A parser of what strangers write, as the search for inputs that break it needs it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Seam:
    """A parser, what it may raise, honest inputs to begin with, and how long an input may become."""

    parse: Callable[[bytes], object]
    promised: tuple[type[Exception], ...]
    seeds: tuple[bytes, ...]
    longest: int = 4000
