"""Control characters of foreign texts, which a terminal would obey."""

from __future__ import annotations

import re

# All of C0 but tab and line feed, delete, and C1, whose CSI some terminals take for ESC and a bracket.
_OBEYED = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def without_controls(text: str) -> str:
    """Return the text without the characters that move a terminal's cursor, colour its words or rename its window."""
    return _OBEYED.sub("", text)


def escaped_controls(json: str) -> str:
    """Return JSON with such characters as escapes, which stand for the same text."""
    return _OBEYED.sub(lambda found: f"\\u{ord(found.group()):04x}", json)
