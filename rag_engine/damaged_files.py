"""Folder `damaged` of a workspace: damaged files, set aside by date until a person removes them."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path


def set_aside(workspace: Path, paths: Iterable[Path]) -> Path | None:
    """Move files in their order into `damaged/DATE`; return that folder, None if none of them exists."""
    folder = workspace / "damaged" / f"{datetime.now(UTC):%Y-%m-%dT%H%M%S%f}"
    for path in paths:
        if path.exists():
            place = folder / path.relative_to(workspace)
            place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            path.replace(place)
    return folder if folder.exists() else None


def kept_aside(workspace: Path, name: str) -> list[Path]:
    """Return the files that were set aside under this name in the workspace, oldest first."""
    return sorted((workspace / "damaged").glob(f"*/{name}"))
