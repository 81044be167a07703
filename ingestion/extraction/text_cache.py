"""Cache of read files in the workspace, so that no later phase parses a file again."""

from __future__ import annotations

import gzip
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ingestion.extraction.cleaning import clean
from ingestion.extraction.wire import reading_from_json, reading_to_json
from ingestion.file_reading import FileProperties, FileReading
from rag_engine.atomic_write import write_atomic
from rag_engine.backends.identify_language import other_languages
from rag_engine.messages import dump_json, load_json
from rag_engine.types.document import ExtractedText
from rag_engine.workspace import inside

# Bytes that a reading may unpack to. None that was kept has so many; one of a stranger's backup may.
_LARGEST = 2**30


@dataclass(frozen=True, slots=True)
class CachedReading:
    """Reading of a file with the encoder's text made of it, and its language."""

    file: FileReading
    cleaned: str
    language: str

    @property
    def extracted(self) -> ExtractedText:
        """The analyst's text with its positions."""
        return self.file.extracted

    @property
    def properties(self) -> FileProperties:
        """The properties that the file declares."""
        return self.file.properties


def languages_of_parts(extracted: ExtractedText, language: str) -> tuple[str, ...]:
    """Return the languages besides the given one in which a good part of a text is written."""
    return other_languages([extracted.text[block.start : block.end] for block in extracted.blocks], language)


def cleaned_reading(file: FileReading, language: str) -> CachedReading:
    """Return what was read from a file together with its cleaned text."""
    return CachedReading(file, clean(file.extracted, language), language)


def save_reading(folder: Path, sha256: str, reader: str, reading: CachedReading) -> None:
    """Store what this reader read of the file with this hash, in place of any other's."""
    path = _path(folder, sha256)
    path.parent.mkdir(parents=True, exist_ok=True)
    values = {
        "reader": reader,
        **reading_to_json(reading.file),
        "cleaned": reading.cleaned,
        "language": reading.language,
    }
    write_atomic(path, gzip.compress(dump_json(values).encode(), compresslevel=1))


def load_reading(folder: Path, sha256: str, reader: str) -> CachedReading | None:
    """Return what this reader read of the file with this hash; None if it did not, or that is damaged."""
    try:
        with gzip.open(_path(folder, sha256), "rb") as file:
            content = file.read(_LARGEST + 1)
        if len(content) > _LARGEST:
            return None
        values: dict[str, Any] = load_json(content.decode())
        if values["reader"] != reader:
            return None
        return CachedReading(reading_from_json(values), values["cleaned"], values["language"])
    except (OSError, EOFError, ValueError, RecursionError, KeyError, TypeError):
        return None


def forget_reading(folder: Path, sha256: str) -> None:
    """Remove what was read from the file."""
    _path(folder, sha256).unlink(missing_ok=True)


def _path(folder: Path, sha256: str) -> Path:
    return inside(folder, sha256[:2], f"{sha256}.json.gz")
