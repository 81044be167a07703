"""Refusals that readers of several formats share."""

from __future__ import annotations

from pathlib import Path

from ingestion.types.outcome import Refusal


def locked(path: Path) -> Refusal:
    """Return the refusal of a file that only opens with a password."""
    return Refusal(
        "encrypted", "{file} asks for a password.", help="Save a copy without a password and add that.", file=path.name
    )


def damaged(path: Path, cause: object) -> Refusal:
    """Return the refusal of a file that is not as its format has it."""
    return Refusal(
        "damaged",
        "{file} is damaged: {cause}.",
        help="Download or save it again and add that.",
        file=path.name,
        cause=str(cause).rstrip(". "),
    )


def scan_without_ocr(path: Path) -> Refusal:
    """Return the refusal of a file of nothing but pictures, where nothing reads these."""
    return Refusal(
        "ocr_missing",
        "{file} is a scan and no OCR is installed.",
        help="Install Tesseract with the document's language, then add the file again.",
        file=path.name,
    )
