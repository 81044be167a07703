"""Phases by name: each is the `PHASE` of the module ingestion/<name>/phase.py."""

from __future__ import annotations

from functools import cache
from importlib import import_module

from ingestion.phase import CollectionPhase, SourcePhase
from ingestion.types import PHASES, Phase


@cache
def find_phase(name: Phase) -> SourcePhase | CollectionPhase:
    """Return the definition of a phase; KeyError for a name that is not in the ordered list."""
    if name not in PHASES:
        raise KeyError(name)
    found: SourcePhase | CollectionPhase = import_module(f"ingestion.{name}.phase").PHASE
    return found


def phases_on_the_web() -> tuple[Phase, ...]:
    """Return the names of the phases that use the network, in order."""
    return tuple(name for name in PHASES if find_phase(name).on_the_web)
