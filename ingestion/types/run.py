"""A run: its phases, what is asked of it, how far it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from rag_engine.errors import InputError
from rag_engine.messages import Message, join_messages
from rag_engine.text.wording import ENGLISH, Wording

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


def describe_request(request: RunRequest, named: int = 3, wording: Wording = ENGLISH) -> Message:
    """Return a request in words that name its first `named` sources and count the others.

    >>> str(describe_request(RunRequest(("extraction",), ("EEA001",), "failed")))
    'Run the phase extraction for everything that failed of EEA001.'
    """
    message = wording.message
    names = ", ".join(wording.value("phase", phase) for phase in request.phases)
    if request.phases == PHASES:
        phases = message("all phases")
    elif len(request.phases) > 1:
        phases = message("the phases {names}", names=names)
    else:
        phases = message("the phase {name}", name=names)
    which = {
        "due": message("everything new or changed"),
        "failed": message("everything that failed"),
        "all": message("everything, also what is done"),
    }
    codes, n = ", ".join(request.codes), len(request.codes)
    if n > named:
        codes = wording.counted("{n} source", "{n} sources", n)
    told = {"phases": phases, "what": which[request.which], "codes": codes, "others": ", ".join(request.without)}
    if request.codes and request.without:
        sentence = message("Run {phases} for {what} of {codes}, except {others}.", **told)
    elif request.codes:
        sentence = message("Run {phases} for {what} of {codes}.", **told)
    elif request.without:
        sentence = message("Run {phases} for {what}, except {others}.", **told)
    else:
        sentence = message("Run {phases} for {what}.", **told)
    newer = message("Known addresses are asked for newer files.") if request.refresh else ""
    return join_messages([sentence, newer])


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
