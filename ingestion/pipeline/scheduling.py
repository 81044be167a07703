"""The sources that a phase takes: they came so far, and their last outcome has another fingerprint.

Each phase is the `PHASE` of the module ingestion/phases/<name>.py.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from functools import cache
from importlib import import_module

from ingestion.fingerprints import hash_of, table_hash
from ingestion.phases.definition import CollectionPhase, SourcePhase
from ingestion.records.source_record import SourceRecord
from ingestion.records.source_store import PhaseEntry
from ingestion.tools import Tools
from ingestion.types.outcome import NETWORK_REASONS
from ingestion.types.run import PHASES, Phase, RunRequest

_FIRST_RETRY = timedelta(minutes=2)
_LAST_RETRY = timedelta(days=1)
_MOST_DOUBLINGS = 12


@cache
def find_phase(name: Phase) -> SourcePhase | CollectionPhase:
    """Return the definition of a phase; KeyError for a name that is not in the ordered list."""
    if name not in PHASES:
        raise KeyError(name)
    found: SourcePhase | CollectionPhase = import_module(f"ingestion.phases.{name}").PHASE
    return found


def is_ready(phase: Phase, record: SourceRecord) -> bool:
    """Return whether every earlier phase has let the source pass.

    A directory passes to the portals and no further. A source that a person excluded is in no phase until it is
    restored.

    >>> from ingestion.types.outcome import Outcome
    >>> from ingestion.types.source import ListedSource
    >>> record = SourceRecord(ListedSource("EEA001"), {"licence": Outcome("done", "")})
    >>> is_ready("acquisition", record), is_ready("extraction", record)
    (True, False)
    """
    if record.is_excluded:
        return False
    for earlier in PHASES[: PHASES.index(phase)]:
        outcome = record.outcomes.get(earlier)
        directory = phase == "portals" and outcome is not None and outcome.reason == "directory"
        if outcome is None or not (outcome.passes or directory):
            return False
    is_directory = record.download is not None and record.download.kind == "directory"
    return find_phase(phase).on_the_web or not is_directory


def needs_run(
    phase: SourcePhase,
    record: SourceRecord,
    entry: PhaseEntry | None,
    fingerprint: str,
    request: RunRequest,
    tools: Tools,
    *,
    upstream_rerun: bool,
) -> bool:
    """Return whether the phase is to be run for a source that is ready for it.

    `upstream_rerun` says that an earlier phase was run for it just now.
    """
    if request.which == "failed":
        # Another setting, another day or another network may lift a refusal as well.
        again = entry is not None and (entry.outcome.status == "failed" or entry.outcome.reason in NETWORK_REASONS)
        # What comes after a failure that is repaired now is pending as well.
        return again or (upstream_rerun and (entry is None or entry.fingerprint != fingerprint))
    if entry is None or request.which == "all" or entry.fingerprint != fingerprint:
        return True
    without_model = not entry.model and tools.language_model is not None and phase.asks_model(entry.outcome)
    if without_model or phase.is_stale(record, tools, request):
        return True
    pause: timedelta = min(_FIRST_RETRY * 2 ** min(entry.attempts - 1, _MOST_DOUBLINGS), _LAST_RETRY)
    due = datetime.now(UTC) >= datetime.fromisoformat(entry.when) + pause
    return entry.outcome.status == "failed" and entry.outcome.retryable and due


def fingerprint_of(name: Phase, phase: SourcePhase, record: SourceRecord, tools: Tools) -> str:
    """Return a hash of what decides the phase's outcome: its inputs, its tables and its version."""
    tables = [table_hash(table) for table in phase.tables]
    return hash_of({"phase": name, "version": phase.version, "tables": tables, **phase.inputs(record, tools)})
