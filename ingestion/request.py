"""What is asked of a run of the phases, and what it did."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from ingestion.outcomes import PHASES, Phase
from rag_engine.errors import InputError

Which = Literal["due", "failed", "all"]


@dataclass(frozen=True, slots=True)
class Request:
    """What to run: phases, sources by code (none means all), which of them, and whether to look for newer files.

    "due" takes what is new or changed and what may be tried again by now, "failed" only what failed, "all"
    everything. `refresh` asks the addresses of files at hand whether they have changed.
    """

    phases: tuple[Phase, ...] = PHASES
    codes: tuple[str, ...] = ()
    which: Which = "due"
    refresh: bool = False


@dataclass(frozen=True, slots=True)
class Tally:
    """What a phase did in a run: sources by status, by reason, and seconds."""

    phase: Phase
    done: int
    skipped: int
    rejected: int
    failed: int
    reasons: Mapping[str, int]
    seconds: float


def check_phases(names: Sequence[str]) -> tuple[Phase, ...]:
    """The phases of these names in their order, all of them for none."""
    unknown = sorted(set(names) - set(PHASES))
    if unknown:
        raise InputError(f"There is no phase {', '.join(unknown)}.", help=f"Phases are {', '.join(PHASES)}.")
    return tuple(phase for phase in PHASES if phase in names) or PHASES
