"""The marks of a page given as text."""

from __future__ import annotations

from ingestion.licence.html_marks import marks_of
from ingestion.types.licence import LicenceMark
from ingestion.web.html import parse


def read_marks(page: bytes | str, url: str) -> list[LicenceMark]:
    """Return the marks of an HTML page."""
    root = parse(page)
    return [] if root is None else marks_of(root, url)
