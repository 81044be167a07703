"""Files that come in through the page."""

from __future__ import annotations

import re
import shutil
import unicodedata
from pathlib import Path
from typing import IO

from rag_engine import workspace as places

_LONGEST = 150


def keep_upload(workspace: Path, name: str, data: IO[bytes]) -> Path:
    """Where the upload was written, in portions; visible under its name only when it is whole."""
    folder = places.uploads(workspace)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / safe_name(name)
    temporary = folder / f".{path.name}.new"
    with temporary.open("wb") as file:
        shutil.copyfileobj(data, file, 1 << 20)
    temporary.replace(path)
    return path


def safe_name(name: str) -> str:
    """A file name without folders, control characters or a leading dot, of at most 150 characters; never empty."""
    last = re.split(r"[/\\]", unicodedata.normalize("NFC", name))[-1]
    printable = "".join(c for c in last if unicodedata.category(c)[0] not in "CZ" or c == " ")
    kept = re.sub(r'[<>:"|?*]', "_", printable).strip().lstrip(".") or "upload"
    stem, dot, suffix = kept.rpartition(".")
    if not dot or len(suffix) > 10:
        return kept[:_LONGEST]
    return f"{stem[: _LONGEST - len(suffix) - 1]}.{suffix}"
