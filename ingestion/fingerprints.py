"""Hashes of what an outcome is made from, so that a phase runs again when any of it changes."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict
from functools import cache
from pathlib import Path

from rag_engine.config import DATA


def hash_of(value: object) -> str:
    """Return a hash of anything that JSON can hold."""
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()


def table_hash(name: str) -> str:
    """Return the hash of a table of data/, read again when it was saved again."""
    return _file_hash(DATA / name, (DATA / name).stat().st_mtime_ns)


def file_state(path: str) -> list[object]:
    """Return a local file's path, size and time of change; empty without a path."""
    if not path:
        return []
    try:
        state = Path(path).stat()
    except OSError:
        return [path, "gone"]
    return [path, state.st_size, state.st_mtime_ns]


def facts(evidence: object) -> object:
    """Return a dataclass as JSON values, None for None."""
    return asdict(evidence) if evidence is not None else None  # type: ignore[call-overload]


@cache
def _file_hash(path: Path, _saved: int) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
