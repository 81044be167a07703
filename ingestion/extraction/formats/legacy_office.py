"""Old and foreign office files: their OLE containers, and their conversion by LibreOffice."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import olefile

from ingestion.extraction.assemble import one_line
from ingestion.file_reading import ExtractionLimits
from ingestion.types.outcome import Refusal
from rag_engine.backends.office.program import office_copy, office_program

_INSTALL = (
    "Install LibreOffice (Debian: apt-get install --no-install-recommends libreoffice-writer libreoffice-calc "
    "libreoffice-impress), or save the file as DOCX, PPTX, XLSX or PDF and add that."
)
# What is left of the file's time for reading the result.
_SHARE = 0.8


def stream_names(path: Path) -> frozenset[str]:
    """Return the names at the top of an OLE container, without those inside embedded documents.

    None are returned if it is damaged.
    """
    try:
        with olefile.OleFileIO(path) as container:
            return frozenset(entry.name for entry in container.root.kids)
    except (OSError, ValueError, IndexError, AttributeError, struct.error):
        return frozenset()


@contextmanager
def converted(path: Path, target: str, limits: ExtractionLimits) -> Iterator[Path]:
    """Yield a copy of the file in another format ("docx", "pptx", "xlsx"), which is gone afterwards.

    Refusal "office_missing" without LibreOffice, "too_slow" when it takes longer than the file's time,
    "damaged" when it makes nothing of the file.
    """
    program = office_program()
    if program is None:
        raise Refusal(
            "office_missing",
            "{file} can only be read with LibreOffice, which is not installed.",
            help=_INSTALL,
            file=path.name,
        )
    seconds = limits.seconds * _SHARE
    try:
        with office_copy(program, path, target, seconds) as (made, message):
            if made is None:
                raise Refusal(
                    "damaged",
                    "LibreOffice could not read {file}: {error}.",
                    help="Open it in the program that made it, save it as DOCX, PPTX, XLSX or PDF and add that.",
                    file=path.name,
                    error=one_line(message)[:300] or "it gave no reason",
                )
            yield made
    except TimeoutError:
        raise Refusal(
            "too_slow",
            "{file} was not converted by LibreOffice within {seconds:g} seconds.",
            help="Save it as DOCX, PPTX, XLSX or PDF and add that.",
            file=path.name,
            seconds=seconds,
        ) from None
