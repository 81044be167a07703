"""A finding: what a check of a room looked at, and whether it works."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at. "note" works without it, "bad" does not."""

    name: str
    state: Literal["good", "note", "bad"]
    found: str
    remedy: str = ""


def some_of(names: Sequence[str]) -> str:
    """Return the first of some names.

    >>> some_of(["act.pdf", "plan.pdf", "map.pdf", "note.pdf", "law.pdf", "code.pdf"])
    'act.pdf, plan.pdf, map.pdf, note.pdf, law.pdf ...'
    """
    return ", ".join(names[:5]) + (" ..." if len(names) > 5 else "")
