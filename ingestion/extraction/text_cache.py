"""What was read from files, kept in the workspace so that no later phase parses a file again."""

from __future__ import annotations

import gzip
import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ingestion.extraction.cleaning import clean
from ingestion.extraction.sandbox.wire import from_json, to_json
from ingestion.types import FileProperties
from rag_engine.atomic_write import write_atomic
from rag_engine.types import ExtractedText


@dataclass(frozen=True, slots=True)
class Reading:
    """The analyst's text with its positions, the encoder's text, and what the file declares of itself.

    `reduction` is the share 0..1 of the analyst's text that cleaning took away.
    """

    extracted: ExtractedText
    cleaned: str
    reduction: float
    declared: FileProperties
    language: str


def reading_of(extracted: ExtractedText, declared: FileProperties, language: str) -> Reading:
    """A file's text together with its cleaned form."""
    cleaned = clean(extracted, language)
    return Reading(extracted, cleaned.text, cleaned.reduction, declared, language)


def save_reading(folder: Path, sha256: str, reader: str, reading: Reading) -> None:
    """Nothing; what this reader read of the file with this hash can be loaded from now on, instead of any other."""
    path = _path(folder, sha256)
    path.parent.mkdir(parents=True, exist_ok=True)
    values = {
        "reader": reader,
        "extracted": to_json(reading.extracted),
        "cleaned": reading.cleaned,
        "reduction": reading.reduction,
        "declared": asdict(reading.declared),
        "language": reading.language,
    }
    write_atomic(path, gzip.compress(json.dumps(values, ensure_ascii=False).encode(), compresslevel=1))


def load_reading(folder: Path, sha256: str, reader: str) -> Reading | None:
    """What this reader read of the file with this hash; None where it did not, or that is damaged."""
    try:
        with gzip.open(_path(folder, sha256), "rb") as file:
            values: dict[str, Any] = json.loads(file.read())
        if values["reader"] != reader:
            return None
        return Reading(
            extracted=from_json(values["extracted"]),
            cleaned=values["cleaned"],
            reduction=values["reduction"],
            declared=FileProperties(**{name: _tupled(value) for name, value in values["declared"].items()}),
            language=values["language"],
        )
    except (OSError, EOFError, ValueError, KeyError, TypeError):
        return None


def forget_reading(folder: Path, sha256: str) -> None:
    """Nothing; removes what was read from the file."""
    _path(folder, sha256).unlink(missing_ok=True)


def _path(folder: Path, sha256: str) -> Path:
    return folder / sha256[:2] / f"{sha256}.json.gz"


def _tupled(value: object) -> Any:
    return tuple(value) if isinstance(value, list) else value
