"""Which sources a phase takes: those that came so far, and whose last outcome was made from something else."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path

from ingestion.pipeline.phases import Tools
from ingestion.records.quarantine import file_of
from ingestion.records.source_record import SourceRecord
from ingestion.records.source_store import PhaseEntry
from ingestion.types import (
    NETWORK_REASONS,
    ON_THE_WEB,
    PHASES,
    Description,
    Download,
    LicenceVerdict,
    Outcome,
    Phase,
    RunRequest,
)
from rag_engine.config import DATA

# Raised when a phase gives something else for the same input, so that it is run again.
VERSIONS: Mapping[Phase, int] = dict.fromkeys(PHASES, 1)
# The tables that a phase reads; another table, another outcome.
_TABLES: Mapping[Phase, tuple[str, ...]] = {
    "licence": ("licences.toml",),
    "acquisition": ("pages.toml", "licences.toml"),
    "portals": ("pages.toml",),
    "extraction": ("boilerplate.toml", "licences.toml"),
    "quality": ("quality.toml", "stopwords.toml", "letter_pairs.toml"),
    "metadata": ("taxonomy.toml", "authorities.toml", "geography.toml", "subnational.toml"),
}
_FIRST_RETRY = timedelta(minutes=2)
_LAST_RETRY = timedelta(days=1)


def is_ready(phase: Phase, record: SourceRecord) -> bool:
    """Whether every earlier phase has let the source pass; a directory goes to the portals and no further.

    What a person has withdrawn is in no phase until it is restored.
    """
    if is_withdrawn(record):
        return False
    for earlier in PHASES[: PHASES.index(phase)]:
        outcome = record.outcomes.get(earlier)
        directory = phase == "portals" and outcome is not None and outcome.reason == "directory"
        if outcome is None or not (outcome.passes or directory):
            return False
    return not (phase not in ON_THE_WEB and record.download is not None and record.download.kind == "directory")


def is_withdrawn(record: SourceRecord) -> bool:
    """Whether a person has erased the document and not restored it."""
    return any(decision.choice == "withdraw" for decision in record.decisions)


def is_due(
    phase: Phase,
    record: SourceRecord,
    entry: PhaseEntry | None,
    fingerprint: str,
    request: RunRequest,
    tools: Tools,
    *,
    upstream_rerun: bool,
) -> bool:
    """Whether the phase is to be run for a source that is ready for it.

    `mended` says that an earlier phase was run for it just now.
    """
    if request.which == "failed":
        # Another setting, another day or another network may lift a refusal as well.
        again = entry is not None and (entry.outcome.status == "failed" or entry.outcome.reason in NETWORK_REASONS)
        # What comes after a failure that is mended now is due as well.
        return again or (upstream_rerun and (entry is None or entry.fingerprint != fingerprint))
    if entry is None or request.which == "all" or entry.fingerprint != fingerprint:
        return True
    if phase == "acquisition" and (request.refresh or _is_lost(record, tools)):
        return True
    if _was_without_model(phase, entry) and tools.language_model is not None and tools.config.use_model:
        return True
    return entry.outcome.status == "failed" and entry.outcome.retryable and _may_retry(entry)


def model_of(outcome: Outcome, model: str) -> str:
    """The model's name, if it had a part in the outcome: one that did not answer is asked again."""
    evidence = outcome.evidence
    if isinstance(evidence, LicenceVerdict):
        return model if any(mark.layer == "model" for mark in evidence.marks) else ""
    if isinstance(evidence, Description):
        return "" if outcome.reason in ("model_failed", "model_missing") else model
    return ""


def fingerprint_of(phase: Phase, record: SourceRecord, tools: Tools, portal: SourceRecord | None = None) -> str:
    """A hash of what decides the phase's outcome: its input, its settings, its tables and its version."""
    config, source, verdict = tools.config, record.source, record.verdict
    inputs: dict[str, object] = {"phase": phase, "version": VERSIONS[phase], "tables": _tables_hash(phase)}
    decided = record.licence_decided
    match phase:
        case "licence":
            above = portal.verdict if portal else None
            inputs |= {"source": [source.url, source.licence, *_file_state(source.path)]}
            inputs |= {"portal": [above.light, above.licence] if above else []}
        case "acquisition":
            inputs |= {"source": [source.url, source.title, *_file_state(source.path)], "browser": config.web.browser}
            inputs |= {"decided": decided}
        case "portals":
            inputs |= {"page": _page(record.download), "bounds": asdict(config.portals)}
        case "extraction":
            inputs |= {"file": record.download.sha256 if record.download else "", "decided": decided}
            inputs |= {"licence": verdict.licence if verdict else "", "reader": tools.reader}
        case "quality":
            inputs |= {"text": _facts(record.extraction), "thresholds": asdict(config.quality), "title": source.title}
        case "metadata":
            inputs |= {"text": _facts(record.extraction), "list": [source.title, source.authority, source.url]}
    return hash_of(inputs)


def hash_of(value: object) -> str:
    """A hash of anything that JSON can say."""
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()


def table_hash(name: str) -> str:
    """The hash of a table of data/, read again when it was saved again."""
    return _file_hash(DATA / name, (DATA / name).stat().st_mtime_ns)


def _is_lost(record: SourceRecord, tools: Tools) -> bool:
    """Whether the file that was acquired is gone from the workspace."""
    download = record.download
    return download is not None and bool(download.path) and file_of(tools.workspace, download) is None


def _was_without_model(phase: Phase, entry: PhaseEntry) -> bool:
    """Whether a model would have been asked, and there was none that answered."""
    asked = phase == "metadata" or (phase == "licence" and entry.outcome.reason == "licence_unclear")
    return asked and not entry.model


def _page(download: Download | None) -> object:
    return (download.urls, download.sha256, download.kind) if download else None


def _facts(evidence: object) -> object:
    return asdict(evidence) if evidence is not None else None  # type: ignore[call-overload]


def _file_state(path: str) -> list[object]:
    """A local file's path, size and time: it is read again when it was saved again."""
    if not path:
        return []
    try:
        state = Path(path).stat()
    except OSError:
        return [path, "gone"]
    return [path, state.st_size, state.st_mtime_ns]


def _tables_hash(phase: Phase) -> list[str]:
    return [table_hash(name) for name in _TABLES.get(phase, ())]


@cache
def _file_hash(path: Path, _saved: int) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _may_retry(entry: PhaseEntry) -> bool:
    pause: timedelta = min(_FIRST_RETRY * 2 ** min(entry.attempts - 1, 12), _LAST_RETRY)
    return datetime.now(UTC) >= datetime.fromisoformat(entry.when) + pause
