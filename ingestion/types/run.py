"""A run: its phases, what is asked of it, how far it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from rag_engine.errors import InputError
from rag_engine.messages import Message

# Name of a phase: of its file in ingestion/phases/.
Phase = str
# The phases in order. A new one is a file of ingestion/phases/ and its name here.
PHASES: tuple[Phase, ...] = (
    "licence",
    "acquisition",
    "portals",
    "extraction",
    "quality",
    "deduplication",
    "metadata",
    "indexing",
)
Which = Literal["due", "failed", "all"]


@dataclass(frozen=True, slots=True)
class RunRequest:
    """Request for a run: phases, sources by code (none means all), which of them.

    "due" takes new and changed sources and those due for another try, "failed" only failed ones, "all" everything.
    `refresh` asks the addresses of downloaded files whether they have changed. `without` are codes that are left out,
    with what is under them.
    """

    phases: tuple[Phase, ...] = PHASES
    codes: tuple[str, ...] = ()
    which: Which = "due"
    refresh: bool = False
    without: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PhaseSummary:
    """Figures of a phase in a run: sources by status, by reason, and seconds."""

    phase: Phase
    done: int
    skipped: int
    refused: int
    failed: int
    reasons: Mapping[str, int]
    seconds: float


def check_phases(names: Sequence[str]) -> tuple[Phase, ...]:
    """Return the phases of these names in their order, all of them for none."""
    unknown = sorted(set(names) - set(PHASES))
    if unknown:
        raise InputError(
            "There is no phase {names}.", help="Phases are {all}.", names=", ".join(unknown), all=", ".join(PHASES)
        )
    return tuple(phase for phase in PHASES if phase in names) or PHASES


@dataclass(frozen=True, slots=True)
class Progress:
    """Progress of work; bytes tell the remaining time of an addition better than files do.

    `phase` names the phase of a run over sources, whose `done` and `total` count sources. `pages` counts the pages that
    an addition has read and indexed, without unchanged files. `now` are the codes of the sources at work, `waiting`
    those of the next ones, as many as a page can show.
    """

    done: int
    total: int
    done_bytes: int
    total_bytes: int
    current: Message | str
    phase: str = ""
    pages: int = 0
    now: tuple[str, ...] = ()
    waiting: tuple[str, ...] = ()


ControlSignal = Literal["", "pause", "cancel"]
